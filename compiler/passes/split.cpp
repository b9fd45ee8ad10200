// compiler/passes/split.cpp - splits a graph by axes.

#include "compiler/passes/split.h"

#include "compiler/ir/queries.h"
#include "compiler/ir/text.h"

#include <algorithm>
#include <functional>

namespace tilefold {
namespace {

using ir::Graph;
using ir::Node;
using ir::Op;
using ir::ValueId;

bool has_reduction(const Graph& graph) {
    return std::ranges::any_of(
        graph.nodes, [](const Node& node) { return node.op == Op::Reduce; });
}

/// Says which values are needed before the reductions: for the pair term, or
/// for a reduction.
std::vector<bool> needed_before(const Graph& graph) {
    const bool reduces = has_reduction(graph);
    std::vector<bool> needed(graph.nodes.size());
    needed[graph.result] = !reduces;
    for (std::size_t k = graph.nodes.size(); k-- > 0;)
        if (needed[k] || graph.nodes[k].op == Op::Reduce)
            for (ValueId input : graph.nodes[k].inputs())
                needed[input] = true;
    return needed;
}

/// Says which values the epilogue computes: all it needs but values on {} and
/// reductions.
std::vector<bool> needed_after(const Graph& graph,
                               const std::vector<bool>& after) {
    std::vector<bool> needed(graph.nodes.size());
    needed[graph.result] = has_reduction(graph);
    for (std::size_t k = graph.nodes.size(); k-- > 0;) {
        const Node& node = graph.nodes[k];
        const bool ends = node.op == Op::Reduce ||
                          (node.type.axes == Axes::None && !after[k]);
        needed[k] = needed[k] && !ends;
        if (needed[k])
            for (ValueId input : node.inputs())
                needed[input] = true;
    }
    return needed;
}

Split::Values* values_at(Split& split, Site site) {
    switch (site) {
    case Site::Call:
        return &split.call;
    case Site::Row:
        return &split.row;
    case Site::Column:
        return &split.column;
    case Site::Pair:
    case Site::After:
        return nullptr;
    }
    return nullptr;
}

class SplitPrinter {
public:
    explicit SplitPrinter(const Graph& graph) {
        const std::string text = ir::print(graph);
        for (std::size_t at = 0; at < text.size();) {
            const std::size_t end = text.find('\n', at);
            if (text[at] == '%')
                lines_.push_back(text.substr(at, end - at));
            at = end + 1;
        }
    }

    void add(std::string_view title, const std::vector<ValueId>& ids,
             const std::vector<ValueId>& crossing = {}) {
        if (ids.empty())
            return;
        text_.append(title).append("\n");
        for (ValueId id : ids)
            text_ += (std::ranges::count(crossing, id) ? "> " : "  ") +
                     lines_[id] + "\n";
    }

    std::string take() { return std::move(text_); }

private:
    std::vector<std::string> lines_;
    std::string text_;
};

} // namespace

std::string_view spelling_of(Site site) {
    switch (site) {
    case Site::Call:
        return "once a call";
    case Site::Row:
        return "once a row";
    case Site::Column:
        return "once a column";
    case Site::Pair:
        return "for each pair";
    case Site::After:
        return "after the reductions, once a row";
    }
    return "";
}

std::vector<Site> sites_of(const Graph& graph) {
    const std::vector<bool> after = after_reductions(graph);
    const std::vector<bool> before = needed_before(graph);
    const auto site = [&](ValueId id) {
        if (graph[id].op == Op::Reduce)
            return Site::Pair;
        if (after[id])
            return Site::After;
        switch (graph[id].type.axes) {
        case Axes::None:
            return Site::Call;
        case Axes::I:
            return before[id] ? Site::Row : Site::After;
        case Axes::J:
            return before[id] ? Site::Column : Site::After;
        case Axes::IJ:
            break;
        }
        return Site::Pair;
    };
    std::vector<Site> sites;
    for (ValueId id = 0; id < graph.nodes.size(); ++id)
        sites.push_back(site(id));
    return sites;
}

Split split(const Graph& graph) {
    const std::vector<Site> sites = sites_of(graph);
    const std::vector<bool> finish =
        needed_after(graph, after_reductions(graph));
    std::vector<bool> crosses(graph.nodes.size());
    for (ValueId id = 0; id < graph.nodes.size(); ++id)
        if (sites[id] == Site::Pair)
            for (ValueId input : graph[id].inputs())
                crosses[input] = true;
    Split result;
    std::vector<ValueId> reductions;
    for (ValueId id = 0; id < graph.nodes.size(); ++id) {
        if (finish[id])
            result.finish.push_back(id);
        if (Split::Values* values = values_at(result, sites[id])) {
            values->computed.push_back(id);
            if (crosses[id])
                values->crossing.push_back(id);
        } else if (sites[id] == Site::Pair) {
            const bool is_reduction = graph[id].op == Op::Reduce;
            (is_reduction ? reductions : result.pair).push_back(id);
        }
    }
    result.pair.insert(result.pair.end(), reductions.begin(), reductions.end());
    return result;
}

namespace {

/// Of each value whether it is a sum, perhaps times what no reduction is in.
std::vector<bool> multiples_of_sums(const Graph& graph) {
    const std::vector<bool> after = after_reductions(graph);
    std::vector<bool> multiples(graph.nodes.size());
    for (ValueId id = 0; id < graph.nodes.size(); ++id) {
        const Node& node = graph[id];
        const auto [a, b] = std::pair(node.operands[0], node.operands[1]);
        const auto kind = ir::Reduction(node.first);
        if (node.op == Op::Reduce)
            multiples[id] =
                kind == ir::Reduction::Sum || kind == ir::Reduction::Mean;
        else if (node.op == Op::Neg)
            multiples[id] = multiples[a];
        else if (node.op == Op::Mul || node.op == Op::Div)
            multiples[id] = (multiples[a] && !after[b]) ||
                            (multiples[b] && !after[a] && node.op == Op::Mul);
    }
    return multiples;
}

bool passes_size_on(Op op) {
    return op == Op::Add || op == Op::Sub || op == Op::Neg || op == Op::Abs ||
           op == Op::Where || op == Op::Minimum || op == Op::Maximum ||
           op == Op::Slice || op == Op::Concat || op == Op::CompSum;
}

/// Whether the value is a product of pairs, or made of such by sums, choices
/// and the like: it may be far smaller than what is multiplied.
bool is_of_products(const Graph& graph, ValueId value) {
    std::set<ValueId> seen;
    const std::function<bool(ValueId)> walk = [&](ValueId id) {
        const Node& node = graph[id];
        if (node.type.axes != Axes::IJ || !seen.insert(id).second)
            return false;
        return node.op == Op::Mul || node.op == Op::Div || node.op == Op::Dot ||
               node.op == Op::IntPow ||
               (passes_size_on(node.op) &&
                std::ranges::any_of(node.inputs(), walk));
    };
    return walk(value);
}

/// Whether a multiple of a sum is one of a sum of products.
bool is_of_sum_of_products(const Graph& graph,
                           const std::vector<bool>& multiples, ValueId id) {
    while (graph[id].op != Op::Reduce)
        id = *std::ranges::find_if(graph[id].inputs(), [&](ValueId operand) {
            return multiples[operand];
        });
    return std::ranges::any_of(graph[id].inputs(), [&](ValueId body) {
        return is_of_products(graph, body);
    });
}

} // namespace

Watched watched_values(const Graph& graph) {
    const std::vector<Site> sites = sites_of(graph);
    const std::vector<bool> multiples = multiples_of_sums(graph);
    Watched watched;
    for (ValueId id = 0; id < graph.nodes.size(); ++id) {
        const Node& node = graph[id];
        const bool multiplies =
            node.op == Op::Mul || node.op == Op::Div || node.op == Op::IntPow;
        if (!multiplies || sites[id] == Site::Pair ||
            kind_of(node.type.dtype) != DTypeKind::Float)
            continue;
        watched.products.insert(id);
        for (std::size_t k = 0; multiples[id] && k < node.arity; ++k)
            if (const ValueId sum = node.operands[k]; multiples[sum])
                watched.sums[id] = {
                    k, is_of_sum_of_products(graph, multiples, sum)};
    }
    return watched;
}

std::string print(const Split& split, const Graph& graph) {
    SplitPrinter printer(graph);
    printer.add(spelling_of(Site::Call), split.call.computed,
                split.call.crossing);
    printer.add(spelling_of(Site::Row), split.row.computed, split.row.crossing);
    printer.add(spelling_of(Site::Column), split.column.computed,
                split.column.crossing);
    printer.add(spelling_of(Site::Pair), split.pair);
    printer.add(spelling_of(Site::After), split.finish);
    return printer.take();
}

} // namespace tilefold
