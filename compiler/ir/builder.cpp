// compiler/ir/builder.cpp - grows a graph; equal values are made once.
//
// Two values are the same where op, attributes and operands are. Literals are
// run-time numbers with a slot each; as operands they also count as the same
// where their values are equal, so that a kernel written twice in a formula is
// computed once. A value made of literals only is never merged that way: in a
// loop over constants the graph must keep its text.

#include "compiler/ir/ir.h"

#include <algorithm>
#include <bit>
#include <map>

namespace tilefold::ir {
namespace {

void mix(std::uint64_t& hash, std::uint64_t word) {
    hash = (hash ^ word) * 0x9e3779b97f4a7c15ull;
    hash ^= hash >> 29;
}

bool is_leaf_on_axes(Op op) {
    return op == Op::Argument || op == Op::Index;
}

bool same_attributes(const Node& a, const Node& b) {
    return a.op == b.op && a.arity == b.arity && a.second == b.second &&
           a.third == b.third && a.pairs == b.pairs &&
           std::bit_cast<std::uint64_t>(a.value) ==
               std::bit_cast<std::uint64_t>(b.value) &&
           (a.first == b.first || a.op == Op::Literal) &&
           (!is_leaf_on_axes(a.op) || a.type.axes == b.type.axes) &&
           equal(a.fold, b.fold);
}

/// Returns the values that `root` reaches, operands before users, in the order
/// of first use.
std::vector<ValueId> reached_from(const Graph& graph, ValueId root) {
    std::vector<ValueId> order;
    std::vector<bool> seen(graph.nodes.size());
    std::vector<std::pair<ValueId, std::size_t>> path{{root, 0}};
    seen[root] = true;
    while (!path.empty()) {
        auto& [id, next] = path.back();
        const auto inputs = graph[id].inputs();
        if (next == inputs.size()) {
            order.push_back(id);
            path.pop_back();
        } else if (const ValueId input = inputs[next++]; !seen[input]) {
            seen[input] = true;
            path.emplace_back(input, 0);
        }
    }
    return order;
}

/// The number that `old` gets when numbers are given by first use.
std::int64_t renumber(std::map<std::int64_t, std::int64_t>& numbers,
                      std::int64_t old) {
    return numbers.emplace(old, std::int64_t(numbers.size())).first->second;
}

template <typename Table>
void permute(Table& table,
             const std::map<std::int64_t, std::int64_t>& numbers) {
    Table kept(numbers.size());
    for (auto [old, number] : numbers)
        kept[std::size_t(number)] = std::move(table[std::size_t(old)]);
    table = std::move(kept);
}

/// Returns `graph` with only the values in `order`, numbered in that order.
Graph keep(Graph graph, const std::vector<ValueId>& order) {
    std::vector<ValueId> places(graph.nodes.size(), no_value);
    std::map<std::int64_t, std::int64_t> arguments, literals;
    std::vector<Node> nodes;
    for (ValueId id : order) {
        Node node = graph[id];
        for (std::size_t k = 0; k < node.arity; ++k)
            node.operands[k] = places[node.operands[k]];
        if (node.op == Op::Argument)
            node.first = renumber(arguments, node.first);
        if (node.op == Op::Literal)
            node.first = renumber(literals, node.first);
        places[id] = ValueId(nodes.size());
        nodes.push_back(node);
    }
    permute(graph.arguments, arguments);
    permute(graph.literals, literals);
    graph.nodes = std::move(nodes);
    return graph;
}

void set_argument_axes(Graph& graph) {
    for (Argument& argument : graph.arguments)
        argument.axes = Axes::None;
    for (const Node& node : graph.nodes)
        if (node.op == Op::Argument) {
            Argument& argument = graph.arguments[std::size_t(node.first)];
            argument.axes = argument.axes | node.type.axes;
        }
}

} // namespace

Builder::Builder(DType real, std::string formula)
    : formula_(std::move(formula)) {
    graph_.real = real;
}

std::uint64_t Builder::hash_of(const Node& node) const {
    std::uint64_t hash = std::uint64_t(node.op);
    if (node.op == Op::Literal) {
        mix(hash, std::bit_cast<std::uint64_t>(
                      graph_.literals[std::size_t(node.first)]));
        return hash;
    }
    for (std::int64_t word : {node.first, node.second, node.third})
        mix(hash, std::uint64_t(word));
    mix(hash, std::bit_cast<std::uint64_t>(node.value));
    mix(hash, std::uint64_t(node.pairs));
    for (ValueId id : node.inputs())
        mix(hash, alike_[id]);
    return hash;
}

/// With `by_value`, literals are compared by their values, not by their slots.
ValueId Builder::find(const Node& node, std::uint64_t hash,
                      bool by_value) const {
    const auto same = [&](ValueId a, ValueId b) {
        return by_value ? alike_[a] == alike_[b] : a == b;
    };
    const auto same_literal = [&](const Node& other) {
        return by_value ? graph_.literals[std::size_t(node.first)] ==
                              graph_.literals[std::size_t(other.first)]
                        : node.first == other.first;
    };
    ValueId found = no_value;
    const auto [begin, end] = interned_.equal_range(hash);
    for (auto entry = begin; entry != end; ++entry) {
        const Node& other = graph_[entry->second];
        const auto inputs = node.inputs(), others = other.inputs();
        if (same_attributes(node, other) &&
            (node.op != Op::Literal || same_literal(other)) &&
            std::equal(inputs.begin(), inputs.end(), others.begin(), same))
            found = std::min(found, entry->second);
    }
    return found;
}

ValueId Builder::add(Node node) {
    // Passes leave values behind that finish() drops.
    if (graph_.nodes.size() >= 16 * most_nodes)
        fail(Code::TooLarge, {formula_, node.span},
             {std::to_string(most_nodes)});
    graph_.nodes.push_back(node);
    return ValueId(graph_.nodes.size() - 1);
}

ValueId Builder::intern(Node node) {
    const std::uint64_t hash = hash_of(node);
    if (const ValueId same = find(node, hash, false); same != no_value)
        return same;
    const auto inputs = node.inputs();
    const auto is_literal = [&](ValueId id) { return bool(literal_[id]); };
    const bool literal =
        node.op == Op::Literal || node.op == Op::Constant ||
        (node.arity > 0 &&
         std::all_of(inputs.begin(), inputs.end(), is_literal));
    const ValueId alike = find(node, hash, true);
    if (alike != no_value && !literal)
        return alike;
    const ValueId id = add(node);
    interned_.emplace(hash, id);
    alike_.push_back(alike == no_value ? id : alike);
    literal_.push_back(literal);
    return id;
}

ValueId Builder::argument(const Argument& argument, Axes read_on, Span span) {
    auto& arguments = graph_.arguments;
    auto place = std::find_if(
        arguments.begin(), arguments.end(),
        [&](const Argument& other) { return other.name == argument.name; });
    if (place == arguments.end())
        place = arguments.insert(place, argument);
    Node node;
    node.op = Op::Argument;
    node.first = place - arguments.begin();
    node.type.axes = read_on;
    node.span = span;
    node.type = infer_type(graph_, node, formula_);
    return intern(node);
}

ValueId Builder::literal(double value, Span span) {
    Node node;
    node.op = Op::Literal;
    node.first = std::int64_t(graph_.literals.size());
    node.span = span;
    node.type = infer_type(graph_, node);
    graph_.literals.push_back(value);
    return intern(node);
}

ValueId Builder::whole(ValueId value, bool negated) {
    Node node = graph_[value];
    node.second = negated ? -1 : 1;
    return rebuild(node, {});
}

ValueId Builder::constant(double value) {
    Node node;
    node.op = Op::Constant;
    node.value = value;
    node.type = infer_type(graph_, node);
    return intern(node);
}

ValueId Builder::whole_constant(double value) {
    return whole(constant(value), false);
}

ValueId Builder::index(Axes axis, Span span) {
    Node node;
    node.op = Op::Index;
    node.type.axes = axis;
    node.span = span;
    node.type = infer_type(graph_, node);
    return intern(node);
}

ValueId Builder::rebuild(const Node& node, std::span<const ValueId> operands) {
    Node copy = node;
    copy.arity = std::uint8_t(operands.size());
    copy.operands.fill(no_value);
    std::copy(operands.begin(), operands.end(), copy.operands.begin());
    copy.type = infer_type(graph_, copy, formula_);
    return intern(copy);
}

void Builder::adopt(const Graph& graph) {
    graph_.arguments = graph.arguments;
    graph_.literals = graph.literals;
}

std::vector<ValueId> Builder::rebuild(const Graph& graph,
                                      const std::function<Node(Node)>& change) {
    adopt(graph);
    std::vector<ValueId> made;
    for (const Node& node : graph.nodes) {
        std::vector<ValueId> operands;
        for (ValueId input : node.inputs())
            operands.push_back(made[input]);
        made.push_back(rebuild(change ? change(node) : node, operands));
    }
    return made;
}

ValueId Builder::apply(Op op, std::span<const ValueId> operands, Span span) {
    if (!has_row(op) || int(operands.size()) != row_of(op).arity)
        internal_error("apply() of " + std::string(mnemonic(op)) + " to " +
                       std::to_string(operands.size()) + " operands");
    Node node;
    node.op = op;
    node.span = span;
    return rebuild(node, operands);
}

ValueId Builder::apply(Op op, std::initializer_list<ValueId> operands,
                       Span span) {
    return apply(op, std::span(operands.begin(), operands.size()), span);
}

ValueId Builder::int_pow(ValueId base, std::int64_t exponent, Span span) {
    Node node;
    node.op = Op::IntPow;
    node.first = exponent;
    node.span = span;
    return rebuild(node, std::span(&base, 1));
}

ValueId Builder::slice(ValueId value, std::int64_t first, std::int64_t last,
                       bool scalar, Span span) {
    Node node;
    node.op = Op::Slice;
    node.first = first;
    node.second = last;
    node.third = scalar;
    node.span = span;
    return rebuild(node, std::span(&value, 1));
}

ValueId Builder::concat(ValueId a, ValueId b, Span span) {
    Node node;
    node.op = Op::Concat;
    node.span = span;
    const ValueId operands[] = {a, b};
    return rebuild(node, operands);
}

ValueId Builder::complex(ValueId real, ValueId imaginary, Span span) {
    Node node;
    node.op = Op::Complex;
    node.span = span;
    const ValueId operands[] = {real, imaginary};
    return rebuild(node, operands);
}

ValueId Builder::unsigned_parts(const std::array<ValueId, 3>& parts,
                                Span span) {
    Node node;
    node.op = Op::Unsigned;
    node.span = span;
    return rebuild(node, parts);
}

ValueId Builder::broadcast(ValueId value, std::int64_t components, Span span) {
    Node node;
    node.op = Op::Broadcast;
    node.first = components;
    node.span = span;
    return rebuild(node, std::span(&value, 1));
}

ValueId Builder::iota(std::int64_t components, Span span) {
    Node node;
    node.op = Op::Iota;
    node.first = components;
    node.span = span;
    return rebuild(node, {});
}

ValueId Builder::reduce(Reduction reduction, Axes axes,
                        std::span<const ValueId> operands, std::int64_t k,
                        Span span, Pairs pairs) {
    Node node;
    node.op = Op::Reduce;
    node.first = std::int64_t(reduction);
    node.second = std::int64_t(axes);
    node.third = k;
    node.pairs = pairs;
    node.span = span;
    return rebuild(node, operands);
}

ValueId Builder::fold(std::shared_ptr<const Fold> fold, Axes axes,
                      std::span<const ValueId> operands, Span span,
                      Pairs pairs) {
    Node node;
    node.op = Op::Reduce;
    node.pairs = pairs;
    node.first = std::int64_t(Reduction::Fold);
    node.second = std::int64_t(axes);
    node.fold = std::move(fold);
    node.span = span;
    return rebuild(node, operands);
}

Graph Builder::finish(ValueId result) {
    const std::vector<ValueId> order = reached_from(graph_, result);
    if (order.size() > most_nodes)
        fail(Code::TooLarge, {formula_, {}}, {std::to_string(most_nodes)});
    Graph graph = keep(std::move(graph_), order);
    graph.result = ValueId(graph.nodes.size() - 1);
    set_argument_axes(graph);
    return graph;
}

} // namespace tilefold::ir
