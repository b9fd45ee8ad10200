// runtime/bind/compile_call.h - the kernel, or kernels, of a formula for
// arguments of given types: compiled for what the sizes of a call are worth.
#pragma once

#include "runtime/bind/bind_shapes.h"
#include "runtime/bind/call_options.h"
#include "runtime/bind/session_state.h"

#include <memory>
#include <span>

namespace tilefold {

/// A call, as far as a kernel is made for it.
struct CallShape {
    const BoundArguments& readings;
    const Lengths& lengths;
    Mode mode = Mode::Reduce;
    Specialization purpose;
    bool tuned = false;                     ///< plans are to be timed
    std::span<const Location> devices = {}; ///< that compute; none: the CPU
};
CallShape shape_of(const BoundArguments& readings, const Lengths& lengths,
                   std::span<const Location> devices, Mode mode,
                   const BindOptions& options, const Options& settings);

/// The part of a purpose that holds of derivatives, too.
Specialization of_sweeps(const Specialization& purpose);

/// Everything of an Executable but what concerns names. Throws Error.
std::shared_ptr<Executable> compile_call(const detail::FormulaState& formula,
                                         std::span<const ArgumentType> types,
                                         const CallShape& call,
                                         const GoesOn& goes_on);

} // namespace tilefold
