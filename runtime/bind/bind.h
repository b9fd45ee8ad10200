// runtime/bind/bind.h - arrays to numbers and pointers.
#pragma once

#include "runtime/bind/bound_state.h"
#include "runtime/bind/call_options.h"

#include <memory>
#include <span>

namespace tilefold {

/// Checks everything, finds or compiles the kernel, and binds the arrays to it.
std::shared_ptr<detail::BoundState> bind(const detail::FormulaState& formula,
                                         std::span<const NamedView> arguments,
                                         const BindOptions& options);

/// What compile() is told of the arguments, and the mode it is asked for.
struct Compilable {
    std::vector<ArgumentType> types;
    Mode mode = Mode::Reduce;
    Specialization purpose = {}; ///< of a call with arrays of the host
};
Compilable compilable(const detail::FormulaState& formula,
                      std::span<const NamedView> arguments,
                      const BindOptions& options);

} // namespace tilefold
