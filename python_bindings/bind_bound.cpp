// python_bindings/bind_bound.cpp - tilefold.Bound: a formula with its arrays,
// called again and again.
//
// A call makes no Python object and looks at no keyword: it asks whether the
// tensors lie where they lay, runs, and gives the same array back.
#include "formulas/diagnostic.h"
#include "formulas/readings.h"
#include "python_bindings/call.h"
#include "python_bindings/errors.h"
#include "python_bindings/traverse.h"
#include "runtime/session/inspect.h"

#include <atomic>
#include <utility>

namespace tilefold::python {

namespace {

/// Holds references to everything it reads.
class BoundCall {
public:
    /// `keywords` are its own. Binds, and makes the arrays of the results.
    BoundCall(const FormulaHandle& formula, PyObject* positional,
              nb::object keywords)
        : formula_(formula), keywords_(std::move(keywords)) {
        call_.arguments.read_again();
        call_.read(positional, keywords_.ptr());
        bound_.emplace(
            bound_of(formula_for(formula_, call_), call_, options_of(call_)));
        results_.emplace(*bound_, call_, call_.arguments.stream().handle);
        if (!takes_anew())
            out_ = kept();
        run_ = {call_.accumulate, poll_of(formula_, call_)};
        call_.arguments.each_tensor(
            [&](std::string_view name, PyObject* tensor) {
                watch_.add(name, tensor);
            });
        results_->watch(watch_);
    }
    BoundCall(const BoundCall&) = delete;
    BoundCall& operator=(const BoundCall&) = delete;

    nb::object run() {
        Turn turn(running_);
        watch_.check();
        std::vector<nb::object> held;
        if (has_progress(formula_, call_))
            watch_.hold(held);
        const CallStream stream = call_.arguments.stream();
        run_.stream = stream.handle;
        run_without_gil(*bound_, results_->outputs(), run_, stream);
        results_->note_written();
        return out();
    }
    nb::object out() { return takes_anew() ? kept() : out_; }
    /// Calls visit(object) for each reference that is held.
    template <class Visit> void each_reference(Visit visit) const {
        visit(keywords_.ptr());
        visit(out_.ptr());
        call_.each_reference(visit);
        watch_.each_reference(visit);
        if (results_)
            results_->each_reference(visit);
    }
    const FormulaHandle& formula() const { return formula_; }

private:
    /// Lets one run go on at a time: another would write the same `out`.
    class Turn {
    public:
        explicit Turn(std::atomic<bool>& running) : running_(running) {
            if (running_.exchange(true))
                fail(Code::BoundIsRunning);
        }
        ~Turn() { running_ = false; }
        Turn(const Turn&) = delete;
        Turn& operator=(const Turn&) = delete;

    private:
        std::atomic<bool>& running_;
    };

    /// Whether the arrays' library may have copied the array.
    bool takes_anew() const {
        const ArrayKind* kind = call_.arguments.kind();
        return kind && kind->from_dlpack;
    }
    nb::object kept() {
        return results_->each([](Result& result) { return result.keep(); });
    }

    FormulaHandle formula_;
    nb::object keywords_;
    Call call_;
    std::optional<Bound> bound_;
    std::optional<Results> results_;
    nb::object out_; ///< null where it is taken anew
    RunOptions run_;
    BorrowCheck watch_;
    std::atomic<bool> running_ = false;
};

std::string passed(PyObject* positional, PyObject* keywords) {
    PyObject *name = nullptr, *value = nullptr;
    Py_ssize_t at = 0;
    if (keywords && PyDict_Next(keywords, &at, &name, &value))
        return "'" + text_of(name) + "'";
    return type_of(PyTuple_GetItem(positional, 0));
}

PyObject* call_bound(PyObject* self, PyObject* positional, PyObject* keywords) {
    return slot([&] {
        if (PyTuple_Size(positional) > 0 ||
            (keywords && PyDict_Size(keywords) > 0))
            fail(Code::BoundTakesNothing, {passed(positional, keywords)});
        return instance<BoundCall>(self).run();
    });
}

nb::str bound_repr(const BoundCall& bound) {
    std::string text =
        "tilefold.Bound: " + print_readings(tree_of(bound.formula().formula));
    return nb::str(text.data(), text.size());
}

[[noreturn]] void refuse_pickling(const BoundCall&) {
    fail(Code::BoundNotPickled);
}

PyType_Slot bound_slots[] = {
    {Py_tp_traverse, reinterpret_cast<void*>(&traverse<BoundCall>)},
    {Py_tp_call, reinterpret_cast<void*>(&call_bound)},
    {0, nullptr},
};

constexpr const char* bound_doc =
    R"(A formula with its arrays, that is called without arguments.

Made by ``Formula.bind``. A call computes from what the arrays hold then, into
the one array ``out``, which it returns, and what an earlier call gave changes
with it; of JAX's arrays, which never change, each is a copy. ``out`` has the
shape and dtype that a call of the formula gives; a result without axes is an
array of shape (), not a number.

It keeps its arrays alive. They may be changed in place, but numbers, lists and
other things that are no arrays are read once, when bound, and so are shapes,
dtypes and the session. Signals and the progress callback are served as in a
call of the formula. Threads bind their own. Not picklable.

Raises
------
ArgumentError
    By a call, for a tensor that ``resize_`` or ``set_`` gave other memory,
    where an array of indices leaves its table, and while another call runs.

See Also
--------
Formula.bind : what makes one.

Examples
--------
>>> x = np.array([0.0, 1.0])
>>> step = tilefold.compile("sum_j |x_i - x_j|").bind(x=x)
>>> x += np.array([0.0, 2.0])
>>> step(), step() is step.out
(array([3., 3.]), True))";

} // namespace

nb::object bind_call(const FormulaHandle& formula, PyObject* positional,
                     PyObject* keywords) {
    nb::object own = nb::steal(PyDict_Copy(keywords));
    if (!own)
        throw nb::python_error();
    nb::object instance = nb::inst_alloc(nb::type<BoundCall>());
    new (nb::inst_ptr<BoundCall>(instance))
        BoundCall(formula, positional, std::move(own));
    nb::inst_mark_ready(instance);
    return instance;
}

void bind_bound(nb::module_& module) {
    nb::class_<BoundCall>(module, "Bound", nb::type_slots(bound_slots),
                          nb::is_weak_referenceable(), bound_doc)
        .def_prop_ro("out", &BoundCall::out,
                     nb::sig("def out(self) -> typing.Any"),
                     "The array that calls write to; a tuple of several.")
        .def_prop_ro("formula", &BoundCall::formula,
                     nb::sig("def formula(self) -> Formula"),
                     "The ``Formula`` that was bound.")
        .def("__repr__", &bound_repr)
        .def("__reduce__", &refuse_pickling,
             nb::sig("def __reduce__(self) -> typing.NoReturn"));
}

} // namespace tilefold::python
