// runtime/bind/kernel_call.h - one kernel with the arrays of a call: numbers
// and pointers, ready for any output.
#pragma once

#include "runtime/bind/executable.h"
#include "runtime/bind/session_state.h"
#include "runtime/core/callbacks.h"
#include "runtime/schedule/partition.h"

#include <boost/container/small_vector.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace tilefold {

/// Whose call it is, and where its arrays are.
struct CallContext {
    std::shared_ptr<detail::SessionState> session;
    std::shared_ptr<ParsedFormula> parsed;
    detail::SettingsPointer settings;
    Location location;
};

/// An array that a call reads.
struct InputArray {
    std::string name;
    Bytes bytes;
    Location location = {};
};
using InputArrays = boost::container::small_vector<InputArray, 6>;

/// Refers to its context. Points into itself, so that it cannot be copied.
struct KernelCall {
    KernelCall(const CallContext& context, ExecutablePointer executable)
        : context(context), executable(std::move(executable)) {}
    KernelCall(const KernelCall&) = delete;
    KernelCall& operator=(const KernelCall&) = delete;

    DType dtype() const { return executable->program.result.dtype; }
    /// Runs `job`, which is the one below with a target, and counts the run.
    /// The arrays are the host's.
    void run(const Job& job, const Poll& poll) const {
        run(job, partition, poll);
    }
    /// The same of another job, of the host's kernel.
    void run(const Job& job, const Partition& cut, const Poll& poll) const;
    /// Queues the job on a stream of the device that the arrays are on.
    void queue(const Target& target, Stream stream) const;

    const CallContext& context;
    ExecutablePointer executable;
    Job job;             ///< all but the target
    Partition partition; ///< of the job
    boost::container::small_vector<tilefold_kernel_operand, 6> operands;
    /// The bytes of each operand that are in the host's memory, in a call on a
    /// device.
    boost::container::small_vector<Bytes, 6> on_host;
    boost::container::small_vector<double, 6> numbers; ///< given as numbers
    InputArrays inputs;
    Batches batches;
    std::shared_ptr<const Ranges> ranges; ///< kept alive; may be null
    Chosen chosen;
    /// Lists with negative numbers resolved, where there were any.
    std::vector<std::int64_t> row_list, column_list;

    Extents shape;                    ///< of the result
    std::size_t batch_dimensions = 0; ///< leading ones of `shape`
    /// The axes of `shape` on which the kernel's rows, columns and components
    /// lie; -1: on none.
    int row_axis = -1, column_axis = -1, component_axis = -1;
};

} // namespace tilefold
