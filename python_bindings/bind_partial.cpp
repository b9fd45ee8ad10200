// python_bindings/bind_partial.cpp - what tilefold.Reduction is made of: a
// formula with arrays that are parts of longer axes.
#include "formulas/diagnostic.h"
#include "python_bindings/call.h"
#include "python_bindings/errors.h"
#include "python_bindings/gil.h"
#include "python_bindings/text_caster.h"
#include "python_bindings/traverse.h"

#include <nanobind/ndarray.h>
#include <nanobind/stl/pair.h>

#include <array>
#include <memory>
#include <utility>

namespace tilefold::python {

namespace {

using States =
    nb::ndarray<nb::numpy, double, nb::ndim<3>, nb::c_contig, nb::device::cpu>;

/// Holds references to everything it reads.
class PartialCall {
public:
    PartialCall(const FormulaHandle& formula, nb::dict keywords,
                const Window& window)
        : formula_(formula), keywords_(std::move(keywords)) {
        call_.read(nullptr, keywords_.ptr());
        BindOptions options = options_of(call_);
        options.window = window;
        options.on_host = true;
        bound_.emplace(bound_of(formula_for(formula_, call_), call_, options));
        layout_ = bound_->state_layout();
    }
    PartialCall(const PartialCall&) = delete;
    PartialCall& operator=(const PartialCall&) = delete;

    const StateLayout& layout() const { return layout_; }

    States leave(std::int64_t first, std::int64_t last) const {
        auto memory =
            std::make_unique<double[]>(std::size_t(layout_.elements()));
        double* states = memory.get();
        const nb::capsule owner(memory.release(), [](void* held) noexcept {
            delete[] static_cast<double*>(held);
        });
        const RunOptions run{false, poll_of(formula_, call_)};
        {
            const WithoutGil released;
            bound_->leave(first, last, states, run);
        }
        const std::array<std::size_t, 3> shape = extents();
        return States(states, shape.size(), shape.data(), owner);
    }

    void merge(const States& into, const States& from) const {
        require(into);
        require(from);
        const WithoutGil released;
        bound_->merge(into.data(), from.data());
    }

    nb::object finalise(const States& states) const {
        require(states);
        const RunOptions run{false, poll_of(formula_, call_)};
        Results results(*bound_, call_, nullptr);
        {
            const WithoutGil released;
            bound_->finalise(states.data(), results.outputs(), run);
        }
        return results.each([](Result& result) { return result.take(); });
    }

    template <class Visit> void each_reference(Visit visit) const {
        visit(keywords_.ptr());
        call_.each_reference(visit);
    }

private:
    std::array<std::size_t, 3> extents() const {
        return {std::size_t(layout_.batches), std::size_t(layout_.slots),
                std::size_t(layout_.stride)};
    }
    void require(const States& states) const {
        for (std::size_t d = 0; d < 3; ++d)
            if (states.shape(d) != extents()[d])
                internal_error("states of another call");
    }

    FormulaHandle formula_;
    nb::dict keywords_;
    Call call_;
    std::optional<Bound> bound_;
    StateLayout layout_;
};

using AxisPart = std::pair<std::int64_t, std::int64_t>;

void make_partial(PartialCall* self, const FormulaHandle& formula,
                  const nb::dict& arguments, const AxisPart& i,
                  const AxisPart& j) {
    nb::dict own;
    own.update(arguments);
    const Window window{{i.first, i.second}, {j.first, j.second}};
    new (self) PartialCall(formula, std::move(own), window);
}

const char* spelling_of_axis(Axes axis) {
    return axis == Axes::I ? "i" : axis == Axes::J ? "j" : "";
}

/// By the names of its fields.
nb::dict layout_of(const PartialCall& call) {
    const StateLayout& layout = call.layout();
    nb::dict fields;
    fields["batches"] = layout.batches;
    fields["slots"] = layout.slots;
    fields["rows"] = layout.rows;
    fields["stride"] = layout.stride;
    fields["reduced"] = spelling_of_axis(layout.reduced);
    fields["kept"] = spelling_of_axis(layout.kept);
    fields["folds"] = layout.folds;
    fields["first"] = layout.first;
    fields["count"] = layout.count;
    fields["total"] = layout.total;
    fields["first_row"] = layout.first_row;
    fields["total_rows"] = layout.total_rows;
    fields["segment"] = layout.segment;
    fields["kind"] = layout.kind;
    return fields;
}

constexpr const char* partial_doc =
    "A formula with arrays that are parts of longer axes, for\n"
    "`tilefold.Reduction`: `i` and `j` are the number of the first point and\n"
    "how many there are in all, -1 for no more than these. The arguments hold\n"
    "options with a segment.";

} // namespace

void bind_partial(nb::module_& module) {
    nb::class_<PartialCall>(module, "PartialCall",
                            nb::type_slots(collected_slots<PartialCall>),
                            partial_doc)
        .def("__init__", &make_partial, nb::arg("formula"),
             nb::arg("arguments"), nb::arg("i"), nb::arg("j"),
             nb::sig("def __init__(self, formula: Formula, arguments: "
                     "dict[str, typing.Any], i: tuple[int, int], "
                     "j: tuple[int, int]) -> None"))
        .def_prop_ro("layout", &layout_of,
                     nb::sig("def layout(self) -> dict[str, typing.Any]"))
        .def("leave", &PartialCall::leave, nb::arg("first"), nb::arg("last"),
             nb::sig("def leave(self, first: int, last: int) -> "
                     "numpy.typing.NDArray[numpy.float64]"),
             "The state of these points of the reduced axis, of shape\n"
             "(batches, slots, stride).")
        .def("merge", &PartialCall::merge, nb::arg("into"), nb::arg("later"),
             nb::sig("def merge(self, into: "
                     "numpy.typing.NDArray[numpy.float64], later: "
                     "numpy.typing.NDArray[numpy.float64]) -> None"),
             "Joins the state of later points to `into`, in place.")
        .def("finalise", &PartialCall::finalise, nb::arg("state"),
             nb::sig("def finalise(self, state: "
                     "numpy.typing.NDArray[numpy.float64]) -> typing.Any"),
             "The result, of the state of all points.");
}

} // namespace tilefold::python
