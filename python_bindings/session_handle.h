// python_bindings/session_handle.h - a Session as Python holds it.
#pragma once

#include "runtime/session/session.h"

#include <nanobind/nanobind.h>

#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace tilefold::python {

namespace nb = nanobind;

/// tilefold.Options: settings of a session or of one call.
struct OptionsHandle {
    Options options;
    nb::object progress; ///< called with (done, total) pairs; may be None
    nb::object stream;   ///< of a GPU, for one call; may be None

    /// Calls visit(object) for each reference that is held.
    template <class Visit> void each_reference(Visit visit) const {
        visit(progress.ptr());
        visit(stream.ptr());
    }
};

/// tilefold.Session. Shared by the formulas compiled in it.
class SessionHandle : public std::enable_shared_from_this<SessionHandle> {
public:
    explicit SessionHandle(const OptionsHandle& settings);

    const Session& session() const { return *session_; }
    nb::handle progress() const { return settings_.progress; }
    /// The settings as they were given, which another process resolves for
    /// itself.
    const OptionsHandle& settings() const { return settings_; }
    /// The session for a call with `options`: this one, or one of its own for
    /// each set of those that a session is made of; the last few are kept.
    std::shared_ptr<const Session> with(const Options& options);
    /// Calls visit(object) for each reference that is held.
    template <class Visit> void each_reference(Visit visit) const {
        settings_.each_reference(visit);
    }

private:
    static constexpr std::size_t most_variants = 16;

    std::shared_ptr<const Session> session_;
    OptionsHandle settings_;
    std::mutex mutex_;
    using Variant = std::pair<Options, std::shared_ptr<const Session>>;
    std::vector<Variant> variants_;
};

/// The session of calls that name none; made at its first use.
std::shared_ptr<SessionHandle> default_session();
/// The one session for all that ask for the same settings; the last few are
/// kept.
std::shared_ptr<SessionHandle> session_with(const OptionsHandle& settings);

void bind_options(nb::module_& module);
void bind_session(nb::module_& module);

} // namespace tilefold::python
