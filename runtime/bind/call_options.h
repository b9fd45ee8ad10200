// runtime/bind/call_options.h - what is asked of a call beside its arguments.
#pragma once

#include "runtime/core/callbacks.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>

namespace tilefold {

class Ranges;

/// What is computed of a formula.
enum class Query : std::uint8_t {
    Result, ///< the formula: a reduction, or a map over points
    Diag,   ///< the pair term at (k, k)
    Pairs,  ///< the pair term at (rows[k], columns[k])
    Dense,  ///< the pair term for all (listed) rows × (listed) columns
};

/// A list of int64 row numbers, or all rows in order.
struct Rows {
    const std::int64_t* numbers = nullptr;
    std::int64_t size = 0;
};

/// Where arrays lie on longer axes: their first point is number `first` of
/// `total`, which is -1 where the axis ends with them.
struct Window {
    struct Axis {
        std::int64_t first = 0, total = -1;
    };
    Axis i, j;
};

struct BindOptions {
    Query query = Query::Result;
    /// Listed rows of the i- and the j-axis (of what the user calls i and j).
    std::optional<Rows> i = {}, j = {};
    /// The pairs that reductions meet; null: all. Of a Result only.
    std::shared_ptr<const Ranges> ranges = {};
    /// Batch dimensions, from 0, over which results are summed. Of a Result
    /// only.
    std::span<const std::int64_t> sum_batch = {};
    /// The arrays are a part of longer axes: states are computed, of a Result
    /// of the host. See runtime/bind/row_states.h.
    std::optional<Window> window = {};
    /// Arrays of the host are computed by the CPU, whatever Options::devices
    /// are.
    bool on_host = false;
    /// Where it is set, kernels are compiled on a thread of their own, and a
    /// call that is cancelled leaves that at once; it ends soon after.
    GoesOn goes_on = {};
};

struct RunOptions {
    bool accumulate = false; ///< add to what `out` holds
    Poll poll = {};
    /// A stream of the device that the arrays are on; null: its default stream.
    /// The work is queued there, and run() does not wait for it.
    void* stream = nullptr;
};

} // namespace tilefold
