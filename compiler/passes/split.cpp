// compiler/passes/split.cpp - splits a graph by axes.

#include "compiler/passes/split.h"

#include "compiler/ir/queries.h"
#include "compiler/ir/text.h"

#include <algorithm>

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

/// What is needed before the reductions: for the pair term, for a reduction.
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

/// What the epilogue computes: all it needs but values on {} and reductions.
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

Split::Site* site_of(Split& split, Axes axes) {
    switch (axes) {
    case Axes::None:
        return &split.call;
    case Axes::I:
        return &split.row;
    case Axes::J:
        return &split.column;
    case Axes::IJ:
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

Split split(const Graph& graph) {
    const std::vector<bool> after = after_reductions(graph);
    const std::vector<bool> before = needed_before(graph);
    const std::vector<bool> finish = needed_after(graph, after);
    std::vector<bool> crosses(graph.nodes.size());
    for (ValueId id = 0; id < graph.nodes.size(); ++id)
        if (graph[id].op == Op::Reduce ||
            (before[id] && graph[id].type.axes == Axes::IJ))
            for (ValueId input : graph[id].inputs())
                crosses[input] = true;
    Split result;
    std::vector<ValueId> reductions;
    for (ValueId id = 0; id < graph.nodes.size(); ++id) {
        if (graph[id].op == Op::Reduce)
            reductions.push_back(id);
        if (finish[id])
            result.finish.push_back(id);
        if (after[id])
            continue;
        Split::Site* site = site_of(result, graph[id].type.axes);
        if (!site) {
            result.pair.push_back(id);
        } else if (before[id] || graph[id].type.axes == Axes::None) {
            site->computed.push_back(id);
            if (crosses[id])
                site->crossing.push_back(id);
        }
    }
    result.pair.insert(result.pair.end(), reductions.begin(), reductions.end());
    return result;
}

std::vector<ValueId> quotients_ahead(const Graph& graph) {
    const Split parts = split(graph);
    std::vector<ValueId> quotients;
    for (const Split::Site* site : {&parts.call, &parts.row, &parts.column})
        std::ranges::copy_if(site->computed, std::back_inserter(quotients),
                             [&](ValueId id) {
                                 return graph[id].op == Op::Div &&
                                        graph[id].type.dtype != DType::I64;
                             });
    return quotients;
}

std::string print(const Split& split, const Graph& graph) {
    SplitPrinter printer(graph);
    printer.add("once a call", split.call.computed, split.call.crossing);
    printer.add("once a row", split.row.computed, split.row.crossing);
    printer.add("once a column", split.column.computed, split.column.crossing);
    printer.add("for each pair", split.pair);
    printer.add("after the reductions, once a row", split.finish);
    return printer.take();
}

} // namespace tilefold
