// runtime/bind/bound_state.h - arguments of a call, checked and with a kernel:
// what a Bound is of.
#pragma once

#include "runtime/bind/bind_shapes.h"
#include "runtime/bind/indices.h"
#include "runtime/bind/session_state.h"
#include "runtime/core/callbacks.h"
#include "runtime/core/element.h"
#include "runtime/core/object_cache.h"
#include "runtime/schedule/partition.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace tilefold::detail {

class BoundSweeps;

/// Numbers and pointers of one call, ready for any `out`. Points into itself.
class BoundState {
public:
    BoundState() = default;
    BoundState(const BoundState&) = delete;
    BoundState& operator=(const BoundState&) = delete;

    struct Input {
        std::string name;
        Bytes bytes;
        Location location = {};
    };

    std::shared_ptr<SessionState> session;
    std::shared_ptr<ParsedFormula> parsed;
    SettingsPointer settings;
    ExecutablePointer executable;
    Location location;   ///< of the arrays
    Job job;             ///< all but the target
    Partition partition; ///< of the job
    boost::container::small_vector<tilefold_operand, 6> operands;
    /// By operand, on a device: what of it is in the host's memory.
    boost::container::small_vector<Bytes, 6> on_host;
    boost::container::small_vector<double, 6> numbers; ///< given as numbers
    boost::container::small_vector<Input, 6> inputs;
    Batches batches;
    std::shared_ptr<const Ranges> ranges; ///< kept alive; may be null
    Chosen chosen;
    /// Checked by bind(), and before every run but the first: arrays may
    /// change between runs.
    std::vector<IndexArray> indices;
    mutable std::atomic<bool> has_run = false;
    /// Lists with negative numbers resolved, where there were any.
    std::vector<std::int64_t> row_list, column_list;

    Extents shape;                    ///< of the result
    std::size_t batch_dimensions = 0; ///< leading ones of `shape`
    /// Where the kernel's rows, columns and components lie in `shape`; -1:
    /// nowhere.
    int row_axis = -1, column_axis = -1, component_axis = -1;
    /// Batch dimensions that are summed, where any are, and the shape then.
    std::vector<bool> summed;
    Extents sum_shape;
    struct Sums {
        std::vector<std::byte> results; ///< before they are summed
        ElementSums sums;
    };
    mutable ObjectCache<Sums> spare_sums;
    /// Set where one kernel does not do: then only session, parsed,
    /// settings and executable are set beside it.
    std::shared_ptr<const BoundSweeps> sweeps;
};

/// Runs the job of a call whose arrays are the host's, and counts it.
void run_job(const BoundState& bound, const Job& job, const Poll& poll);
/// Queues what a call on a device is.
void queue_job(const BoundState& bound, const Target& target, Stream stream);

} // namespace tilefold::detail
