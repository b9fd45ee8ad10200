// compiler/backends/cuda/sites/registers.cpp - the records of a graph's values.

#include "compiler/backends/cuda/sites/registers.h"

#include "compiler/backends/cuda/sites/bounded.h"
#include "compiler/ir/queries.h"
#include "compiler/passes/dynamic_width.h"

#include <algorithm>

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

/// Members of the record are in the order of their places.
void add_constants(Registers& registers) {
    const Graph& graph = registers.graph;
    const Placement& placement = registers.placement;
    std::vector<std::pair<std::int64_t, ValueId>> places;
    for (const auto& [id, offset] : placement.constants)
        places.emplace_back(offset, id);
    std::ranges::sort(places);
    for (const auto& [offset, id] : places) {
        const Type& type = graph[id].type;
        Constant constant{id, kind_read(graph, id, placement.exact),
                          length_of(type), offset, 0};
        constant.field = registers.constants_record.add(
            name_of(graph, id), constant.kind, constant.length,
            constant.in_memory());
        registers.constants.push_back(constant);
    }
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

/// Returns the vectors that the loops over tiles bring themselves.
std::vector<ValueId> brought_vectors(const Registers& registers) {
    std::vector<ValueId> vectors;
    if (registers.product)
        vectors = {registers.product->left, registers.product->right};
    if (registers.wide)
        vectors.push_back(registers.wide->value);
    return vectors;
}

void add_points(const Graph& graph, const std::vector<ValueId>& crossing,
                const std::vector<ValueId>& elsewhere, PointRecord& points) {
    for (ValueId id : crossing)
        if (!std::ranges::count(elsewhere, id))
            points.fields[id] =
                points.record.add(name_of(graph, id), packed_kind(graph, id),
                                  length_of(graph[id].type));
}

} // namespace

Registers place_registers(Graph of, const TileProducts& by_tiles) {
    Registers registers;
    const bool has_tiles = by_tiles.multiply || by_tiles.widen;
    registers.graph = has_tiles ? std::move(of) : bounded(of);
    const Graph& graph = registers.graph;
    if (by_tiles.multiply)
        registers.product = find_product(graph);
    if (by_tiles.widen)
        registers.wide = find_wide(graph);
    registers.placement = place_values(graph, !ir::reduces(graph));
    const std::vector<ValueId> elsewhere = brought_vectors(registers);
    add_points(graph, registers.placement.rows.crossing, elsewhere,
               registers.row);
    add_points(graph, registers.placement.columns.crossing, elsewhere,
               registers.column);
    add_constants(registers);
    for (ValueId id : registers.placement.reductions)
        registers.reductions.push_back(
            lower_reduction(graph, id, registers.partial, registers.state));
    return registers;
}

const Constant* Registers::constant(ValueId id) const {
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

bool folds_blocks(const Graph& graph) {
    return folds_rows(graph) && !chooses_pairs(graph);
}

Graph of_width(const Graph& graph, std::int32_t width) {
    const std::int32_t open = open_argument(graph);
    return open < 0 ? graph : with_width(graph, std::size_t(open), width);
}

} // namespace tilefold::cuda
