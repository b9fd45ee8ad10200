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
        std::set<ValueId> layers;
        for (ValueId id : contractions_.layers)
            if (graph_[id].type.axes == Axes::IJ)
                layers.insert(id);
        kept_.vectors =
            choose_vectors(layers, plan_, plan_.row_vectors, plan_.columns);
        for (auto& [id, vector] : kept_.vectors.of)
            if (contractions_.is(id, Contraction::LayerTiles))
                vector.least_rows = whole_squares(graph_[id].type.rows);
        for (ValueId body : bodies)
            keep_scalars(body);
        place_vectors(graph_, plan_, plan_.row_vectors, kept_.vectors, arena_);
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

    void keep_scalars(ValueId id) {
        auto& vectors = kept_.vectors.of;
        if (const auto of = vectors.find(id); of != vectors.end()) {
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

KeptVectors choose_vectors(const std::set<ValueId>& layers, const Plan& plan,
                           int rows, int columns) {
    KeptVectors vectors;
    for (ValueId id : layers)
        vectors.of[id] = {.columns = columns};
    // The sums of these components are in registers, a vector for each cell,
    // and of each one number of the matrix in all lanes.
    constexpr int most_at_once = 8;
    const int left = row_of(plan.isa).registers - 1;
    vectors.components_at_once =
        std::clamp(left / (rows * columns + 1), 1, most_at_once);
    return vectors;
}

void place_vectors(const ir::Graph& graph, const Plan& plan, int rows,
                   KeptVectors& vectors, Arena& arena) {
    for (auto& [id, vector] : vectors.of) {
        const Type& type = graph[id].type;
        vector.offset =
            arena.take(std::max<std::int64_t>(type.rows, vector.least_rows) *
                           vector.columns * rows * plan.lanes *
                           std::int64_t(size_of(type.dtype)),
                       line_bytes);
    }
}

PairValues keep_pair_values(const ir::Graph& graph, const Plan& plan,
                            const Contractions& contractions,
                            const std::vector<ValueId>& bodies, Arena& arena) {
    return Keeping(graph, plan, contractions, arena).run(bodies);
}

} // namespace tilefold
