// compiler/backends/cpu/lower/reductions.cpp - see reductions.h.

#include "compiler/backends/cpu/lower/reductions.h"

#include "compiler/ir/queries.h"

#include <algorithm>
#include <bit>

namespace tilefold {

using ir::Monoid;
using ir::MonoidFamily;
using ir::Node;
using ir::ValueId;

namespace {

class Lowering {
public:
    Lowering(const ir::Graph& graph, const Plan& plan,
             const Contractions& contractions)
        : graph_(graph), plan_(plan), contractions_(contractions),
          readers_(count_readers(graph)) {}

    LoweredReduction lower(ValueId id) const {
        const Node& node = graph_[id];
        LoweredReduction reduction;
        reduction.id = id;
        reduction.partial = accumulated_dtype(graph_, node);
        reduction.fields = state_of(graph_, node);
        reduction.by_matrices = contractions_.weighed_by_tiles.count(id) > 0;
        // The vector operand is the value of a softmax, else the body.
        const Monoid monoid = row_of(ir::Reduction(node.first)).monoid;
        const bool is_softmax = monoid == Monoid::SoftMax;
        reduction.components =
            components_of(graph_[node.operands[is_softmax ? 1 : 0]].type);
        if (monoid == Monoid::UserDefined)
            reduction.components = reduction.fields.front().components;
        const std::int64_t in_registers =
            monoid == Monoid::UserDefined ? most_of_fold : plan_.unroll;
        reduction.in_memory = reduction.components == dynamic ||
                              reduction.components > in_registers;
        reduction.ends_as_nan =
            (monoid == Monoid::Add || monoid == Monoid::Multiply) &&
            kind_of(reduction.partial) == DTypeKind::Float &&
            !reduction.in_memory;
        reduction.components_at_once = components_at_once();
        reduction.adds_powers = monoid == Monoid::Add &&
                                reduction.partial == graph_.real &&
                                is_own_power(node.operands[0]);
        set_accumulators(reduction, node);
        return reduction;
    }

private:
    /// A state of a user's functions is held in registers up to so many
    /// numbers: their code is written out.
    static constexpr std::int64_t most_of_fold = 8;

    /// Beside accumulators, registers hold a vector of each row and of two
    /// columns; the number is a power of two, since that is what divides most
    /// widths.
    int components_at_once() const {
        const auto registers = unsigned(row_of(plan_.isa).registers);
        const auto rows = unsigned(plan_.row_vectors);
        if (registers <= 2 * rows + 2)
            return 1;
        return int(std::bit_floor(std::min((registers - rows - 2) / rows, 8u)));
    }

    /// Whether it is a power of two that nothing else reads.
    bool is_own_power(ValueId id) const {
        return graph_[id].op == ir::Op::Exp2 && readers_[id] == 1;
    }

    void set_accumulators(LoweredReduction& reduction, const Node& node) const {
        switch (family_of(node)) {
        case MonoidFamily::Plain:
            reduction.accumulators =
                int(size_of(reduction.partial) / size_of(graph_.real));
            reduction.by_column_tiles = reduction.in_memory;
            return;
        case MonoidFamily::Location:
            reduction.accumulators = 2;
            reduction.list_vectors =
                reduction.in_memory ? 0 : reduction.components;
            return;
        case MonoidFamily::Exponential:
            reduction.by_column_tiles = true;
            if (reduction.in_memory)
                reduction.list_vectors = reduction.by_matrices
                                             ? weight_vectors(plan_)
                                             : plan_.column_tile;
            return;
        case MonoidFamily::List:
            reduction.by_column_tiles = true;
            reduction.list_vectors = vectors_of_lists(node.third);
            reduction.columns_of_bound =
                SmallestListSizes{node.third}.columns_of_bound(
                    plan_.column_tile);
            return;
        case MonoidFamily::UserDefined:
            return;
        }
    }

    /// Returns the vectors of the lists and of the queue, which has at most an
    /// entry for each column of a tile; a tile has whole squares where the
    /// matrix unit multiplies.
    std::int64_t vectors_of_lists(std::int64_t k) const {
        const SmallestListSizes sizes{k};
        const std::int64_t bytes =
            whole_squares(plan_.column_tile) * SmallestListSizes::entry_bytes;
        const std::int64_t vector =
            plan_.lanes * std::int64_t(size_of(graph_.real));
        return sizes.vectors() + round_up(bytes, vector) / vector;
    }

    const ir::Graph& graph_;
    const Plan& plan_;
    const Contractions& contractions_;
    const std::vector<int> readers_;
};

/// Moves `end` past the fields of a reduction.
void add_slots(WidthOffset& end, const LoweredReduction& reduction) {
    for (const StateField& field : reduction.fields)
        if (field.components == dynamic)
            ++end.per_width;
        else
            end.offset += field.components;
}

} // namespace

std::int64_t SmallestListSizes::many() const {
    return std::clamp<std::int64_t>(k / 12 * together, 12, 60);
}

int SmallestListSizes::columns_of_bound(std::int64_t column_tile) const {
    constexpr std::int64_t most_places = 64;
    constexpr std::int64_t most_columns = 8;
    if (k > most_places)
        return 1;
    const std::int64_t columns = 2 * column_tile / (3 * k);
    return int(std::bit_floor(
        std::uint64_t(std::clamp<std::int64_t>(columns, 1, most_columns))));
}

std::int64_t weight_vectors(const Plan& plan) {
    return whole_squares(plan.column_tile) * plan.weight_parts / 2;
}

std::vector<LoweredReduction> lower_reductions(const ir::Graph& graph,
                                               const Plan& plan,
                                               const Contractions& contractions,
                                               const Placement& placement) {
    const Lowering lowering(graph, plan, contractions);
    std::vector<LoweredReduction> all;
    WidthOffset end;
    for (ValueId id : placement.reductions) {
        if (plan.nest == Nest::Reduce && first_of_state(graph, id) != id)
            continue;
        LoweredReduction& reduction = all.emplace_back(lowering.lower(id));
        reduction.first_slot = end;
        add_slots(end, reduction);
    }
    return all;
}

std::vector<LoweredReduction>
lower_readers(const ir::Graph& graph, const Placement& placement,
              const std::vector<LoweredReduction>& reductions) {
    std::vector<LoweredReduction> readers;
    for (ValueId id : placement.reductions) {
        const auto has = [&](ValueId of) {
            return std::ranges::find(reductions, of, &LoweredReduction::id);
        };
        if (has(id) != reductions.end())
            continue;
        LoweredReduction& reader =
            readers.emplace_back(*has(first_of_state(graph, id)));
        reader.id = id;
    }
    return readers;
}

WidthOffset slots_of(const std::vector<LoweredReduction>& reductions) {
    WidthOffset end;
    for (const LoweredReduction& reduction : reductions)
        add_slots(end, reduction);
    return end;
}

void place_accumulators(std::vector<LoweredReduction>& reductions,
                        std::int64_t vector_bytes, std::int64_t panel_capacity,
                        Arena& arena) {
    for (LoweredReduction& reduction : reductions) {
        reduction.memory = arena.end();
        arena.take(vector_bytes * reduction.list_vectors);
        if (!reduction.in_memory)
            continue;
        const auto take = [&](std::int64_t bytes) {
            if (reduction.components == dynamic)
                arena.take_per_width(bytes);
            else
                arena.take(bytes * reduction.components);
        };
        take(vector_bytes * reduction.accumulators);
        if (!reduction.by_matrices)
            continue;
        // Squares of sums are whole; a truth value and the values follow them.
        const std::int64_t value_bytes = 2 * panel_capacity;
        arena.take((square_rows - 1) * vector_bytes + line_bytes +
                   (square_rows - 1) * value_bytes);
        take(value_bytes);
    }
}

} // namespace tilefold
