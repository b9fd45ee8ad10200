// python_bindings/bind_kernels.cpp - what a call would run, for tests that
// count the kinds of plan they meet.
#include "compiler/backends/cpu/choose_plan.h"
#include "python_bindings/call.h"
#include "python_bindings/text_caster.h"
#include "runtime/session/inspect.h"

#include <string>
#include <string_view>

namespace tilefold::python {

namespace {

nb::str str(std::string_view text) {
    return nb::str(text.data(), text.size());
}

nb::dict described(const KernelUse& use) {
    nb::dict facts;
    facts["plan"] = str(print(use.plan));
    facts["kind"] = str(row_of(use.kind).spelling);
    facts["column_tiles"] = use.takes_column_tiles;
    facts["scratch"] = use.scratch;
    facts["state"] = use.state;
    facts["rows"] = use.rows;
    facts["columns"] = use.columns;
    facts["width"] = use.width;
    facts["batches"] = use.batches;
    facts["block"] = use.block;
    facts["row_pieces"] = use.row_pieces;
    facts["column_pieces"] = use.column_pieces;
    facts["row_tasks"] = use.row_tasks;
    facts["folds_rows"] = use.folds_rows;
    facts["one_point"] = use.is_for_one_point;
    facts["flat_width"] = use.flat_width;
    return facts;
}

/// Binds, and computes nothing.
nb::list kernels(const FormulaHandle& formula, nb::dict arguments,
                 nb::dict settings, bool dense) {
    Call call;
    call.read(arguments.ptr(), settings.ptr());
    BindOptions options = options_of(call);
    if (dense)
        options.query = Query::Dense;
    const Bound bound = bound_of(formula_for(formula, call), call, options);
    nb::list uses;
    for (const KernelUse& use : kernels_of(bound))
        uses.append(described(use));
    return uses;
}

} // namespace

void bind_kernels(nb::module_& module) {
    module.def("_kernels", &kernels, nb::arg("formula"), nb::arg("arguments"),
               nb::arg("settings"), nb::arg("dense") = false,
               nb::sig("def _kernels(formula: Formula, "
                       "arguments: dict[str, typing.Any], "
                       "settings: dict[str, typing.Any], "
                       "dense: bool = False) -> list[dict[str, typing.Any]]"),
               "The kernels that a call runs, or that make the formula's pairs "
               "dense, and\nhow the call is cut for them.");
}

} // namespace tilefold::python
