// runtime/core/options.h - settings of a Session.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tilefold {

/// What a setting belongs to.
enum class Scope : std::uint8_t { Session, Call };

/// Settings of a Session, the rows of options.def; unset ones come from the
/// environment, else from defaults. A path may begin with ~, the home folder.
/// Texts are checked by whoever reads the options: the session, and
/// Formula::with.
struct Options {
#define OPTION(name, scope, type, python, variable, doc)                       \
    std::optional<type> name = {};
#include "runtime/core/options.def"
    /// Folders of Python packages, one of which may hold NVRTC.
    std::vector<std::string> package_folders = {};

    friend bool operator==(const Options&, const Options&) = default;
};

/// Whether any setting of `scope` is set.
bool sets_any(const Options& options, Scope scope);
/// The options of `base`, but for those of `scope` that `settings` sets.
Options merged(Options base, const Options& settings, Scope scope);

} // namespace tilefold
