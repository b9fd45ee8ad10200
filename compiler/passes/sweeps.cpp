// compiler/passes/sweeps.cpp - levels, groups of one level, and a graph for
// each.

#include "compiler/passes/sweeps.h"

#include "compiler/passes/dynamic_width.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

namespace tilefold {
namespace {

using ir::Builder;
using ir::no_value;
using ir::Node;
using ir::Op;
using ir::ValueId;

/// Reductions with equal keys share a sweep: how many sweeps come before at
/// least, what is reduced, what is kept, the dtype of the results, and which
/// pairs are met.
using Key = std::tuple<int, Axes, Axes, DType, ir::Pairs>;

/// Of a sum over both axes that may be kept for every point in between.
constexpr std::int32_t most_components = 8;

bool is_reduction(const Node& node) {
    return node.op == Op::Reduce;
}

/// The longest chain of reductions below each value, itself counted.
std::vector<int> levels_of(const Builder& builder, ValueId count) {
    std::vector<int> levels(count);
    for (ValueId id = 0; id < count; ++id) {
        for (ValueId input : builder[id].inputs())
            levels[id] = std::max(levels[id], levels[input]);
        levels[id] += is_reduction(builder[id]);
    }
    return levels;
}

Key key_of(const Node& node, int level) {
    return {level, Axes(node.second), node.type.axes, node.type.dtype,
            node.pairs};
}

/// Writes Σ_ij as Σ_i Σ_j (or Σ_j Σ_i) where another reduction of its level
/// is over j (or i) anyway.
class DoubleSums {
public:
    DoubleSums(Builder& builder, std::vector<ValueId>& results)
        : builder_(builder), results_(results) {}

    void run() {
        const auto count = ValueId(builder_.graph().nodes.size());
        const std::vector<bool> wanted =
            ir::reached(builder_.graph(), results_);
        levels_ = levels_of(builder_, count);
        for (ValueId id = 0; id < count; ++id)
            if (wanted[id] && is_reduction(builder_[id]))
                keys_.insert(key_of(builder_[id], levels_[id]));
        made_.assign(count, no_value);
        for (ValueId id = 0; id < count; ++id)
            if (wanted[id])
                made_[id] = rebuilt(id);
        for (ValueId& result : results_)
            if (result != no_value)
                result = made_[result];
    }

private:
    ValueId rebuilt(ValueId id) {
        const Node node = builder_[id];
        std::vector<ValueId> operands;
        for (ValueId input : node.inputs())
            operands.push_back(made_[input]);
        if (const Axes inner = inner_axis(id, node); inner != Axes::None) {
            const ValueId rows = builder_.reduce(ir::Reduction::Sum, inner,
                                                 operands, 0, {}, node.pairs);
            return builder_.reduce(ir::Reduction::Sum, without(Axes::IJ, inner),
                                   std::span(&rows, 1));
        }
        return builder_.rebuild(node, operands);
    }

    Axes inner_axis(ValueId id, const Node& node) const {
        if (!is_reduction(node) || Axes(node.second) != Axes::IJ ||
            ir::Reduction(node.first) != ir::Reduction::Sum ||
            (builder_[node.operands[0]].type.axes != Axes::IJ &&
             node.pairs == ir::Pairs::All) ||
            node.type.rows > most_components)
            return Axes::None;
        for (Axes axis : {Axes::J, Axes::I})
            if (keys_.contains({levels_[id], axis, without(Axes::IJ, axis),
                                node.type.dtype, node.pairs}))
                return axis;
        return Axes::None;
    }

    Builder& builder_;
    std::vector<ValueId>& results_;
    std::vector<int> levels_;
    std::set<Key> keys_;
    std::vector<ValueId> made_;
};

class Cutter {
public:
    Cutter(Builder& builder, const std::vector<ValueId>& results)
        : builder_(builder), results_(results),
          count_(ValueId(builder.graph().nodes.size())),
          levels_(levels_of(builder, count_)) {}

    Sweeps run() {
        const std::vector<bool> wanted =
            ir::reached(builder_.graph(), results_);
        for (ValueId id = 0; id < count_; ++id)
            if (wanted[id] && is_reduction(builder_[id]))
                groups_.emplace(key_of(builder_[id], levels_[id]),
                                std::vector<ValueId>());
        for (ValueId id = 0; id < count_; ++id)
            if (wanted[id] && is_reduction(builder_[id]))
                need_operands(id);
        for (ValueId result : results_)
            if (result != no_value)
                host(result);
        Sweeps all;
        for (const auto& [key, outputs] : groups_)
            add(all, outputs, &key);
        for (ValueId result : maps_)
            add(all, {result}, nullptr);
        for (ValueId result : results_)
            all.results.push_back(result == no_value ? ResultPlace{}
                                                     : places_.at(result));
        return all;
    }

private:
    Key key(ValueId id) const { return key_of(builder_[id], levels_[id]); }

    /// The reductions that `id` is computed from, without those below them.
    std::vector<ValueId> frontier(ValueId id) const {
        const std::vector<bool> wanted =
            ir::reached(builder_.graph(), std::span(&id, 1),
                        [&](ValueId k) { return is_reduction(builder_[k]); });
        std::vector<ValueId> found;
        for (ValueId k = id + 1; k-- > 0;)
            if (wanted[k] && is_reduction(builder_[k]))
                found.push_back(k);
        return found;
    }

    /// A sweep has to leave `id` behind.
    void output(const Key& key, ValueId id) {
        std::vector<ValueId>& outputs = groups_.at(key);
        if (std::ranges::find(outputs, id) == outputs.end())
            outputs.push_back(id);
    }

    void need_operands(ValueId reduction) {
        for (ValueId operand : builder_[reduction].inputs())
            for (ValueId below : frontier(operand))
                output(key(below), below);
    }

    /// Finds the sweep of a result, and what it needs of others.
    void host(ValueId result) {
        const std::vector<ValueId> below = frontier(result);
        if (below.empty())
            return map(result);
        Key last = key(below[0]);
        for (ValueId reduction : below)
            last = std::max(last, key(reduction));
        const Type& type = builder_.type(result);
        const bool fits =
            std::get<2>(last) == type.axes && std::get<3>(last) == type.dtype;
        for (ValueId reduction : below)
            if (!fits || key(reduction) != last)
                output(key(reduction), reduction);
        if (fits)
            output(last, result);
        else
            map(result);
    }

    void map(ValueId result) {
        if (std::ranges::find(maps_, result) == maps_.end())
            maps_.push_back(result);
    }

    /// The graph of one sweep; `key`: of its reductions, null for a map.
    void add(Sweeps& all, const std::vector<ValueId>& outputs, const Key* key) {
        Sweep sweep;
        Builder graph(builder_.graph().real, builder_.formula());
        graph.adopt(builder_.graph());
        std::map<ValueId, ValueId> made;
        ValueId joined = no_value;
        std::int32_t at = 0;
        for (ValueId output : outputs) {
            const ValueId copy = copied(graph, made, output, key);
            const Type type = graph.type(copy);
            joined = joined == no_value ? copy : graph.concat(joined, copy);
            sweep.parts.push_back({name_of(output), type, at});
            places_[output] = {int(all.sweeps.size()),
                               int(sweep.parts.size() - 1)};
            at += type.rows;
        }
        sweep.graph = graph.finish(joined);
        for (const SweepPart& part : sweep.parts)
            left_[part.name] = sweep.graph[sweep.graph.result].type.dtype;
        if (outputs.size() == 1)
            sweep.graph = widen_linear_argument(sweep.graph);
        all.sweeps.push_back(std::move(sweep));
    }

    /// `id` in another graph; what other sweeps computed is an argument.
    ValueId copied(Builder& graph, std::map<ValueId, ValueId>& made,
                   ValueId root, const Key* key) const {
        const std::vector<bool> wanted =
            ir::reached(builder_.graph(), std::span(&root, 1),
                        [&](ValueId id) { return is_foreign(id, key); });
        for (ValueId id = 0; id <= root; ++id) {
            if (!wanted[id] || made.contains(id))
                continue;
            const Node& node = builder_[id];
            std::vector<ValueId> operands;
            if (is_foreign(id, key)) {
                made[id] = temporary(graph, id);
                continue;
            }
            for (ValueId input : node.inputs())
                operands.push_back(made.at(input));
            made[id] = graph.rebuild(node, operands);
        }
        return made.at(root);
    }

    bool is_foreign(ValueId id, const Key* key) const {
        return is_reduction(builder_[id]) && (!key || this->key(id) != *key);
    }

    /// The dtype is what its sweep leaves behind, which may be another than in
    /// the whole graph: numbers on {} that a sweep is given are float64 in it.
    ValueId temporary(Builder& graph, ValueId id) const {
        const Type& type = builder_.type(id);
        const DType dtype = left_.at(name_of(id));
        return graph.argument(
            {name_of(id), dtype, type.rank, type.rows, type.columns, type.axes},
            type.axes, builder_[id].span);
    }

    static std::string name_of(ValueId id) { return "$" + std::to_string(id); }

    Builder& builder_;
    const std::vector<ValueId>& results_;
    ValueId count_;
    std::vector<int> levels_;
    std::map<Key, std::vector<ValueId>> groups_; ///< what each leaves behind
    std::vector<ValueId> maps_;
    std::map<ValueId, ResultPlace> places_;
    std::map<std::string, DType> left_; ///< dtypes, by name of the part
};

} // namespace

Sweeps cut(Builder& builder, std::vector<ValueId> results) {
    DoubleSums(builder, results).run();
    return Cutter(builder, results).run();
}

bool is_one_sweep(const ir::Graph& graph) {
    const auto first = std::ranges::find_if(graph.nodes, is_reduction);
    if (first == graph.nodes.end())
        return true;
    std::vector<bool> reduced(graph.nodes.size());
    for (ValueId id = 0; id < graph.nodes.size(); ++id) {
        const Node& node = graph[id];
        if (is_reduction(node) && node.second != first->second)
            return false;
        for (ValueId input : node.inputs())
            reduced[id] = reduced[id] || reduced[input];
        if (is_reduction(node) && reduced[id])
            return false;
        reduced[id] = reduced[id] || is_reduction(node);
    }
    const Axes left = graph[graph.result].type.axes & Axes(first->second);
    return left == Axes::None;
}

} // namespace tilefold
