// compiler/backends/cpu/lower/fission.cpp - see fission.h.

#include "compiler/backends/cpu/lower/fission.h"

#include "compiler/ir/queries.h"

#include <algorithm>
#include <set>

namespace tilefold {

using ir::Graph;
using ir::Node;
using ir::ValueId;

namespace {

/// Issue slots of a loop's body, and of a chain that is worth cutting; of what
/// costs little enough to go with any function.
constexpr int body_slots = 16, long_chain = 48, light = 4;

using Groups = std::vector<std::vector<ValueId>>;

/// Whether a function of the image computes it, a strip at a time.
bool is_sine(const Node& node) {
    return (node.op == ir::Op::Sin || node.op == ir::Op::Cos) &&
           node.type.dtype == DType::F32;
}

int slots_of(const Node& node) {
    if (node.op == ir::Op::IntPow)
        return 2;
    return ir::has_row(node.op) ? int(ir::row_of(node.op).cost) : 1;
}

/// Whether a loop may compute it for later ones: of vectors, where a component
/// is computed from components of the same number.
bool is_handed(const Node& node) {
    return node.type.dtype != DType::Bool && node.arity > 0 &&
           (node.type.rank == 0 ||
            (node.type.rank == 1 && ir::is_elementwise(node.op)));
}

/// Cuts the functions of `rank` below some roots into groups of about a body's
/// slots.
class Grouping {
public:
    Grouping(const Graph& graph, const IsLeaf& is_leaf, int rank)
        : graph_(graph), is_leaf_(is_leaf), rank_(rank) {}

    /// Returns the groups, operands first; none where the functions are few.
    Groups below(std::span<const ValueId> roots) {
        for (ValueId root : roots)
            visit(root);
        if (all_slots_ < long_chain)
            groups_.clear();
        return std::move(groups_);
    }

private:
    void visit(ValueId at) {
        const Node& node = graph_[at];
        const bool belongs = is_handed(node) && node.type.rank == rank_;
        // Below a vector that is none of them, components have other numbers.
        if (is_leaf_(at) || (rank_ > 0 && !belongs) || !seen_.insert(at).second)
            return;
        for (ValueId operand : node.inputs())
            visit(operand);
        if (belongs)
            append(at);
    }

    void append(ValueId at) {
        const Node& node = graph_[at];
        const int cost = slots_of(node);
        const auto& group = groups_.back();
        const bool is_alone =
            is_sine(node) || (!group.empty() && is_sine(graph_[group.back()]));
        if ((is_alone && !group.empty()) ||
            (cost > light && slots_ > 0 && slots_ + cost > body_slots)) {
            groups_.emplace_back();
            slots_ = 0;
        }
        if (cost > light)
            slots_ += cost;
        all_slots_ += cost;
        groups_.back().push_back(at);
    }

    const Graph& graph_;
    const IsLeaf& is_leaf_;
    const int rank_;
    Groups groups_{1};
    std::set<ValueId> seen_;
    int slots_ = 0, all_slots_ = 0;
};

/// Finds what the loops of a chain leave for later ones.
class HandedValues {
public:
    HandedValues(const Graph& graph, const Groups& groups,
                 const IsLeaf& is_leaf)
        : graph_(graph), is_leaf_(is_leaf) {
        for (std::size_t g = 0; g < groups.size(); ++g)
            for (ValueId id : groups[g])
                made_[id] = g;
        for (std::size_t g = 0; g < groups.size(); ++g) {
            seen_.clear();
            for (ValueId id : groups[g])
                note_reads(id, g);
        }
    }

    /// In the order in which they are made.
    std::vector<HandedValue> list() const {
        std::vector<HandedValue> handed;
        for (const auto& [id, last] : last_)
            handed.push_back({id, made_.at(id), last});
        std::ranges::sort(handed, {}, &HandedValue::made);
        return handed;
    }

private:
    /// What is in no group is computed where it is read.
    void note_reads(ValueId id, std::size_t group) {
        for (ValueId operand : graph_[id].inputs()) {
            if (is_leaf_(operand) || !seen_.insert(operand).second)
                continue;
            const auto made = made_.find(operand);
            if (made == made_.end())
                note_reads(operand, group);
            else if (made->second < group)
                last_[operand] = group;
        }
    }

    const Graph& graph_;
    const IsLeaf& is_leaf_;
    std::map<ValueId, std::size_t> made_, last_;
    std::set<ValueId> seen_;
};

/// Places what is handed on. Memory that no later loop reads is used again:
/// where a loop reads and writes it, it reads first.
void place(const Graph& graph, LoopChain& chain) {
    std::vector<std::size_t> last; // loop that reads a place
    for (HandedValue& handed : chain.handed) {
        const DType dtype = graph[handed.id].type.dtype;
        std::size_t free = 0;
        while (free < last.size() &&
               (chain.places[free] != dtype || last[free] > handed.made))
            ++free;
        if (free == last.size()) {
            chain.places.push_back(dtype);
            last.push_back(0);
        }
        last[free] = handed.last;
        handed.place = free;
    }
}

/// Finds the loops that are a call: those of one sine of what an earlier loop
/// left, for later loops alone.
void find_calls(const Graph& graph, std::span<const ValueId> roots,
                LoopChain& chain) {
    const auto of = [&](ValueId id) {
        return std::ranges::find(chain.handed, id, &HandedValue::id);
    };
    for (ChainLoop& loop : chain.loops) {
        const ValueId id = loop.values.front();
        if (loop.values.size() > 1 || !is_sine(graph[id]) ||
            std::ranges::count(roots, id))
            continue;
        const auto x = of(graph[id].operands[0]), result = of(id);
        const auto none = chain.handed.end();
        if (x != none && result != none && x->place == result->place)
            loop.sines_in_place = x->place;
    }
}

LoopChain chain_of(const Graph& graph, const Groups& groups,
                   std::span<const ValueId> roots, const IsLeaf& is_leaf) {
    LoopChain chain;
    for (const std::vector<ValueId>& group : groups)
        chain.loops.push_back({.values = group});
    chain.handed = HandedValues(graph, groups, is_leaf).list();
    place(graph, chain);
    find_calls(graph, roots, chain);
    return chain;
}

} // namespace

LoopChain cut_scalars(const Graph& graph, std::span<const ValueId> roots,
                      const IsLeaf& is_leaf) {
    Groups groups = Grouping(graph, is_leaf, 0).below(roots);
    if (groups.empty())
        return {};
    std::vector<ValueId> truths; // which are not handed on
    for (ValueId root : roots)
        if (is_leaf(root) || !is_handed(graph[root]))
            truths.push_back(root);
    if (!truths.empty())
        groups.push_back(truths);
    return chain_of(graph, groups, roots, is_leaf);
}

LoopChains cut_contractions(const Graph& graph, const Plan& plan,
                            std::span<const ValueId> roots,
                            const IsLeaf& is_leaf) {
    LoopChains chains;
    std::set<ValueId> seen;
    const std::function<void(ValueId)> visit = [&](ValueId id) {
        if (is_leaf(id) || !seen.insert(id).second)
            return;
        const Node& node = graph[id];
        for (ValueId operand : node.inputs())
            visit(operand);
        if (!is_contraction(node.op) || terms_of(graph, node) <= plan.unroll)
            return;
        Groups groups = Grouping(graph, is_leaf, 1).below(node.inputs());
        if (groups.empty())
            return;
        groups.push_back({id});
        chains[id] = chain_of(graph, groups, {}, is_leaf);
    };
    for (ValueId root : roots)
        visit(root);
    return chains;
}

} // namespace tilefold
