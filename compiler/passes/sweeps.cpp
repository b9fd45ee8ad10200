// compiler/passes/sweeps.cpp - levels, groups of one level, and a graph for
// each.

#include "compiler/passes/sweeps.h"

#include "compiler/passes/dynamic_width.h"
#include "compiler/passes/narrowest_cut.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>

namespace tilefold {
namespace {

using ir::Builder;
using ir::no_value;
using ir::Node;
using ir::Op;
using ir::ValueId;

/// Reductions with equal keys share a sweep. A key has the least number of
/// sweeps that come before, what is reduced, what is kept, the dtype of the
/// results, and which pairs are met.
using SweepKey = std::tuple<int, Axes, Axes, DType, ir::Pairs>;

/// A sum over both axes may be kept for every point in between if it has at
/// most so many components.
constexpr std::int32_t most_components = 8;

bool is_reduction(const Node& node) {
    return node.op == Op::Reduce;
}

/// Returns the longest chain of reductions below each value, itself counted.
std::vector<int> levels_of(const Builder& builder, ValueId count) {
    std::vector<int> levels(count);
    for (ValueId id = 0; id < count; ++id) {
        for (ValueId input : builder[id].inputs())
            levels[id] = std::max(levels[id], levels[input]);
        levels[id] += is_reduction(builder[id]);
    }
    return levels;
}

SweepKey key_of(const Node& node, int level) {
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
    std::set<SweepKey> keys_;
    std::vector<ValueId> made_;
};

class Cutter {
public:
    /// Sweeps in `plain` leave reductions behind, others also what these have
    /// been made into, where that is less.
    Cutter(Builder& builder, const std::vector<ValueId>& results,
           const std::set<SweepKey>& plain)
        : builder_(builder), results_(results), plain_(plain),
          count_(ValueId(builder.graph().nodes.size())),
          levels_(levels_of(builder, count_)), last_(count_) {}

    /// Decides what each sweep leaves behind. Returns those that would leave
    /// several dtypes, which one array cannot hold.
    std::set<SweepKey> decide() {
        const std::vector<bool> wanted =
            ir::reached(builder_.graph(), results_);
        std::map<SweepKey, std::vector<ValueId>> operands;
        for (ValueId id = 0; id < count_; ++id) {
            last_[id] = last_below(id);
            if (!wanted[id] || !is_reduction(builder_[id]))
                continue;
            groups_.emplace(key(id), std::vector<ValueId>());
            for (ValueId operand : builder_[id].inputs())
                operands[key(id)].push_back(operand);
        }
        for (const auto& [key, read] : operands)
            need(read, key);
        for (ValueId result : results_)
            if (result != no_value)
                host(result);
        std::set<SweepKey> mixed;
        for (const auto& [key, outputs] : groups_)
            if (!has_one_dtype(outputs))
                mixed.insert(key);
        return mixed;
    }

    Sweeps sweeps() {
        Sweeps all;
        for (const auto& [key, outputs] : groups_)
            add(all, outputs, key);
        for (ValueId result : maps_)
            add(all, {result}, {});
        for (ValueId result : results_)
            all.results.push_back(result == no_value ? ResultPlace{}
                                                     : places_.at(result));
        return all;
    }

private:
    SweepKey key(ValueId id) const { return key_of(builder_[id], levels_[id]); }

    /// The last sweep that `id` is computed from.
    std::optional<SweepKey> last_below(ValueId id) const {
        if (is_reduction(builder_[id]))
            return key(id);
        std::optional<SweepKey> last;
        for (ValueId input : builder_[id].inputs())
            last = std::max(last, last_[input]);
        return last;
    }

    bool has_one_dtype(const std::vector<ValueId>& outputs) const {
        return std::ranges::all_of(outputs, [&](ValueId id) {
            return builder_.type(id).dtype == builder_.type(outputs[0]).dtype;
        });
    }

    /// A sweep has to leave `id` behind.
    void output(const SweepKey& key, ValueId id) {
        std::vector<ValueId>& outputs = groups_.at(key);
        if (std::ranges::find(outputs, id) != outputs.end())
            return;
        outputs.push_back(id);
        if (is_reduction(builder_[id]))
            return;
        hosts_[id] = key;
        need(std::span(&id, 1), key);
    }

    /// Notes what `values` need of others, in the sweep `key` or in a map.
    void need(std::span<const ValueId> values,
              const std::optional<SweepKey>& key) {
        const auto is_end = [&](ValueId id) {
            return is_reduction(builder_[id]);
        };
        const auto is_source = [&](ValueId id) {
            return is_end(id) && this->key(id) != key;
        };
        const auto is_kept = [&](ValueId id) {
            return last_[id] && last_[id] != key &&
                   !plain_.contains(*last_[id]) && fits(id);
        };
        for (ValueId id : ir::narrowest_cut(
                 builder_.graph(), {values, is_end, is_source, is_kept}))
            output(*last_[id], id);
    }

    /// Whether the last sweep that a value needs may leave it behind: as what
    /// its reductions are, or in the computing dtype, since a result in float64
    /// would be rounded to float32 where that is the computing dtype.
    bool fits(ValueId id) const {
        const Type& type = builder_.type(id);
        const auto& [level, over, axes, dtype, pairs] = *last_[id];
        return axes == type.axes && type.rank <= 1 &&
               (dtype == type.dtype || (type.dtype == builder_.graph().real &&
                                        !plain_.contains(*last_[id])));
    }

    /// Finds the sweep of a result, and what it needs of others.
    void host(ValueId result) {
        if (last_[result] && fits(result))
            return output(*last_[result], result);
        map(result);
        need(std::span(&result, 1), {});
    }

    void map(ValueId result) {
        if (std::ranges::find(maps_, result) == maps_.end())
            maps_.push_back(result);
    }

    /// Adds the graph of one sweep; `key` is that of its reductions, none for
    /// a map.
    void add(Sweeps& all, const std::vector<ValueId>& outputs,
             const std::optional<SweepKey>& key) {
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

    /// Returns `id` in another graph, where what other sweeps computed is an
    /// argument.
    ValueId copied(Builder& graph, std::map<ValueId, ValueId>& made,
                   ValueId root, const std::optional<SweepKey>& key) const {
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

    bool is_foreign(ValueId id, const std::optional<SweepKey>& key) const {
        if (const auto host = hosts_.find(id); host != hosts_.end())
            return host->second != key;
        return is_reduction(builder_[id]) && this->key(id) != key;
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
    const std::set<SweepKey>& plain_;
    ValueId count_;
    std::vector<int> levels_;
    std::vector<std::optional<SweepKey>> last_; ///< see last_below(), by value
    std::map<ValueId, SweepKey> hosts_; ///< of outputs that are no reductions
    std::map<SweepKey, std::vector<ValueId>>
        groups_; ///< what each leaves behind
    std::vector<ValueId> maps_;
    std::map<ValueId, ResultPlace> places_;
    std::map<std::string, DType> left_; ///< dtypes, by name of the part
};

} // namespace

Sweeps cut(Builder& builder, std::vector<ValueId> results) {
    DoubleSums(builder, results).run();
    std::set<SweepKey> plain;
    for (;;) {
        Cutter cutter(builder, results, plain);
        const std::set<SweepKey> mixed = cutter.decide();
        if (mixed.empty())
            return cutter.sweeps();
        plain.insert(mixed.begin(), mixed.end());
    }
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
