// runtime/bind/oracle.h - what a kernel's results should be: the
// interpreter, on the arrays of a call.
#pragma once

#include "compiler/backends/reference/interpreter.h"
#include "runtime/bind/kernel_call.h"
#include "runtime/core/going_on.h"

#include <cstdint>
#include <vector>

namespace tilefold {

/// A result of a kernel: its batch, and the row and column it is for.
struct Sample {
    std::int64_t batch = 0, row = 0, column = 0;
};

/// Computes results of one kernel; refers to `call`, whose arrays are the
/// host's.
///
/// The interpreter numbers points 0, 1, 2 … on both axes. Lists on a kept axis
/// are the points asked for; a list on the reduced axis is looked up when an
/// argument is read. To tell the two axes apart there, rows are numbered from
/// `first_row` on; index symbols would show that, and are refused.
class Oracle {
public:
    /// Throws Error where lists stand in the way.
    Oracle(const KernelCall& call, GoingOn& going_on);

    /// Results of a batch, each of some components.
    std::int64_t points() const;
    Sample sample(std::int64_t batch, std::int64_t point) const;
    /// The components, in float64. Throws Error(Cancelled).
    std::vector<double> expected(const Sample& sample) const;

private:
    static constexpr std::int64_t first_row = std::int64_t(1) << 48;

    bool reduces() const;
    void refuse_lists() const;
    std::int64_t batch_offset(std::int64_t batch, std::size_t operand) const;
    ir::Number read(const Sample& sample, std::size_t number,
                    std::int64_t point, std::int32_t row,
                    std::int32_t column) const;

    const KernelCall& call_;
    const Job& job_;
    const Program& program_;
    const bool listed_columns_;
    const std::int64_t steps_; ///< of a pair: numbers computed
    GoingOn& going_on_;
};

} // namespace tilefold
