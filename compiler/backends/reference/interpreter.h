// compiler/backends/reference/interpreter.h - the oracle: a graph evaluated
// pair by pair in double precision, slowly and plainly.
#pragma once

#include "compiler/backends/reference/fold_function.h"
#include "compiler/ir/integer.h"
#include "compiler/ir/ir.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

namespace tilefold::reference {

/// Reads component (row, column) of argument `number` at `point`.
using Reader = std::function<ir::Number(std::size_t number, std::int64_t point,
                                        std::int32_t row, std::int32_t column)>;

struct Sizes {
    std::int64_t rows = 1;    ///< points on i
    std::int64_t columns = 1; ///< points on j
    std::int32_t width = 1;   ///< what `dynamic` stands for
    /// Whether reductions over chosen pairs meet (row, column).
    std::function<bool(std::int64_t, std::int64_t)> chosen = {};
    /// Called for each pair that reductions may meet; it ends the evaluation
    /// by throwing.
    std::function<void()> before_pair = {};
};

/// Returns the graph's result at each of `points` (row numbers of the kept
/// axis i, as oriented; {0} where no axis is kept), components innermost.
/// Integers and truth values come as doubles. Where `columns_at` is given (the
/// result is on both axes), it is evaluated at (points[k], columns_at[k])
/// instead.
std::vector<double> evaluate(const ir::Graph& graph, const Sizes& sizes,
                             const Reader& read,
                             std::span<const std::int64_t> points,
                             std::span<const std::int64_t> columns_at = {});

} // namespace tilefold::reference
