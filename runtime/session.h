// runtime/session.h - the C++ interface: compile a formula, bind arrays to
// it, run it. A Session owns the options, the threads and the caches.
#pragma once

#include "compiler/artifact/artifact.h"
#include "compiler/backends/cpu/choose_plan.h"
#include "compiler/pipeline.h"
#include "runtime/ranges.h"
#include "runtime/view.h"

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tilefold {

/// Settings of a Session; unset ones come from the environment, else from
/// the defaults in parentheses. A path may begin with ~, the home folder.
struct Options {
    /// TILEFOLD_NUM_THREADS (smaller of affinity and cgroup quota).
    std::optional<int> threads;
    /// TILEFOLD_CACHE_DIR (XDG cache directory /tilefold); empty: memory only.
    std::optional<std::string> cache_directory;
    /// TILEFOLD_CACHE_SIZE in bytes (1 GiB); least recently used files go.
    std::optional<std::int64_t> cache_size;
    /// TILEFOLD_ISA (the best this CPU has).
    std::optional<Isa> isa;
    /// TILEFOLD_LOG: 1 writes a line for each compile to standard error.
    std::optional<bool> log;
    /// Forces a plan; see `tilefold explain`.
    std::optional<Plan> plan;
    /// TILEFOLD_TUNE (no): of the plans the cost model likes best, times each
    /// once (0.1 s or so) and keeps the fastest in the cache. Results of
    /// another plan may differ in the last bits. Without effect on calls of
    /// fewer than a million pairs, and beside `plan`.
    std::optional<bool> tune = {};
    /// TILEFOLD_CUDA_DRIVER ("libcuda.so.1"): NVIDIA's driver, a name or path.
    std::optional<std::string> cuda_driver = {};
    /// TILEFOLD_NVRTC: the compiler for NVIDIA's GPUs, a path; else it is
    /// looked for where runtime/cuda/nvrtc.h says.
    std::optional<std::string> nvrtc = {};
    /// TILEFOLD_TOLERANCE (0): the error that products of float32 vectors may
    /// have, so that AMX and a GPU's tensor cores multiply long ones: of an
    /// inner product relative to |x| |y|, of a squared distance relative to
    /// |x|² + |y|² of centred points, of a sum of vectors relative to its
    /// terms. A typical error; the worst is four times as large. 0: float32's
    /// own. Squared distances from 2e-7 on may be expanded, and factors have
    /// 16 bits from 3.2e-6 on; on a GPU 22 bits from 1e-7 on. Weights of a
    /// softmax of bf16 values keep 16 bits then, and 8 from 4e-3 on.
    std::optional<double> tolerance = {};
    /// TILEFOLD_DEVICES (empty: the CPU): where calls whose arrays are the
    /// host's are computed: "cuda:0", several with commas between, "cuda" for
    /// all that there are. Arrays go there in pieces, results come back.
    std::optional<std::string> devices = {};
    /// TILEFOLD_DEVICE_BYTES (256 MiB): of each device's memory that such a
    /// call may use. Where columns do not fit, they are sent for each piece of
    /// rows, and results may differ in the last bits.
    std::optional<std::int64_t> device_bytes = {};
    /// Folders of Python packages, one of which may hold NVRTC.
    std::vector<std::string> package_folders = {};

    friend bool operator==(const Options&, const Options&) = default;
};

/// Counters since the session began.
struct Statistics {
    std::int64_t compiles = 0;    ///< images made by a backend
    std::int64_t memory_hits = 0; ///< images found loaded
    std::int64_t disk_hits = 0;   ///< images read from the cache
    std::int64_t runs = 0;        ///< images run
    /// Tiles of pairs that kernels with index masks met, and left out.
    std::int64_t tiles_met = 0, tiles_left_out = 0;
    double compile_milliseconds = 0;
};

/// Asked on the calling thread every 50 ms while a formula is compiled or an
/// array of indices is looked through; false cancels: Error(Cancelled) is
/// thrown.
using GoesOn = std::function<bool()>;

/// What is computed of a formula.
enum class Want : std::uint8_t {
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

struct BindOptions {
    Want want = Want::Result;
    /// Listed rows of the i- and the j-axis (of what the user calls i and j).
    std::optional<Rows> i = {}, j = {};
    /// The pairs that reductions meet; null: all. Of a Result only.
    std::shared_ptr<const Ranges> ranges = {};
    /// Batch dimensions, from 0, over which results are summed. Of a Result
    /// only.
    std::span<const std::int64_t> sum_batch = {};
    /// With arrays of the host, by the CPU, whatever Options::devices are.
    bool on_host = false;
    /// With it, kernels are compiled on a thread of their own, and a call that
    /// is cancelled leaves that at once; it ends soon after.
    GoesOn goes_on = {};
};

/// A kernel of a call, and how the call is cut for it.
struct KernelUse {
    Plan plan;
    PlanKind kind = PlanKind::Values;
    bool takes_column_tiles = false;
    Layout layout;
    std::int64_t scratch = 0, state = 0; ///< bytes: of a thread, of a row
    /// As the kernel sees them. Of one of several sweeps they are 0, and so is
    /// all below.
    std::int64_t rows = 0, columns = 0, width = 0;
    std::int64_t batches = 0;
    std::int64_t block = 0;         ///< rows of a state
    std::int64_t row_pieces = 0;    ///< of a batch
    std::int64_t column_pieces = 0; ///< of a piece of rows
    std::int64_t strips = 0;        ///< of chosen pairs
    bool folds_rows = false;
    bool is_for_one_point = false; ///< of an axis of few
    std::int32_t flat_width = 1;   ///< components that it takes for points
};

/// Called on the calling thread at least every 50 ms of a long run with the
/// pairs done and to do; false cancels (run() then throws Error(Cancelled)).
using Poll = std::function<bool(double done, double total)>;

struct RunOptions {
    bool accumulate = false; ///< add to what `out` holds
    Poll poll = {};
    /// Of the device that the arrays are on; null: its default stream. The
    /// work is queued there, and run() does not wait for it.
    void* stream = nullptr;
};

struct Prepared;
class DeviceMemory;
namespace detail {
class SessionState;
class FormulaState;
class BoundState;
} // namespace detail

/// Arrays checked against a formula, kernel compiled and loaded: ready to
/// run, any number of times, while the arrays live. A run reads what the
/// arrays hold then. Runs that write where the last one wrote allocate
/// nothing as long as the problem is small (60 µs of work, four batch
/// dimensions); memory between sweeps over the pairs is kept for the next
/// run. Thread-safe where runs have outputs of their own.
class Bound {
public:
    /// How many results: 1, but for gradients by several arguments. A
    /// complex result is two, its real and its imaginary part.
    std::size_t results() const;
    bool is_imaginary(std::size_t result) const; ///< of the one before it
    /// Of a result: batch axes, then the kept axes, then components; of a
    /// gradient, the shape of the argument.
    const Extents& shape(std::size_t result = 0) const;
    DType dtype(std::size_t result = 0) const;
    /// Where its arrays are, and its results are to be.
    Location location() const;
    /// Memory for a C-contiguous result of `bytes` bytes on a device, in the
    /// order of `stream`; outlived by a copy of this. Throws OutOfMemory.
    std::unique_ptr<DeviceMemory> allocate(std::size_t bytes,
                                           void* stream) const;
    /// Waits until what runs queued on a device's stream is done.
    void finish(void* stream) const;
    /// Checks `out` (shape, dtype, overlap with inputs) and computes. Results
    /// have the same bits for any number of threads. On an error or a cancel
    /// `out` is unspecified but the session stays usable.
    void run(const Output& out, const RunOptions& options = {}) const;
    void run(std::span<const Output> outs,
             const RunOptions& options = {}) const;
    /// The program and artifact behind it, for explain.
    const Program& program() const;
    const Artifact& artifact() const;
    /// What its run calls, on the host.
    std::vector<KernelUse> kernels() const;
    /// Recomputes `rows` evenly spaced rows with the float64 interpreter and
    /// returns the largest error relative to the largest magnitude of `out`.
    /// Of several sweeps over the pairs, the rows of each, from what those
    /// before it leave behind; relative to what it leaves, and to each result.
    double check(const Output& out, std::int64_t rows,
                 const GoesOn& goes_on = {}) const;
    double check(std::span<const Output> outs, std::int64_t rows,
                 const GoesOn& goes_on = {}) const;

private:
    friend class Formula;
    const Prepared& last_kernel() const;
    explicit Bound(std::shared_ptr<detail::BoundState> state);
    std::shared_ptr<detail::BoundState> state_;
};

/// A parsed formula of a session. Cheap to copy; thread-safe.
class Formula {
public:
    const std::string& text() const;
    const ast::Formula& tree() const;
    std::span<const FreeName> names() const;
    /// All checks of names, shapes and dtypes; compiles on the first call for
    /// a new signature, else finds the kernel without looking at any text.
    Bound bind(std::span<const NamedView> arguments,
               const BindOptions& options = {}) const;
    /// Binds, allocates and runs.
    Array operator()(std::span<const NamedView> arguments,
                     const RunOptions& options = {}) const;
    Array operator()(std::initializer_list<NamedView> arguments,
                     const RunOptions& options = {}) const;
    /// As operator(), for formulas of several results.
    std::vector<Array> results(std::span<const NamedView> arguments,
                               const RunOptions& options = {}) const;

    /// The gradients by arguments, in their order: a formula that takes the
    /// same arguments and `cotangent`, which has the shape of the result (and
    /// is 1 for a scalar one). Each has the shape of its argument. Of several
    /// results, each has a cotangent named `cotangent`_argument. May be
    /// differentiated again.
    /// With `value`, the results so far come first: in the same sweeps.
    Formula gradient(std::span<const std::string> names,
                     std::string_view cotangent = "grad",
                     bool value = false) const;
    /// The derivative where arguments move along tangents: takes `tangent`
    /// (of several arguments `tangent`_argument), of the argument's shape.
    Formula jvp(std::span<const std::string> names,
                std::string_view tangent = "tangent") const;
    const Derivation& derivation() const;
    /// The plans that Options::plan may force, best first by the cost model;
    /// of a derivative, those of its first sweep.
    std::vector<Plan> plans(std::span<const NamedView> arguments,
                            const BindOptions& options = {}) const;
    /// Stage texts: reading, AST, IR, plan, LLVM IR, assembly; of a
    /// derivative, those of each sweep.
    std::vector<Stage> explain(std::span<const NamedView> arguments,
                               const BindOptions& options = {}) const;
    /// The same for a GPU, which need not be there: plan, CUDA C++, registers
    /// and the share of the card's limit that is to be expected.
    /// `architecture`: "sm_90".
    std::vector<Stage> explain_for_gpu(std::span<const NamedView> arguments,
                                       std::string_view architecture,
                                       const BindOptions& options = {}) const;

private:
    friend class Session;
    friend class PairSearch; // runs on the threads of the session
    Formula derived(DerivationStep step) const;
    explicit Formula(std::shared_ptr<detail::FormulaState> state);
    std::shared_ptr<detail::FormulaState> state_;
};

class Session {
public:
    explicit Session(const Options& options = {});
    ~Session();
    Session(const Session&) = delete;
    Session& operator=(const Session&) = delete;

    /// Parses, or finds the formula parsed before. Throws Error.
    Formula formula(std::string_view text) const;
    /// formula(text)(arguments).
    Array reduce(std::string_view text,
                 std::initializer_list<NamedView> arguments,
                 const RunOptions& options = {}) const;

    Statistics statistics() const;
    /// The driver and the compiler of GPUs: what they are, or why there is
    /// none. Opens both.
    std::vector<std::string> describe_gpus() const;
    int threads() const;
    const Options& options() const; ///< as resolved
    /// Stage texts: reading, AST, IR, plan, LLVM IR, assembly.
    std::vector<Stage> explain(std::string_view text,
                               std::span<const NamedView> arguments,
                               const BindOptions& options = {}) const;

private:
    std::shared_ptr<detail::SessionState> state_;
};

/// One entry of the disk cache, for `tilefold cache`.
struct CacheEntry {
    std::string key; ///< 32 hexadecimal digits
    std::int64_t bytes = 0;
    std::string compiler; ///< "LLVM 22.1.0"
    std::string isa;
    std::string summary; ///< first line of the graph
    bool valid = false;  ///< checksum holds
};
std::vector<CacheEntry> list_cache(const std::string& directory, bool verify);
/// Removes every entry and orphan; returns how many files.
std::int64_t clear_cache(const std::string& directory);

} // namespace tilefold
