// runtime/core/options.cpp - settings of a session, and of a call in it.

#include "runtime/core/options.h"

namespace tilefold {

bool sets_any(const Options& options, Scope scope) {
    bool any = false;
#define OPTION(name, of, type, python, variable, doc)                          \
    any |= scope == Scope::of && options.name.has_value();
#include "runtime/core/options.def"
    return any;
}

Options merged(Options base, const Options& settings, Scope scope) {
#define OPTION(name, of, type, python, variable, doc)                          \
    if (scope == Scope::of && settings.name)                                   \
        base.name = settings.name;
#include "runtime/core/options.def"
    return base;
}

} // namespace tilefold
