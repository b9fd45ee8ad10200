// python_bindings/call_settings.h - what a keyword was meant as that is neither
// an argument of the formula nor a setting of the call.
#pragma once

#include "formulas/diagnostic.h"
#include "runtime/session/session.h"

#include <span>
#include <string_view>

namespace tilefold::python {

/// Where `error` says that one of the arguments is not in the formula, throws
/// one of that kind that tells settings, too: those `taken`, or all that a call
/// takes; else does nothing.
void refuse_as_setting(const Error& error, const Formula& formula,
                       std::span<const NamedView> arguments,
                       std::span<const std::string_view> taken = {});

/// What `work` gives, which reads the arguments as those of the formula.
template <class Work>
auto telling_settings(const Formula& formula,
                      std::span<const NamedView> arguments, Work&& work,
                      std::span<const std::string_view> taken = {}) {
    try {
        return work();
    } catch (const Error& error) {
        refuse_as_setting(error, formula, arguments, taken);
        throw;
    }
}

} // namespace tilefold::python
