// runtime/session/session.h - the C++ interface: compile a formula, bind arrays
// to it, run it. A Session owns the options, the threads and the caches. Trees
// and kernels behind the handles are for inspect.h.
#pragma once

#include "runtime/bind/call_options.h"
#include "runtime/bind/state_layout.h"
#include "runtime/core/options.h"
#include "runtime/core/statistics.h"
#include "runtime/core/view.h"

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tilefold {

struct FreeName; // these two are told in full by compiler/pipeline.h
struct ExplainSection;
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
    /// The shape of a result: batch axes, then the kept axes, then components;
    /// a gradient has the shape of its argument.
    const Extents& shape(std::size_t result = 0) const;
    DType dtype(std::size_t result = 0) const;
    /// The place where its arrays are, and its results are to be.
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
    /// Recomputes `rows` evenly spaced rows with the float64 interpreter and
    /// returns the largest error relative to the largest magnitude of `out`.
    /// A formula of several sweeps is checked sweep by sweep, from what those
    /// before leave behind; relative to what it leaves, and to each result.
    double check(const Output& out, std::int64_t rows,
                 const GoesOn& goes_on = {}) const;
    double check(std::span<const Output> outs, std::int64_t rows,
                 const GoesOn& goes_on = {}) const;

    /// What the reduction keeps of part of an axis, in memory of the caller, of
    /// state_layout().elements() doubles; for a call with a window and a
    /// segment, of arrays of the host. Throws where it keeps nothing: of
    /// several passes over the pairs, or none.
    StateLayout state_layout() const;
    /// Writes the state of points [first, last) of the reduced axis, by their
    /// numbers on the whole axis: of a node of its tree of segments (2^k
    /// segments from a multiple of 2^k on, of which the axis' end may cut off
    /// some), or of less than a segment.
    void leave(std::int64_t first, std::int64_t last, double* states,
               const RunOptions& options = {}) const;
    /// Joins `from`, the states of later points, to `into`.
    void merge(double* into, const double* from) const;
    /// Writes the results to `outs`, from the states of all points. Of arrays
    /// on the reduced axis nothing is read.
    void finalise(const double* states, std::span<const Output> outs,
                  const RunOptions& options = {}) const;

private:
    friend class Formula;
    friend struct Inspection;
    explicit Bound(std::shared_ptr<detail::BoundState> state);
    std::shared_ptr<detail::BoundState> state_;
};

/// A parsed formula of a session. Cheap to copy; thread-safe.
class Formula {
public:
    const std::string& text() const;
    std::span<const FreeName> names() const;
    /// Checks names, shapes and dtypes; compiles on the first call for a new
    /// signature, else finds the kernel without looking at any text.
    Bound bind(std::span<const NamedView> arguments,
               const BindOptions& options = {}) const;
    /// The same formula, for calls with settings of their own: what of
    /// `options` is of Scope::Call. Throws Error where one is no good.
    Formula with(const Options& options) const;
    /// Binds, allocates and runs.
    Array operator()(std::span<const NamedView> arguments,
                     const RunOptions& options = {}) const;
    Array operator()(std::initializer_list<NamedView> arguments,
                     const RunOptions& options = {}) const;
    /// Does as operator(), for formulas of several results.
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
    /// The texts that Options::plan takes, best first by the cost model; of a
    /// derivative, those of its first sweep.
    std::vector<std::string> plans(std::span<const NamedView> arguments,
                                   const BindOptions& options = {}) const;
    /// Stage texts: reading, AST, IR, plan, LLVM IR, assembly; of a
    /// derivative, those of each sweep.
    std::vector<ExplainSection> explain(std::span<const NamedView> arguments,
                                        const BindOptions& options = {}) const;
    /// The same for a GPU, which need not be there: plan, CUDA C++, registers
    /// and the share of the card's limit that is to be expected.
    /// `architecture`: "sm_90".
    std::vector<ExplainSection>
    explain_for_gpu(std::span<const NamedView> arguments,
                    std::string_view architecture,
                    const BindOptions& options = {}) const;

private:
    friend class Session;
    friend struct Inspection;
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
    std::vector<ExplainSection> explain(std::string_view text,
                                        std::span<const NamedView> arguments,
                                        const BindOptions& options = {}) const;

private:
    std::shared_ptr<detail::SessionState> state_;
};

} // namespace tilefold
