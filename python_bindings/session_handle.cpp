// python_bindings/session_handle.cpp - see session_handle.h.
#include "python_bindings/session_handle.h"

#include "python_bindings/errors.h"

#include <algorithm>

namespace tilefold::python {

namespace {

/// Adds the folders of Python's packages, one of which may hold NVRTC.
Options with_packages(Options options) {
    nb::object folders = nb::module_::import_("sys").attr("path");
    for (nb::handle folder : folders) {
        const std::string path = text_of(folder);
        if (path.ends_with("-packages"))
            options.package_folders.push_back(path);
    }
    return options;
}

} // namespace

SessionHandle::SessionHandle(const OptionsHandle& settings)
    : session_(std::make_shared<Session>(with_packages(settings.options))),
      settings_(settings) {}

std::shared_ptr<const Session> SessionHandle::with(const Options& given) {
    if (!sets_any(given, Scope::Session))
        return session_;
    const Options options = merged(session_->options(), given, Scope::Session);
    std::lock_guard lock(mutex_);
    const auto known = std::ranges::find(variants_, options, &Variant::first);
    if (known != variants_.end())
        return known->second;
    if (variants_.size() >= most_variants)
        variants_.clear();
    variants_.emplace_back(options, std::make_shared<Session>(options));
    return variants_.back().second;
}

std::shared_ptr<SessionHandle> default_session() {
    static std::mutex mutex;
    static auto* session = new std::shared_ptr<SessionHandle>;
    std::lock_guard lock(mutex);
    if (!*session)
        *session = std::make_shared<SessionHandle>(OptionsHandle{});
    return *session;
}

std::shared_ptr<SessionHandle> session_with(const OptionsHandle& settings) {
    constexpr std::size_t most_kept = 16;
    static std::mutex mutex;
    static auto* kept = new std::vector<std::shared_ptr<SessionHandle>>;
    const auto is_same = [&](const std::shared_ptr<SessionHandle>& session) {
        return session->settings().options == settings.options &&
               session->progress().is(settings.progress);
    };
    {
        std::lock_guard lock(mutex);
        const auto known = std::ranges::find_if(*kept, is_same);
        if (known != kept->end())
            return *known;
    }
    auto session = std::make_shared<SessionHandle>(settings);
    std::vector<std::shared_ptr<SessionHandle>> gone; // outlives the lock
    std::lock_guard lock(mutex);
    if (kept->size() >= most_kept)
        gone.swap(*kept);
    kept->push_back(session);
    return session;
}

} // namespace tilefold::python
