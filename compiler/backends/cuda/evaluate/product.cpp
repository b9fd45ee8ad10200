// compiler/backends/cuda/evaluate/product.cpp - finds the product of a pair
// term, and writes the functions that bring its vectors.

#include "compiler/backends/cuda/evaluate/product.h"

#include "compiler/ir/queries.h"

#include <algorithm>
#include <functional>

namespace tilefold::cuda {
namespace {

using ir::Graph;
using ir::Node;
using ir::Op;
using ir::ValueId;

bool is_pair(const Node& node) {
    return node.op == Op::Reduce || node.type.axes == Axes::IJ;
}

} // namespace

bool is_cheap(const Graph& graph, ValueId id) {
    const Node& node = graph[id];
    if (ir::is_contraction(node.op) || node.op == Op::Concat ||
        node.op == Op::Cross)
        return false;
    return std::ranges::all_of(node.inputs(), [&](ValueId input) {
        return graph[input].type.axes == Axes::None || is_cheap(graph, input);
    });
}

bool is_read_by_pairs(const Graph& graph, ValueId id, ValueId but) {
    for (ValueId user = 0; user < graph.nodes.size(); ++user)
        if (user != but && is_pair(graph[user]) &&
            std::ranges::count(graph[user].inputs(), id))
            return true;
    return false;
}

DType stored_dtype(const Graph& graph, ValueId id) {
    const Node& node = graph[id];
    return node.op == Op::Argument
               ? graph.arguments[std::size_t(node.first)].dtype
               : DType::F32;
}

namespace {

/// Whether all that becomes of a value is a factor of an exponent.
bool ends_in_exponents(const Graph& graph, ValueId id) {
    for (ValueId user = 0; user < graph.nodes.size(); ++user) {
        const Node& node = graph[user];
        if (!std::ranges::count(node.inputs(), id))
            continue;
        if (node.op == Op::Exp || node.op == Op::Exp2)
            continue;
        const bool scales =
            node.op == Op::Mul && node.operands[0] != node.operands[1];
        if (!scales || !ends_in_exponents(graph, user))
            return false;
    }
    return true;
}

std::optional<Product> product_at(const Graph& graph, ValueId id) {
    const Node& node = graph[id];
    const bool meets = node.op == Op::Dot || node.op == Op::SqDist;
    if (!meets || node.type.axes != Axes::IJ || node.type.dtype != DType::F32)
        return std::nullopt;
    Product product;
    product.id = id;
    product.left = node.operands[0];
    product.right = node.operands[1];
    if (graph[product.left].type.axes == Axes::J)
        std::swap(product.left, product.right);
    const Type& left = graph[product.left].type;
    const Type& right = graph[product.right].type;
    const bool fits = left.axes == Axes::I && right.axes == Axes::J &&
                      left.rank == 1 && right.rank == 1 &&
                      left.dtype == DType::F32 && right.dtype == DType::F32;
    const bool alone = fits && !is_read_by_pairs(graph, product.left, id) &&
                       !is_read_by_pairs(graph, product.right, id);
    if (!alone || !is_cheap(graph, product.left) ||
        !is_cheap(graph, product.right))
        return std::nullopt;
    product.components = left.rows;
    product.is_distance = node.op == Op::SqDist;
    product.left_dtype = stored_dtype(graph, product.left);
    product.right_dtype = stored_dtype(graph, product.right);
    product.may_be_negative =
        !product.is_distance || ends_in_exponents(graph, id);
    return product;
}

Signature component_of(const PointAddress& address, const std::string& result,
                       const std::string& name) {
    return {result,
            name,
            {{"Call", By::Constant, "call"},
             {"Constants", By::Constant, "constants"},
             {"Place", By::Constant, "place"},
             {address.record().name(), By::Constant, "address"},
             {"int", By::Value, "d"}}};
}

Code component() {
    return {Kind::Int, "d"};
}

void write_one(Writer& writer, const Graph& graph, const Sites& sites,
               const PointAddress& address, ValueId vector,
               const std::string& side, std::int32_t open) {
    writer.function(component_of(address, "float", side + "_component"), [&] {
        const PointReader reader(graph, writer, address, open);
        const Leaves leaves = [&](ValueId id,
                                  const Component& at) -> std::optional<Code> {
            if (auto constant = read_constant(sites, id, at))
                return constant;
            return reader.read(id, at);
        };
        Values values(graph, writer, leaves);
        writer.give(as(Kind::Float, values.value(vector, {0, component()})));
    });
}

/// An argument of floats is loaded as it lies.
void write_four(Writer& writer, const Graph& graph, const PointAddress& address,
                ValueId vector, const std::string& side, std::int32_t open) {
    const Node& node = graph[vector];
    const DType stored = stored_dtype(graph, vector);
    const bool lies_so = node.op == Op::Argument &&
                         kind_of(stored) == DTypeKind::Float &&
                         stored != DType::F64;
    writer.function(component_of(address, "Four", side + "_four"), [&] {
        const PointReader reader(graph, writer, address, open);
        if (lies_so && node.first != open)
            return writer.give(reader.load_four(vector, component()));
        if (lies_so)
            writer.when(reader.has_four(component()), [&] {
                writer.give(reader.load_four(vector, component()));
            });
        const Code four = writer.declare("Four", "four");
        writer.loop("q", 4, [&](const Code& q) {
            writer.set(
                element(Kind::Float, member(Kind::Object, four, "at"), q),
                call(Kind::Float, side + "_component",
                     {object("call"), object("constants"), object("place"),
                      object("address"), component() + q}));
        });
        writer.give(four);
    });
}

} // namespace

void write_components(Writer& writer, const Graph& graph, const Sites& sites,
                      const PointAddress& address, ValueId vector,
                      const std::string& side, std::int32_t open) {
    write_one(writer, graph, sites, address, vector, side, open);
    write_four(writer, graph, address, vector, side, open);
}

void write_stored(Writer& writer, const Graph& graph,
                  const PointAddress& address, ValueId vector,
                  const std::string& side, std::int32_t open) {
    const Signature signature{
        "Stored",
        side + "_stored",
        {{"Call", By::Constant, "call"},
         {"Place", By::Constant, "place"},
         {address.record().name(), By::Constant, "address"}}};
    writer.function(signature, [&] {
        const PointReader reader(graph, writer, address, open);
        writer.give(reader.stored(vector));
    });
}

std::optional<Product> find_product(const Graph& graph) {
    std::optional<Product> longest;
    if (graph.real != DType::F32)
        return longest;
    for (ValueId id = 0; id < graph.nodes.size(); ++id) {
        const auto product = product_at(graph, id);
        if (product && (!longest || product->components > longest->components))
            longest = product;
    }
    return longest;
}

} // namespace tilefold::cuda
