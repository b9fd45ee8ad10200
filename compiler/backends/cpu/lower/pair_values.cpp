// compiler/backends/cpu/lower/pair_values.cpp - see pair_values.h.

#include "compiler/backends/cpu/lower/pair_values.h"

#include <algorithm>
#include <set>

namespace tilefold {

using ir::Node;
using ir::Op;
using ir::ValueId;

namespace {

class Keeping {
public:
    static constexpr int most_at_once = 8;

    Keeping(const ir::Graph& graph, const Plan& plan,
            const Contractions& contractions, Arena& arena)
        : graph_(graph), plan_(plan), contractions_(contractions),
          arena_(arena) {}

    PairValues run(const std::vector<ValueId>& bodies) {
        for (const auto& [id, way] : contractions_.ways)
            if (way == Contraction::Slabs)
                keep(kept_.slabs, id, plan_.panel);
        for (const auto& [id, way] : contractions_.ways)
            if (contractions_.is_tiled(id))
                keep(kept_.tiles, id,
                     bodies.empty() ? plan_.panel : plan_.column_tile);
        for (ValueId id : contractions_.layers)
            kept_.vectors[id] = {.columns = plan_.columns};
        for (ValueId body : bodies)
            keep_scalars(body);
        for (auto& [id, vector] : kept_.vectors)
            keep(id, vector);
        kept_.components_at_once = components_at_once();
        return std::move(kept_);
    }

private:
    /// Takes room on whole cache lines, for whole squares of columns.
    void keep(Kept& kept, ValueId id, std::int64_t columns) {
        const std::int64_t bytes = whole_squares(columns) * plan_.row_vectors *
                                   plan_.lanes *
                                   std::int64_t(size_of(graph_[id].type.dtype));
        kept.offsets[id] = arena_.take(bytes, line_bytes);
    }

    void keep(ValueId id, KeptVector& vector) {
        const Type& type = graph_[id].type;
        vector.offset =
            arena_.take(type.rows * vector.columns * plan_.row_vectors *
                            plan_.lanes * std::int64_t(size_of(type.dtype)),
                        line_bytes);
    }

    /// The sums of these components are in registers, a vector for each cell,
    /// and of each one number of the matrix in all lanes.
    int components_at_once() const {
        const int cells = plan_.row_vectors * plan_.columns;
        const int left = row_of(plan_.isa).registers - 1;
        return std::clamp(left / (cells + 1), 1, most_at_once);
    }

    void keep_scalars(ValueId id) {
        if (const auto of = kept_.vectors.find(id); of != kept_.vectors.end()) {
            of->second.columns = plan_.column_tile;
            of->second.for_tile = true;
            return;
        }
        const Node& node = graph_[id];
        if (node.type.axes != Axes::IJ || kept_.slabs.has(id) || is_cheap(id) ||
            !seen_.insert(id).second)
            return;
        if (node.type.rank == 0)
            return keep(kept_.scalars, id, plan_.column_tile);
        for (ValueId operand : node.inputs())
            keep_scalars(operand);
    }

    /// Whether a scalar is a sum by tiles, or found anew from it as fast as
    /// read.
    bool is_cheap(ValueId id) const {
        const Node& node = graph_[id];
        const auto is_sum = [&](ValueId operand) {
            return kept_.tiles.has(operand);
        };
        const auto is_at_hand = [&](ValueId operand) {
            return graph_[operand].type.axes != Axes::IJ || is_sum(operand);
        };
        return is_sum(id) || ((node.op == Op::Mul || node.op == Op::Add) &&
                              std::ranges::any_of(node.inputs(), is_sum) &&
                              std::ranges::all_of(node.inputs(), is_at_hand));
    }

    const ir::Graph& graph_;
    const Plan& plan_;
    const Contractions& contractions_;
    Arena& arena_;
    PairValues kept_;
    std::set<ValueId> seen_;
};

} // namespace

PairValues keep_pair_values(const ir::Graph& graph, const Plan& plan,
                            const Contractions& contractions,
                            const std::vector<ValueId>& bodies, Arena& arena) {
    return Keeping(graph, plan, contractions, arena).run(bodies);
}

} // namespace tilefold
