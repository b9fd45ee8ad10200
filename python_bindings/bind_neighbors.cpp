// python_bindings/bind_neighbors.cpp - lists of the pairs within a radius.
#include "python_bindings/call.h"
#include "python_bindings/errors.h"
#include "python_bindings/gil.h"
#include "python_bindings/result.h"
#include "runtime/solve/neighbors.h"

#include <cmath>
#include <cstdint>
#include <span>

namespace tilefold::python {

namespace {

double radius_of(nb::handle value) {
    const double radius = PyFloat_AsDouble(value.ptr());
    if (radius == -1 && PyErr_Occurred()) {
        PyErr_Clear();
        fail(Code::BadOption, {"radius", type_of(value), "pass a number"});
    }
    if (std::isnan(radius))
        fail(Code::BadOption, {"radius", "nan", "pass a number"});
    return radius;
}

std::span<std::int64_t> integers(const Result& result, std::int64_t size) {
    return {static_cast<std::int64_t*>(result.output().data),
            std::size_t(size)};
}

/// (starts, columns, values or None)
nb::object neighbors(const FormulaHandle& pair, nb::dict arguments,
                     nb::handle radius, bool with_values, nb::dict settings) {
    const double limit = radius_of(radius);
    Call call;
    call.read_for_elements(arguments, settings);
    const Formula term = formula_for(pair, call);
    const Poll poll = poll_of(pair, call);
    const std::vector<nb::object> held = held_memory(pair, call);
    PairsWithin found;
    {
        const WithoutGil released;
        found = pairs_within(term, call.arguments.views(), limit, with_values,
                             poll, no_signal);
    }
    const auto kind = call.arguments.kind();
    const std::int64_t rows = found.rows(), size = found.size();
    Result starts, columns, values;
    starts.allocate(kind, DType::I64, {rows + 1});
    found.write_starts(integers(starts, rows + 1));
    columns.allocate(kind, DType::I64, {size});
    if (with_values)
        values.allocate(kind, found.dtype, {size});
    found.take(integers(columns, size),
               with_values ? values.output().data : nullptr);
    return nb::make_tuple(starts.take(), columns.take(),
                          with_values ? values.take() : nb::none());
}

} // namespace

void bind_neighbors(nb::module_& module) {
    module.def("_neighbors", &neighbors, nb::arg("pair"), nb::arg("arguments"),
               nb::arg("radius"), nb::arg("with_values"), nb::arg("settings"),
               nb::sig("def _neighbors(pair: Formula, "
                       "arguments: dict[str, typing.Any], "
                       "radius: typing.Any, with_values: bool, "
                       "settings: dict[str, typing.Any]) -> "
                       "tuple[typing.Any, typing.Any, typing.Any]"));
}

} // namespace tilefold::python
