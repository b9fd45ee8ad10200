// runtime/session/result_types.h - what the results of a call are, before any
// kernel is made: for what traces calls and has no arrays yet.
#pragma once

#include "runtime/session/session.h"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace tilefold {

struct ResultType {
    std::string like;       ///< the argument whose shape it has; empty: none
    Axes axes = Axes::None; ///< that it keeps, after the batch's
    std::int64_t components = -1; ///< after these; -1: it is a scalar
    DType dtype = DType::F64;     ///< of a complex result, that of its parts
    bool is_complex = false;
};

/// In the order of the results. Of the arguments only names, dtypes and shapes
/// are read. Throws what Formula::bind would throw of them. `chosen`: of a call
/// with ranges, whose numbers of pairs are results of their own.
std::vector<ResultType> result_types(const Formula& formula,
                                     std::span<const NamedView> arguments,
                                     bool chosen = false);

} // namespace tilefold
