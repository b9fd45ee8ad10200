// python_bindings/call.h - one call of a formula from Python: keywords to
// arguments, bind, run without the GIL, give back.
#pragma once

#include "compiler/pipeline.h"
#include "python_bindings/arguments.h"
#include "python_bindings/result.h"
#include "python_bindings/session_handle.h"

#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace tilefold::python {

/// tilefold.Formula: a formula parsed in a session.
struct FormulaHandle {
    std::shared_ptr<SessionHandle> session;
    Formula formula;
};

/// The pairs behind a tilefold.Ranges.
struct RangesHandle {
    std::shared_ptr<const Ranges> ranges;
};

/// A copy of a mapping of names to arrays, which may change while a kernel
/// runs.
nb::object copy_of(PyObject* mapping);
/// The text of such a name.
std::string_view key_text(PyObject* key);

/// What a call was given. The references are the caller's.
struct Call {
    Arguments arguments;
    PyObject* out = nullptr; ///< null: allocate
    bool accumulate = false;
    SessionHandle* session = nullptr;
    const OptionsHandle* options = nullptr;
    std::shared_ptr<const Ranges> ranges; ///< null: all pairs
    Extents sum_batch; ///< batch dimensions that are summed over
    /// How many leading dimensions of each array are a batch's.
    std::optional<std::size_t> batch_rank;

    /// Reads `f(mapping?, **keywords)`: keywords that are not arrays are out,
    /// accumulate, session, options, ranges, sum_batch, batch_rank.
    /// `positional` may be null.
    void read(PyObject* positional, PyObject* keywords);
    /// The same; false, with nothing read any further, where an array requires
    /// a gradient and the call, which has no `out`, is its library's to record.
    bool read_unless_recorded(PyObject* positional, PyObject* keywords);
    /// Reads as read() does, for elements of a kernel: fails where something is
    /// said of its reductions.
    void read_for_elements(nb::handle positional, nb::handle keywords);
    /// Calls visit(object) for each reference that is held.
    template <class Visit> void each_reference(Visit visit) const {
        arguments.each_reference(visit);
        visit(mapping_.ptr());
    }

private:
    void read_mapping(PyObject* mapping);
    bool read_setting(std::string_view name, PyObject* given);
    nb::object mapping_; ///< a copy of the positional argument
};

/// The arrays that all results of a call are written to. Made, used and
/// destroyed under the GIL.
class Results {
public:
    /// `out` of the call, or new arrays; of a device, written on `stream`.
    /// Throws Error.
    Results(const Bound& bound, const Call& call, void* stream);

    /// All outputs, in the order of `bound`.
    std::span<const Output> outputs() const { return outputs_; }
    /// What `give` makes of the one result, or a tuple of each.
    template <class Give> nb::object each(Give give) {
        if (results_.size() == 1)
            return give(results_[0]);
        nb::object all = nb::steal(PyTuple_New(Py_ssize_t(results_.size())));
        for (std::size_t k = 0; k < results_.size(); ++k)
            PyTuple_SetItem(all.ptr(), Py_ssize_t(k),
                            give(results_[k]).release().ptr());
        return all;
    }
    void watch(BorrowCheck& watch) const {
        for (const Result& result : results_)
            result.watch(watch);
    }
    void note_written() const {
        for (const Result& result : results_)
            result.note_written();
    }

    /// Calls visit(object) for each reference that is held.
    template <class Visit> void each_reference(Visit visit) const {
        for (const Result& result : results_)
            result.each_reference(visit);
    }

private:
    std::deque<Result> results_;
    std::vector<Output> outputs_;
};

/// The one positional argument, a mapping of arrays; null where there is none.
/// Throws Error for several; `formula` names what it takes, where it is known.
PyObject* mapping_in(PyObject* positional, const Formula* formula);

/// A formula of `text`, in `session` or the default one.
FormulaHandle compile(nb::handle text,
                      const std::shared_ptr<SessionHandle>& session);

/// The text of a formula given as str or bytes.
std::string_view text_of_formula(PyObject* text, nb::object& holder);

/// `formula` differentiated step by step.
Formula derived_as(Formula formula, const Derivation& derivation);

/// `formula` in the session that the call names, or its own.
Formula formula_for(const FormulaHandle& formula, const Call& call);

/// The options of a call of Query::Result; they refer to the call. Signals end
/// what takes long.
BindOptions options_of(const Call& call);

/// Looks for signals; false with a Python error set. Takes the GIL itself.
bool no_signal();

/// formula.bind(arguments of the call, options), without the GIL.
Bound bound_of(const Formula& formula, const Call& call,
               const BindOptions& options);

/// Runs it without the GIL, and waits for the results where the arrays'
/// library may use other streams.
void run_without_gil(const Bound& bound, std::span<const Output> outs,
                     const RunOptions& run, const CallStream& stream);

/// Binds, runs, and gives the result back.
nb::object run_call(const FormulaHandle& formula, const Call& call,
                    const BindOptions& options);

/// Looks for signals and tells the progress callback of the call; takes the
/// GIL itself.
Poll poll_of(const FormulaHandle& formula, const Call& call);

/// What keeps the memory of the call's tensors where it is while a progress
/// callback may change them; nothing where there is none.
std::vector<nb::object> held_memory(const FormulaHandle& formula,
                                    const Call& call);

/// Whether a progress callback is told of the call.
bool has_progress(const FormulaHandle& formula, const Call& call);

/// `formula.bind(*positional, **keywords)`.
nb::object bind_call(const FormulaHandle& formula, PyObject* positional,
                     PyObject* keywords);

void bind_arguments(nb::module_& module);
void bind_bound(nb::module_& module);
void bind_explain(nb::module_& module, nb::class_<FormulaHandle>& formula);
void bind_formula(nb::module_& module);
void bind_kernels(nb::module_& module);
void bind_language(nb::module_& module);
void bind_neighbors(nb::module_& module);
void bind_partial(nb::module_& module);
void bind_ranges(nb::module_& module);
void bind_solve(nb::module_& module);

} // namespace tilefold::python
