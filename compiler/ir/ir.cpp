// compiler/ir/ir.cpp - the rows of ops.def, monoids.def and reductions.def as
// tables, and equality of graphs.

#include "compiler/ir/ir.h"

#include <algorithm>
#include <cctype>
#include <iterator>
#include <limits>

namespace tilefold::ir {
namespace {

constexpr OpRow op_rows[] = {
#define OP(name, spelling, keops, arity, shape, result, range, cost, where,    \
           slope, partials, tangents, doc)                                     \
    {#name,                                                                    \
     spelling,                                                                 \
     keops,                                                                    \
     arity,                                                                    \
     ShapeRule::shape,                                                         \
     ResultRule::result,                                                       \
     RangeRule::range,                                                         \
     cost,                                                                     \
     Continuity::where,                                                        \
     Slope::slope,                                                             \
     partials,                                                                 \
     tangents,                                                                 \
     doc},
#include "compiler/ir/ops.def"
#undef OP
};

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

constexpr MonoidRow monoid_rows[] = {
#define MONOID(name, family, field, identity, scalars, slots, doc)             \
    {MonoidFamily::family, field, identity, scalars, slots},
#include "compiler/ir/monoids.def"
#undef MONOID
};

constexpr ReductionRow reduction_rows[] = {
#define REDUCTION(name, spelling, keops, least, most, monoid, result, finish,  \
                  empty, adjoints, tangents, doc)                              \
    {#name,                                                                    \
     spelling,                                                                 \
     keops,                                                                    \
     least,                                                                    \
     most,                                                                     \
     Monoid::monoid,                                                           \
     ReductionResult::result,                                                  \
     Finish::finish,                                                           \
     empty,                                                                    \
     adjoints,                                                                 \
     tangents,                                                                 \
     doc},
#include "compiler/ir/reductions.def"
#undef REDUCTION
};

/// Leaves and structure come before the rows of ops.def.
constexpr std::string_view structure[] = {
    "argument", "literal",   "constant", "index",     "intpow",
    "slice",    "submatrix", "concat",   "broadcast", "complex",
    "unsigned", "iota",      "reduce",
};
constexpr std::size_t first_row = std::size(structure);
static_assert(std::size_t(Op::Reduce) + 1 == first_row);

std::string lower_case(std::string_view name) {
    std::string text(name);
    std::transform(text.begin(), text.end(), text.begin(),
                   [](unsigned char c) { return char(std::tolower(c)); });
    return text;
}

std::vector<std::string> lower_case_names() {
    std::vector<std::string> names;
    for (const OpRow& row : op_rows)
        names.push_back(lower_case(row.name));
    return names;
}

bool equal(const Node& a, const Node& b) {
    return a.op == b.op && a.arity == b.arity && a.operands == b.operands &&
           a.first == b.first && a.second == b.second && a.third == b.third &&
           a.pairs == b.pairs &&
           (a.value == b.value || (a.value != a.value && b.value != b.value)) &&
           equal(a.fold, b.fold) && a.type == b.type;
}

} // namespace

bool equal(const std::shared_ptr<const Fold>& a,
           const std::shared_ptr<const Fold>& b) {
    if (!a || !b || a == b)
        return a == b;
    return equal(a->accumulate, b->accumulate) && equal(a->merge, b->merge);
}

std::optional<std::size_t> find_argument(const Graph& graph,
                                         std::string_view name) {
    const auto place =
        std::ranges::find(graph.arguments, name, &Argument::name);
    if (place == graph.arguments.end())
        return std::nullopt;
    return std::size_t(place - graph.arguments.begin());
}

Node exchanged(Node node) {
    if (node.arity == 0)
        node.type.axes = tilefold::exchanged(node.type.axes);
    if (node.op == Op::Reduce)
        node.second = std::int64_t(tilefold::exchanged(Axes(node.second)));
    if (node.pairs != Pairs::All)
        node.pairs = node.pairs == Pairs::Chosen ? Pairs::ChosenTransposed
                                                 : Pairs::Chosen;
    return node;
}

std::vector<bool> reached(const Graph& graph, std::span<const ValueId> roots,
                          const std::function<bool(ValueId)>& stops) {
    std::vector<bool> wanted(graph.nodes.size());
    for (ValueId root : roots)
        if (root != no_value)
            wanted[root] = true;
    for (std::size_t id = wanted.size(); id-- > 0;)
        if (wanted[id] && !(stops && stops(ValueId(id))))
            for (ValueId input : graph.nodes[id].inputs())
                wanted[input] = true;
    return wanted;
}

bool has_row(Op op) {
    return std::size_t(op) >= first_row;
}

const OpRow& row_of(Op op) {
    if (!has_row(op))
        internal_error("no row in ops.def");
    return op_rows[std::size_t(op) - first_row];
}

bool is_elementwise(Op op) {
    return op == Op::IntPow ||
           (has_row(op) && row_of(op).shape == ShapeRule::Elementwise);
}

const MonoidRow& row_of(Monoid monoid) {
    return monoid_rows[std::size_t(monoid)];
}

const ReductionRow& row_of(Reduction reduction) {
    return reduction_rows[std::size_t(reduction)];
}

std::span<const OpRow> all_op_rows() {
    return op_rows;
}

std::span<const ReductionRow> all_reduction_rows() {
    return reduction_rows;
}

Op op_of_row(std::size_t row) {
    return Op(first_row + row);
}

std::string_view mnemonic(Op op) {
    static const std::vector<std::string> names = lower_case_names();
    return has_row(op) ? std::string_view(names[std::size_t(op) - first_row])
                       : structure[std::size_t(op)];
}

std::string_view spelling_of(Pairs pairs) {
    constexpr std::string_view spellings[] = {"all", "chosen", "transposed"};
    return spellings[std::size_t(pairs)];
}

std::string spelling_of_reduction(const Node& node) {
    const std::string_view stem = node.fold
                                      ? node.fold->spelling
                                      : row_of(Reduction(node.first)).spelling;
    return std::string(stem) + "_" +
           std::string(tilefold::spelling_of(Axes(node.second)));
}

bool equal(const Graph& a, const Graph& b) {
    return a.real == b.real && a.arguments == b.arguments &&
           a.literals.size() == b.literals.size() && a.result == b.result &&
           std::equal(a.nodes.begin(), a.nodes.end(), b.nodes.begin(),
                      b.nodes.end(),
                      [](const Node& x, const Node& y) { return equal(x, y); });
}

} // namespace tilefold::ir
