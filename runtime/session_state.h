// runtime/session_state.h - what the handles of session.h share.
#pragma once

#include "runtime/bind_shapes.h"
#include "runtime/devices.h"
#include "runtime/element.h"
#include "runtime/fork.h"
#include "runtime/gate.h"
#include "runtime/indices.h"
#include "runtime/parsed.h"
#include "runtime/provider.h"
#include "runtime/session.h"
#include "runtime/spare.h"
#include "runtime/split.h"
#include "runtime/threads.h"

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>

namespace tilefold::detail {

class BoundState;

/// Options, threads, caches and counters of a Session; lives as long as any
/// handle of it.
class SessionState final : public ForkGuarded {
public:
    explicit SessionState(const Options& options);
    ~SessionState();

    std::shared_ptr<Parsed> parsed(std::string_view text);
    CompileOptions compile_options() const;
    /// Of graphs that a device's backend plans by itself.
    CompileOptions device_compile_options() const;
    /// Runs the job of a call whose arrays are the host's, and counts it.
    void run(const BoundState& bound, const Job& job, const Poll& poll);
    /// Queues what a call on a device is.
    void run(const BoundState& bound, const Target& target, Stream stream);

    void before_fork() override;
    void after_fork(bool in_child) override;

    const Options options; ///< as resolved
    Crew crew;
    KernelProvider provider;
    Devices devices;
    std::atomic<std::int64_t> runs = 0, tiles_met = 0, tiles_left_out = 0;
    /// Inside: threads that parse, compile or load. Closed during fork()
    /// (some ten milliseconds at most), so that a child finds neither LLVM's
    /// locks taken nor a kernel that nobody finishes.
    Gate making;

private:
    /// Formulas kept parsed; beyond, all are dropped.
    static constexpr std::size_t most_formulas = 1024;

    std::mutex mutex_; ///< of formulas_ and of every Parsed
    std::unordered_map<std::string, std::shared_ptr<Parsed>> formulas_;
};

class FormulaState {
public:
    std::shared_ptr<SessionState> session;
    std::shared_ptr<Parsed> parsed;
};

/// Numbers and pointers of one call, ready for any `out`. Points into itself.
class BoundSweeps;

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
    std::shared_ptr<Parsed> parsed;
    PreparedPointer prepared;
    Location location; ///< of the arrays
    Job job;           ///< all but the target
    Split cut;         ///< of the job
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
    mutable Spare<Sums> spare_sums;
    /// Set where one kernel does not do: then only session, parsed and
    /// prepared are set beside it.
    std::shared_ptr<const BoundSweeps> sweeps;
};

} // namespace tilefold::detail
