// compiler/backends/cuda/sites/sites.cpp - split by axes, as the kernels need
// it.

#include "compiler/backends/cuda/sites/sites.h"

#include "compiler/ir/exact.h"
#include "compiler/ir/queries.h"

#include <algorithm>
#include <set>

namespace tilefold::cuda {
namespace {

using ir::Graph;
using ir::Node;
using ir::Op;
using ir::ValueId;

Kind kind_read(const Graph& graph, ValueId id, const std::set<ValueId>& exact) {
    const DType dtype = graph[id].type.dtype;
    const bool rounds = dtype == DType::F64 && !exact.count(id);
    return kind_of_value(rounds ? graph.real : dtype);
}

void place_constants(const Graph& graph, Sites& sites) {
    const std::set<ValueId> exact = exact_constants(graph);
    const auto on_call = [&](ValueId id) {
        const Op op = graph[id].op;
        return graph[id].type.axes == Axes::None && op != Op::Constant &&
               op != Op::Iota && op != Op::Reduce;
    };
    const auto place = [&](ValueId id) {
        if (!on_call(id) || sites.constant(id))
            return;
        const Type& type = graph[id].type;
        Constant constant{id, kind_read(graph, id, exact), length_of(type),
                          sites.constants_size, 0};
        constant.field =
            sites.constants_record.add(name_of(graph, id), constant.kind,
                                       constant.length, constant.in_memory());
        sites.constants_size += components_of(type);
        sites.constants.push_back(constant);
    };
    const std::vector<bool> after = after_reductions(graph);
    for (ValueId id = 0; id < graph.nodes.size(); ++id)
        if (!on_call(id) || after[id])
            for (ValueId operand : graph[id].inputs())
                if (!after[operand])
                    place(operand);
    if (!after[graph.result])
        place(graph.result);
}

/// Whether an operation turns an integer operand into its own real dtype.
bool converts(const Node& node) {
    if (!has_row(node.op) || kind_of(node.type.dtype) != DTypeKind::Float)
        return false;
    switch (row_of(node.op).result) {
    case ir::ResultRule::Real:
    case ir::ResultRule::Exact:
    case ir::ResultRule::Affine:
        return true;
    case ir::ResultRule::Compare:
    case ir::ResultRule::Logic:
    case ir::ResultRule::Select:
    case ir::ResultRule::Whole:
    case ir::ResultRule::Gathered:
        return false;
    }
    return false;
}

/// Integers that pairs meet only as reals of one dtype are packed as such.
Kind packed_kind(const Graph& graph, ValueId id) {
    const Kind own = kind_of_value(graph[id].type.dtype);
    std::optional<Kind> met;
    for (const Node& node : graph.nodes) {
        const bool is_pair =
            node.op == Op::Reduce || node.type.axes == Axes::IJ;
        if (!is_pair || !std::ranges::count(node.inputs(), id))
            continue;
        const Kind kind = converts(node) ? kind_of_value(node.type.dtype) : own;
        if (met && *met != kind)
            return own;
        met = kind;
    }
    return own == Kind::Long && met ? *met : own;
}

void pack(const Graph& graph, const std::vector<ValueId>& crossing,
          Packed& packed) {
    for (ValueId id : crossing)
        if (!packed.fields.count(id)) {
            const Type& type = graph[id].type;
            packed.fields[id] = packed.record.add(
                name_of(graph, id), packed_kind(graph, id), length_of(type));
        }
}

} // namespace

Sites::Sites(const Graph& graph, const std::vector<ValueId>& elsewhere) {
    Split parts = split(graph);
    for (Split::Site* site : {&parts.row, &parts.column})
        std::erase_if(site->crossing, [&](ValueId id) {
            return std::ranges::count(elsewhere, id) > 0;
        });
    for (ValueId id : parts.pair)
        if (graph[id].op == Op::Reduce) {
            reductions.push_back(id);
            folds_rows = Axes(graph[id].second) == Axes::IJ;
        }
    if (reductions.empty()) {
        const Axes axes = graph[graph.result].type.axes;
        if (axes == Axes::I)
            parts.row.crossing.push_back(graph.result);
        if (axes == Axes::J)
            parts.column.crossing.push_back(graph.result);
    }
    pack(graph, parts.row.crossing, row);
    pack(graph, parts.column.crossing, column);
    place_constants(graph, *this);
}

const Constant* Sites::constant(ValueId id) const {
    const auto place = std::ranges::find(constants, id, &Constant::id);
    return place == constants.end() ? nullptr : &*place;
}

std::int64_t length_of(const Type& type) {
    return type.rank == 0 ? 0 : components_of(type);
}

std::string name_of(const Graph& graph, ValueId id) {
    const Node& node = graph[id];
    if (node.op == Op::Argument)
        return identifier(graph.arguments[std::size_t(node.first)].name);
    if (node.op == Op::Index)
        return std::string(spelling_of(node.type.axes));
    return std::string(ir::mnemonic(node.op)) + "_" + std::to_string(id);
}

} // namespace tilefold::cuda
