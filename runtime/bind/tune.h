// runtime/bind/tune.h - which of a program's plans is the fastest on this
// machine: measured once, kept beside the kernels.
#pragma once

#include "runtime/bind/session_state.h"

namespace tilefold {

/// What a call has of everything that a program leaves open.
struct CallSizes {
    std::int64_t rows = 0, columns = 0; ///< as the kernel sees them
    std::int64_t width = 1;
};

/// Calls of fewer pairs take the model's choice: they are over before a better
/// plan would have paid for its measurement.
inline constexpr double pairs_worth_tuning = 1 << 20;

/// `program` by the plan that was fastest, on made-up arrays of `sizes` (or
/// smaller ones, of some milliseconds), among the model's best few; by the one
/// it has where none is faster by more than the clock's noise. `formula` names
/// it in the log. Throws Error where a plan does not compile.
CpuProgram tuned(detail::SessionState& session, const CpuProgram& program,
                 const CallSizes& sizes, std::string_view formula,
                 const Asker& asker);

} // namespace tilefold
