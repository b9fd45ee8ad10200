// include/tilefold/tilefold.hpp - tilefold for C++17: handles that free
// themselves and errors as exceptions, over the C interface of tilefold.h,
// which tells what everything means.
//
//     tilefold::Session session;
//     std::vector<double> x(3 * n), y(3 * m), b(m), a(n);
//     auto f = session.formula("sum_j exp(-|x_i - y_j|^2 / (2 l^2)) b_j");
//     f.bind({{"x", {x.data(), {n, 3}}}, {"y", {y.data(), {m, 3}}},
//             {"b", {b.data(), {m}}}, {"l", 0.5}})
//         .run(tilefold::Array(a.data(), {n}));
//
// Nothing but the C interface is used of the library, so that a program and
// the library may be of different compilers and C++ libraries.
#ifndef TILEFOLD_TILEFOLD_HPP
#define TILEFOLD_TILEFOLD_HPP

#include <tilefold/arrays.hpp>

#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace tilefold {

/// Told the pairs done and to do; false cancels. What it throws is thrown by
/// the call.
using Poll = std::function<bool(double done, double total)>;

/// How a call is run.
struct RunOptions {
    bool accumulate = false;
    Poll poll = {};
    void* stream = nullptr;
};

namespace detail {

/// A callback of C for a Poll, of which the exceptions are kept.
class Run {
public:
    explicit Run(const RunOptions& options) : poll_(options.poll) {
        options_.accumulate = options.accumulate;
        options_.stream = options.stream;
        options_.context = this;
        if (poll_)
            options_.poll = &Run::ask;
    }
    Run(const Run&) = delete;
    Run& operator=(const Run&) = delete;

    const tilefold_run_options* options() const { return &options_; }
    /// Throws what the callback threw, else what the function returned.
    void check(tilefold_error* error) {
        if (thrown_) {
            tilefold_error_free(error);
            std::rethrow_exception(thrown_);
        }
        tilefold::check(error);
    }

private:
    static std::int32_t ask(void* self, double done, double total) noexcept {
        Run& run = *static_cast<Run*>(self);
        try {
            return run.poll_(done, total);
        } catch (...) {
            run.thrown_ = std::current_exception();
            return 0;
        }
    }

    const Poll& poll_;
    std::exception_ptr thrown_;
    tilefold_run_options options_ = TILEFOLD_RUN_OPTIONS_INIT;
};

} // namespace detail

/// A result that owns its memory, in the order of C.
class Tensor {
public:
    explicit Tensor(detail::Owned<DLManagedTensorVersioned> made)
        : made_(std::move(made)) {}

    const DLTensor& tensor() const { return made_->dl_tensor; }
    DLDataType type() const { return tensor().dtype; }
    std::vector<std::int64_t> shape() const {
        return {tensor().shape, tensor().shape + tensor().ndim};
    }
    std::int64_t size() const {
        std::int64_t size = 1;
        for (std::int32_t axis = 0; axis < tensor().ndim; ++axis)
            size *= tensor().shape[axis];
        return size;
    }
    /// Its elements. Throws std::invalid_argument where they are of another
    /// type, or on a device.
    template <class T> T* data() const {
        const DLDataType wanted = element_type<T>(), own = type();
        if (wanted.code != own.code || wanted.bits != own.bits)
            throw std::invalid_argument(
                "tilefold::Tensor: the elements are of another type");
        if (tensor().device.device_type != kDLCPU)
            throw std::invalid_argument(
                "tilefold::Tensor: the elements are on a device");
        return reinterpret_cast<T*>(static_cast<char*>(tensor().data) +
                                    tensor().byte_offset);
    }
    template <class T> T at(std::int64_t k) const { return data<T>()[k]; }
    /// Hands it over to whoever calls its deleter.
    DLManagedTensorVersioned* release() { return made_.release(); }

private:
    detail::Owned<DLManagedTensorVersioned> made_;
};

/// The pairs that reductions meet, by tiles of rows.
class Ranges {
public:
    struct Interval {
        std::int64_t begin, end;
    };
    /// Tile t ends before row_ends[t], and meets the columns[t].
    Ranges(const std::vector<std::int64_t>& row_ends,
           const std::vector<std::vector<Interval>>& columns) {
        if (row_ends.size() != columns.size())
            throw std::invalid_argument(
                "tilefold::Ranges: pass the columns of each tile");
        std::vector<std::int64_t> offsets{0}, numbers;
        for (const auto& intervals : columns) {
            for (const Interval& interval : intervals)
                numbers.insert(numbers.end(), {interval.begin, interval.end});
            offsets.push_back(std::int64_t(numbers.size() / 2));
        }
        handle_ = detail::made<tilefold_ranges>([&](tilefold_ranges** out) {
            return tilefold_ranges_create(row_ends.data(),
                                          std::int64_t(row_ends.size()),
                                          offsets.data(), numbers.data(), out);
        });
    }

    tilefold_ranges* handle() const { return handle_.get(); }

private:
    detail::Owned<tilefold_ranges> handle_;
};

/// What is computed of a formula.
enum class Want : std::int32_t {
    Result = TILEFOLD_RESULT,
    Diag = TILEFOLD_DIAG,
    Pairs = TILEFOLD_PAIRS,
    Dense = TILEFOLD_DENSE,
};

/// How a formula is bound. Rows are borrowed, as arrays are.
struct BindOptions {
    Want want = Want::Result;
    bool on_host = false;
    const std::vector<std::int64_t>* rows_i = nullptr; ///< null: all
    const std::vector<std::int64_t>* rows_j = nullptr;
    const Ranges* ranges = nullptr;
    std::vector<std::int64_t> sum_batch = {};
};

/// A formula with its arrays, which have to live: ready to be run.
class Bound {
public:
    explicit Bound(detail::Owned<tilefold_bound> handle)
        : handle_(std::move(handle)) {}

    std::int64_t results() const { return tilefold_bound_results(handle()); }
    std::vector<std::int64_t> shape(std::int64_t result = 0) const {
        std::int32_t axes = 0;
        const std::int64_t* shape = nullptr;
        check(tilefold_bound_shape(handle(), result, &axes, &shape, nullptr));
        return {shape, shape + axes};
    }
    DLDataType type(std::int64_t result = 0) const {
        DLDataType type{};
        check(tilefold_bound_shape(handle(), result, nullptr, nullptr, &type));
        return type;
    }
    Tensor allocate(std::int64_t result = 0, void* stream = nullptr) const {
        return Tensor(detail::made<DLManagedTensorVersioned>(
            [&](DLManagedTensorVersioned** out) {
                return tilefold_bound_allocate(handle(), result, stream, out);
            }));
    }
    void run(const Array& out, const RunOptions& options = {}) const {
        run_all({&out.tensor()}, options);
    }
    void run(const std::vector<Array>& outs,
             const RunOptions& options = {}) const {
        std::vector<const DLTensor*> tensors;
        for (const Array& out : outs)
            tensors.push_back(&out.tensor());
        run_all(tensors, options);
    }
    /// Runs it with a result of its own.
    Tensor operator()(const RunOptions& options = {}) const {
        Tensor result = allocate(0, options.stream);
        run_all({&result.tensor()}, options);
        return result;
    }
    void finish(void* stream = nullptr) const {
        check(tilefold_bound_finish(handle(), stream));
    }
    /// The largest relative error of `rows` rows of the result.
    double check_rows(const Array& out, std::int64_t rows = 64) const {
        double error = 0;
        check(tilefold_bound_check(handle(), &out.tensor(), rows, &error));
        return error;
    }

    tilefold_bound* handle() const { return handle_.get(); }

private:
    void run_all(const std::vector<const DLTensor*>& outs,
                 const RunOptions& options) const {
        detail::Run run(options);
        run.check(tilefold_bound_run(handle(), outs.data(),
                                     std::int64_t(outs.size()), run.options()));
    }

    detail::Owned<tilefold_bound> handle_;
};

/// How a system is solved, and how that went: as tilefold_solve_options and
/// tilefold_solve_outcome, whose `size` need not be set.
using SolveOptions = tilefold_solve_options;
using SolveOutcome = tilefold_solve_outcome;

/// Neighbours of each row, by ascending column.
struct Neighbors {
    std::vector<std::int64_t> offsets; ///< one more than there are rows
    std::vector<std::int64_t> columns;
    std::vector<double> values; ///< empty unless asked for
};

/// A parsed formula.
class Formula {
public:
    struct Name {
        std::string name;
        std::int32_t axes; ///< TILEFOLD_AXES_…
    };

    explicit Formula(detail::Owned<tilefold_formula> handle)
        : handle_(std::move(handle)) {}

    std::vector<Name> names() const {
        std::vector<Name> all;
        const std::int64_t count = tilefold_formula_names(handle());
        for (std::int64_t k = 0; k < count; ++k) {
            std::int32_t axes = 0;
            const char* name = tilefold_formula_name(handle(), k, &axes);
            all.push_back({name, axes});
        }
        return all;
    }
    Bound bind(const Arguments& arguments,
               const BindOptions& options = {}) const {
        const auto given = detail::in_c(arguments);
        const auto how = in_c(options);
        return Bound(detail::made<tilefold_bound>([&](tilefold_bound** out) {
            return tilefold_bind(handle(), given.data(),
                                 std::int64_t(given.size()), &how, out);
        }));
    }
    /// Binds, allocates and runs.
    Tensor operator()(const Arguments& arguments,
                      const RunOptions& options = {}) const {
        return bind(arguments)(options);
    }
    Formula gradient(const std::vector<std::string>& names,
                     const std::string& cotangent = "grad",
                     bool with_value = false) const {
        const auto by = detail::in_c(names);
        return Formula(
            detail::made<tilefold_formula>([&](tilefold_formula** out) {
                return tilefold_formula_gradient(
                    handle(), by.data(), std::int64_t(by.size()),
                    cotangent.c_str(), with_value, out);
            }));
    }
    Formula jvp(const std::vector<std::string>& names,
                const std::string& tangent = "tangent") const {
        const auto along = detail::in_c(names);
        return Formula(
            detail::made<tilefold_formula>([&](tilefold_formula** out) {
                return tilefold_formula_jvp(handle(), along.data(),
                                            std::int64_t(along.size()),
                                            tangent.c_str(), out);
            }));
    }
    /// All stages as text, or the one of that name.
    std::string explain(const Arguments& arguments,
                        const char* stage = nullptr) const {
        const auto given = detail::in_c(arguments);
        return detail::made<char>([&](char** out) {
                   return tilefold_explain(handle(), given.data(),
                                           std::int64_t(given.size()), stage,
                                           out);
               })
            .get();
    }
    /// All stages as one document of JSON; those of a GPU's architecture,
    /// "sm_90" and the like, where one is given.
    std::string explain_json(const Arguments& arguments,
                             const char* architecture = nullptr) const {
        const auto given = detail::in_c(arguments);
        return detail::made<char>([&](char** out) {
                   return tilefold_explain_json(handle(), given.data(),
                                                std::int64_t(given.size()),
                                                architecture, out);
               })
            .get();
    }
    /// Writes the solution of (K + ridge) x = right to x, where this formula
    /// is the pair term K.
    SolveOutcome solve(const Arguments& arguments, const Array& right,
                       const Array& x, SolveOptions options = {}) const {
        const auto given = detail::in_c(arguments);
        options.size = sizeof options;
        SolveOutcome outcome = TILEFOLD_SOLVE_OUTCOME_INIT;
        check(tilefold_solve(handle(), given.data(), std::int64_t(given.size()),
                             &right.tensor(), &options, &x.tensor(), &outcome));
        return outcome;
    }
    /// The pairs whose pair term is at most `radius`.
    Neighbors neighbors(const Arguments& arguments, double radius,
                        bool with_values = false) const {
        const auto given = detail::in_c(arguments);
        const auto found =
            detail::made<tilefold_neighbors>([&](tilefold_neighbors** out) {
                return tilefold_radius_neighbors(handle(), given.data(),
                                                 std::int64_t(given.size()),
                                                 radius, with_values, out);
            });
        const std::int64_t rows = tilefold_neighbors_rows(found.get());
        const auto* offsets = tilefold_neighbors_offsets(found.get());
        const auto* columns = tilefold_neighbors_columns(found.get());
        const auto* values = tilefold_neighbors_values(found.get());
        const std::int64_t pairs = offsets[rows];
        Neighbors copy{
            {offsets, offsets + rows + 1}, {columns, columns + pairs}, {}};
        if (values)
            copy.values.assign(values, values + pairs);
        return copy;
    }

    tilefold_formula* handle() const { return handle_.get(); }

private:
    static tilefold_bind_options in_c(const BindOptions& options) {
        tilefold_bind_options how = TILEFOLD_BIND_OPTIONS_INIT;
        how.want = std::int32_t(options.want);
        how.on_host = options.on_host;
        if (options.rows_i) {
            how.rows_i = options.rows_i->data();
            how.rows_i_count = std::int64_t(options.rows_i->size());
        }
        if (options.rows_j) {
            how.rows_j = options.rows_j->data();
            how.rows_j_count = std::int64_t(options.rows_j->size());
        }
        if (options.ranges)
            how.ranges = options.ranges->handle();
        how.sum_batch = options.sum_batch.data();
        how.sum_batch_count = std::int64_t(options.sum_batch.size());
        return how;
    }

    detail::Owned<tilefold_formula> handle_;
};

/// Settings of a session. What is not set comes from the environment.
struct Options {
    int threads = 0;
    int log = 0, tune = 0, untrusted = 0; ///< 1 yes, -1 no
    double tolerance = 0;
    std::int64_t cache_size = 0, device_bytes = 0;
    /// Null: nothing is said; "": kernels stay in memory.
    const char* cache_directory = nullptr;
    const char* isa = nullptr;
    const char* devices = nullptr;
};

/// Threads, settings and compiled kernels; used from any number of threads.
class Session {
public:
    explicit Session(const Options& options = {})
        : handle_(detail::made<tilefold_session>([&](tilefold_session** out) {
              const tilefold_options given = in_c(options);
              return tilefold_session_create(&given, out);
          })) {}

    Formula formula(const std::string& text) const {
        return Formula(
            detail::made<tilefold_formula>([&](tilefold_formula** out) {
                return tilefold_formula_parse(handle(), text.c_str(), out);
            }));
    }
    /// formula(text)(arguments), in one call.
    Tensor reduce(const std::string& text, const Arguments& arguments,
                  const RunOptions& options = {}) const {
        const auto given = detail::in_c(arguments);
        detail::Run run(options);
        DLManagedTensorVersioned* result = nullptr;
        run.check(tilefold_reduce(handle(), text.c_str(), given.data(),
                                  std::int64_t(given.size()), run.options(),
                                  &result));
        return Tensor(detail::Owned<DLManagedTensorVersioned>(result));
    }
    tilefold_statistics statistics() const {
        tilefold_statistics counted = TILEFOLD_STATISTICS_INIT;
        check(tilefold_session_statistics(handle(), &counted));
        return counted;
    }
    int threads() const { return tilefold_session_threads(handle()); }

    tilefold_session* handle() const { return handle_.get(); }

private:
    static tilefold_options in_c(const Options& options) {
        tilefold_options given = TILEFOLD_OPTIONS_INIT;
        given.threads = options.threads;
        given.log = options.log;
        given.tune = options.tune;
        given.untrusted = options.untrusted;
        given.tolerance = options.tolerance;
        given.cache_size = options.cache_size;
        given.device_bytes = options.device_bytes;
        given.cache_directory = options.cache_directory;
        given.isa = options.isa;
        given.devices = options.devices;
        return given;
    }

    detail::Owned<tilefold_session> handle_;
};

/// Removes the compiled kernels of a folder (null: the usual one), and returns
/// how many files they were.
inline std::int64_t clear_cache(const char* directory = nullptr) {
    std::int64_t removed = 0;
    check(tilefold_cache_clear(directory, &removed));
    return removed;
}

/// A word of the language.
struct Word {
    const char *name, *kind, *summary;
};
inline std::vector<Word> language() {
    std::vector<Word> words;
    const std::int64_t size = tilefold_language_size();
    for (std::int64_t k = 0; k < size; ++k) {
        Word word{};
        word.name = tilefold_language_name(k, &word.kind, &word.summary);
        words.push_back(word);
    }
    return words;
}

} // namespace tilefold

#endif
