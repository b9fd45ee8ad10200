// python_bindings/bind_program.cpp - the graphs of a call as data of Python.
#include "python_bindings/bind_program.h"

#include "compiler/ir/text.h"
#include "python_bindings/text_caster.h"
#include "runtime/session/graphs.h"

#include <string>
#include <vector>

namespace tilefold::python {

namespace {

std::string text_in(std::string_view text) {
    return std::string(text);
}

/// (dtype, rank, axes, rows, columns)
nb::tuple type_of_value(const Type& type) {
    return nb::make_tuple(text_in(spelling_of(type.dtype)), int(type.rank),
                          int(type.axes), type.rows, type.columns);
}

nb::dict data_of(const ir::Graph& graph);

/// (op, operands, (first, second, third), value, type, more): of a reduction
/// `more` is (its spelling, pairs, the fold's two graphs or None).
nb::tuple data_of(const ir::Node& node) {
    nb::list operands;
    for (const ir::ValueId id : node.inputs())
        operands.append(id);
    nb::object more = nb::none();
    if (node.op == ir::Op::Reduce) {
        nb::object fold = nb::none();
        if (node.fold)
            fold = nb::make_tuple(data_of(node.fold->accumulate),
                                  data_of(node.fold->merge));
        more = nb::make_tuple(
            text_in(ir::row_of(ir::Reduction(node.first)).spelling),
            text_in(ir::spelling_of(node.pairs)), fold);
    }
    return nb::make_tuple(text_in(ir::mnemonic(node.op)), nb::tuple(operands),
                          nb::make_tuple(node.first, node.second, node.third),
                          node.value, type_of_value(node.type), more);
}

nb::dict data_of(const ir::Graph& graph) {
    nb::list arguments, literals, nodes;
    for (const ir::Argument& argument : graph.arguments)
        arguments.append(nb::make_tuple(argument.name, int(argument.axes)));
    for (const double literal : graph.literals)
        literals.append(literal);
    for (const ir::Node& node : graph.nodes)
        nodes.append(data_of(node));
    nb::dict data;
    data["real"] = text_in(spelling_of(graph.real));
    data["arguments"] = arguments;
    data["literals"] = literals;
    data["nodes"] = nodes;
    data["result"] = graph.result;
    return data;
}

nb::dict data_of(const FormulaGraphs& graphs) {
    nb::list sweeps, results;
    for (const Sweep& sweep : graphs.sweeps) {
        nb::dict data = data_of(sweep.graph);
        nb::list parts;
        for (const SweepPart& part : sweep.parts)
            parts.append(nb::make_tuple(part.name, part.first,
                                        type_of_value(part.type)));
        data["leaves"] = parts;
        sweeps.append(data);
    }
    for (std::size_t r = 0; r < graphs.results.size(); ++r)
        results.append(nb::make_tuple(graphs.results[r].sweep,
                                      graphs.results[r].part, graphs.labels[r],
                                      type_of_value(graphs.types[r])));
    nb::dict data;
    data["sweeps"] = sweeps;
    data["results"] = results;
    return data;
}

nb::dict program(const FormulaHandle& handle, nb::dict arguments,
                 nb::dict settings, bool chosen) {
    Call call;
    call.read(arguments.ptr(), settings.ptr());
    return data_of(
        graphs_of(formula_for(handle, call), call.arguments.views(), chosen));
}

} // namespace

void bind_program(nb::class_<FormulaHandle>& formula) {
    formula.def("_program", &program, nb::arg("arguments"), nb::arg("settings"),
                nb::arg("chosen") = false,
                nb::sig("def _program(self, arguments: "
                        "dict[str, typing.Any], settings: "
                        "dict[str, typing.Any], chosen: bool = False) -> "
                        "dict[str, typing.Any]"));
}

} // namespace tilefold::python
