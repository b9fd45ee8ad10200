// compiler/backends/llvm/nest/accumulate.cpp - the loop nest of a reduction:
// pack rows; for each panel of columns: pack columns; for each tile of rows:
// step over the panel with accumulators in registers, then fold into state.
// What happens with the columns of a tile of rows is in column_tiles.cpp.

#include "compiler/backends/llvm/nest/accumulate.h"

#include "compiler/backends/llvm/pipelining/stages.h"
#include "compiler/ir/queries.h"

#include <algorithm>

namespace tilefold::llvm_backend {

using ir::ValueId;
using llvm::Value;

Accumulate::Accumulate(ModuleWriter& writer, std::vector<Slots>& reductions)
    : writer_(writer), reductions_(reductions),
      keeps_state_(writer.plan.nest == Nest::Reduce),
      entry_(writer, keeps_state_ ? "accumulate" : "reduce",
             keeps_state_ ? "pnnnnpnp" : "pnnp", writer.plan.lanes),
      rows_(writer, writer.kernel.rows), parts_(writer), layers_(writer),
      filter_(writer), columns_(writer, writer.kernel.columns, entry_.width),
      guard_(entry_), leaves_(entry_, rows_, columns_, scratch()),
      values_(entry_.evaluator([this](ValueId id) { return leaves_.leaf(id); },
                               &kernel().pair_chains)) {
    if (!keeps_state_)
        results_.emplace(writer, writer.plan.row_block, kernel().results);
}

void Accumulate::write() {
    auto& b = entry_.b;
    const Contractions& contractions = kernel().contractions;
    if (contractions.uses_matrix_unit)
        emit_shapes(entry_.lanes, contractions.depth);
    Value* rows = b.CreateSub(entry_.argument(2), i0());
    rows_.fill(entry_, i0(), rows, scratch());
    parts_.keep_rows(entry_, rows_, rows, scratch());
    layers_.keep_matrices(entry_, values_, scratch());
    filter_.keep_rows(entry_, rows_, rows, scratch());
    if (keeps_state_)
        write_panels(rows);
    else
        write_rows(rows);
    if (contractions.uses_matrix_unit)
        emit_release(entry_.lanes);
    entry_.finish();
}

void Accumulate::write_panels(Value* rows) {
    auto& b = entry_.b;
    Value* j1 = entry_.argument(4);
    Value* step = entry_.lanes.constant(writer_.plan.panel);
    entry_.lanes.loop(entry_.argument(3), j1, step, [&](Value* panel) {
        Value* count = entry_.least(step, b.CreateSub(j1, panel));
        Value* tiles = b.CreateSDiv(
            b.CreateAdd(rows, entry_.lanes.constant(tile_rows() - 1)),
            entry_.lanes.constant(tile_rows()));
        where_pairs_count(entry_.lanes.constant(0), rows, panel, count, tiles,
                          [&] { write_panel(panel, rows, count); });
    });
}

void Accumulate::write_rows(Value* rows) {
    auto& b = entry_.b;
    const auto field = [&](std::size_t offset, bool is_pointer) {
        return writer_.field(b, entry_.call, offset, is_pointer);
    };
    Value* count = field(offsetof(tilefold_kernel_call, columns), false);
    Value* zero = entry_.lanes.constant(0);
    if (kernel().reads_in_place) {
        leaves_.read_in_place();
        write_row_tiles(rows, zero, count);
    } else {
        write_panel(zero, rows, count);
    }
    Value* stride = field(offsetof(tilefold_kernel_call, out_row), false);
    Value* out = field(offsetof(tilefold_kernel_call, out), true);
    results_->store(entry_, scratch(), rows,
                    b.CreatePtrAdd(out, b.CreateMul(i0(), stride)), stride);
}

void Accumulate::write_panel(Value* panel, Value* rows, Value* count) {
    columns_.fill(entry_, panel, count, scratch());
    parts_.keep_columns(entry_, columns_, count, scratch());
    filter_.keep_columns(entry_, columns_, count, scratch());
    transpose_all_values(count);
    write_row_tiles(rows, panel, count);
}

void Accumulate::write_row_tiles(Value* rows, Value* panel, Value* count) {
    Value* first = shares_accumulators() ? write_shared_tiles(rows, panel)
                                         : entry_.lanes.constant(0);
    write_tiles_from(first, rows, panel, count);
}

bool Accumulate::shares_accumulators() const {
    return keeps_state_ && ir::folds_points(writer_.graph) &&
           !kernel().by_column_tiles && !kernel().leaves_rare_out &&
           !guard_.exists() && !filter_.exists() &&
           std::ranges::all_of(reductions_, [](const Slots& slots) {
               return slots.monoid->takes_points() && !slots.lowered.in_memory;
           });
}

Value* Accumulate::write_shared_tiles(Value* rows, Value* panel) {
    auto& b = entry_.b;
    Value* zero = entry_.lanes.constant(0);
    Value* step = entry_.lanes.constant(tile_rows());
    Value* columns = writer_.field(
        b, entry_.call, offsetof(tilefold_kernel_call, columns), false);
    Value* is_one = b.CreateICmpEQ(columns, entry_.lanes.constant(1));
    Value* whole = b.CreateSelect(
        is_one, b.CreateMul(b.CreateSDiv(rows, step), step), zero);
    start_tile(zero, panel);
    entry_.lanes.loop(zero, whole, step, [&](Value* row) {
        values_.forget();
        leaves_.begin_tile(row);
        leaves_.begin_column_tile(zero);
        leaves_.begin_columns(zero);
        write_step(row, panel, row, 1);
    });
    values_.forget();
    finish_tile(zero, panel);
    values_.forget();
    return whole;
}

void Accumulate::write_tiles_from(Value* first, Value* rows, Value* panel,
                                  Value* count) {
    Value* step = entry_.lanes.constant(tile_rows());
    entry_.lanes.loop(first, rows, step, [&](Value* row) {
        Value* left = entry_.b.CreateSub(rows, row);
        where_pairs_count(row, entry_.least(step, left), panel, count,
                          entry_.lanes.constant(1), [&] {
                              if (guard_.exists())
                                  guard_.note(true, entry_.lanes.constant(1));
                              write_tile(row, panel, count);
                          });
    });
}

void Accumulate::where_pairs_count(Value* row, Value* rows, Value* first_column,
                                   Value* count, Value* tiles,
                                   const std::function<void()>& body) {
    if (!guard_.exists())
        return body();
    auto& b = entry_.b;
    Value* first = b.CreateAdd(i0(), row);
    Value* counts =
        guard_.may_count(first, b.CreateAdd(first, rows), first_column,
                         b.CreateAdd(first_column, count));
    entry_.lanes.when(counts, body);
    if (tiles)
        entry_.lanes.when(b.CreateNot(counts),
                          [&] { guard_.note(false, tiles); });
}

ValueMatmul Accumulate::empty_blocks() const {
    return {.lanes = entry_.lanes,
            .vectors = writer_.plan.row_vectors,
            .weight_parts = writer_.plan.weight_parts,
            .capacity = columns_.capacity(),
            .column_tile = kernel().column_tile};
}

ValueMatmul Accumulate::blocks_of(std::size_t number) {
    ValueMatmul blocks = empty_blocks();
    const LoweredReduction& of = lowered(number);
    if (!of.by_matrices)
        return blocks;
    blocks.width = of.components == dynamic
                       ? entry_.width
                       : entry_.lanes.constant(of.components);
    blocks.parts = memory(number);
    Value* sums = accumulators(number);
    Value* rows = entry_.b.CreateAdd(blocks.width,
                                     entry_.lanes.constant(square_rows - 1));
    blocks.are_finite = entry_.lanes.at(sums, rows, 0, kernel().vector_bytes);
    blocks.values = entry_.lanes.byte_offset(blocks.are_finite, 64);
    return blocks;
}

void Accumulate::transpose_all_values(Value* count) {
    for (std::size_t k = 0; k < reductions_.size(); ++k) {
        const ValueMatmul blocks = blocks_of(k);
        if (!blocks.values)
            continue;
        const ValueId id = writer_.graph[lowered(k).id].operands[1];
        blocks.transpose(
            [&](Value* point) {
                return columns_.address(entry_.lanes, scratch(), id, {}, point);
            },
            count);
    }
}

Value* Accumulate::memory(std::size_t number) {
    const WidthOffset at = lowered(number).memory;
    Value* place = entry_.lanes.byte_offset(scratch(), at.offset);
    return at.per_width ? entry_.lanes.at(place, entry_.width, 0, at.per_width)
                        : place;
}

Value* Accumulate::accumulators(std::size_t number) {
    return entry_.lanes.byte_offset(
        memory(number), kernel().vector_bytes * lowered(number).list_vectors);
}

void Accumulate::write_tile(Value* row, Value* panel, Value* count) {
    leaves_.begin_tile(row);
    if (!keeps_state_)
        hold_identities();
    start_tile(row, panel);
    Value* zero = entry_.lanes.constant(0);
    Value* tile = entry_.lanes.constant(kernel().column_tile);
    for (const auto& [id, offset] : kernel().kept.slabs.offsets)
        write_deep(id, count);
    if (kernel().by_column_tiles)
        entry_.lanes.loop(zero, count, tile, [&](Value* first) {
            Value* end = entry_.least(entry_.b.CreateAdd(first, tile), count);
            where_pairs_count(row, entry_.lanes.constant(tile_rows()),
                              entry_.b.CreateAdd(panel, first),
                              entry_.b.CreateSub(end, first), nullptr, [&] {
                                  write_column_tile(row, panel, first, end);
                              });
        });
    else if (kernel().leaves_rare_out)
        write_twice(row, panel, count);
    else
        write_column_tile(row, panel, zero, count);
    finish_tile(row, panel);
    values_.forget();
    if (!keeps_state_)
        write_results(row);
}

void Accumulate::start_tile(Value* row, Value* panel) {
    for (std::size_t k = 0; k < reductions_.size(); ++k)
        run(k, row, panel,
            [&](Tile& tile) { reductions_[k].monoid->start(tile); });
}

void Accumulate::finish_tile(Value* row, Value* panel) {
    for (std::size_t k = 0; k < reductions_.size(); ++k)
        run(k, row, panel,
            [&](Tile& tile) { reductions_[k].monoid->finish_tile(tile); });
}

void Accumulate::write_twice(Value* row, Value* panel, Value* count) {
    Value* zero = entry_.lanes.constant(0);
    entry_.lanes.leave_rare_out(true);
    write_column_tile(row, panel, zero, count);
    entry_.lanes.leave_rare_out(false);
    entry_.lanes.when_rare(has_nan(row, panel), [&] {
        start_tile(row, panel);
        write_column_tile(row, panel, zero, count);
    });
}

Value* Accumulate::has_nan(Value* row, Value* panel) {
    auto& b = entry_.b;
    Value* rows = b.CreateSub(entry_.argument(2), i0());
    Value* some = entry_.lanes.number(DType::Bool, 0);
    for (std::size_t k = 0; k < reductions_.size(); ++k) {
        if (!lowered(k).ends_as_nan)
            continue;
        run(k, row, panel, [&](Tile& tile) {
            for (int r = 0; r < tile.rows; ++r) {
                Value* nan = reductions_[k].monoid->has_nan(tile, r);
                // Lanes beyond the last row mean nothing.
                Value* left = b.CreateSub(rows, tile.points[std::size_t(r)]);
                some = b.CreateOr(
                    some, b.CreateAnd(nan, entry_.lanes.first_lanes(left)));
            }
        });
    }
    return entry_.lanes.any(some);
}

void Accumulate::hold_identities() {
    held_.assign(reductions_.size() * std::size_t(writer_.plan.row_vectors),
                 {});
    for (std::size_t k = 0; k < reductions_.size(); ++k) {
        const MonoidWriter& monoid = *reductions_[k].monoid;
        for (int r = 0; r < writer_.plan.row_vectors; ++r)
            for (int field = 0; field < int(monoid.fields().size()); ++field)
                for (std::int64_t c = 0;
                     c < monoid.fields()[std::size_t(field)].components; ++c)
                    held(k, r)[{field, c}] =
                        monoid.identity(values_, field, {c, nullptr});
    }
}

void Accumulate::write_results(Value* row) {
    for (int r = 0; r < writer_.plan.row_vectors; ++r) {
        const auto state_of = [&](const Slots& of) {
            const auto number = std::size_t(&of - reductions_.data());
            return StateRows(entry_.lanes, of.monoid->fields(),
                             held(number, r));
        };
        Evaluator values = entry_.evaluator(
            epilogue_leaves(
                entry_, reductions_, state_of,
                [&](ValueId id) { return entry_.constants->leaf(id); }),
            &kernel().result_chains);
        results_->evaluate(
            entry_, values, scratch(),
            entry_.b.CreateAdd(
                row, entry_.lanes.constant(r * entry_.lanes.width())));
    }
}

void Accumulate::run(std::size_t number, Value* row, Value* panel,
                     const std::function<void(Tile&)>& body, Value* column,
                     int columns) {
    auto& b = entry_.b;
    const int vectors = writer_.plan.row_vectors;
    const Slots& slots = reductions_[number];
    Tile tile{.writer = writer_,
              .lanes = entry_.lanes,
              .values = values_,
              .functions = entry_.functions,
              .rows = vectors,
              .columns = columns,
              .column = column,
              .panel = panel};
    tile.list = memory(number);
    tile.memory = accumulators(number);
    Value* first = first_slot(entry_, slots);
    std::vector<StateRows> states;
    states.reserve(std::size_t(vectors));
    for (int r = 0; r < vectors; ++r) {
        Value* point =
            b.CreateAdd(row, entry_.lanes.constant(r * entry_.lanes.width()));
        if (keeps_state_)
            states.emplace_back(entry_.lanes, slots.monoid->fields(),
                                entry_.argument(5), entry_.argument(6), point,
                                first);
        else
            states.emplace_back(entry_.lanes, slots.monoid->fields(),
                                held(number, r));
        tile.state.push_back(&states.back());
        tile.points.push_back(point);
        tile.index_base.push_back(index_base(number, point));
    }
    if (kernel().has_lanes_over_columns)
        tile.across = [&](Value* of_row, Value* at, Component component) {
            Evaluator values = entry_.evaluator(
                packed_leaves(entry_, rows_, columns_, scratch(), of_row, at),
                &kernel().pair_chains);
            return values.value(writer_.graph[lowered(number).id].operands[0],
                                component);
        };
    body(tile);
}

Value* Accumulate::index_base(std::size_t number, Value* point) {
    const ir::Node& node = writer_.graph[lowered(number).id];
    if (Axes(node.second) != Axes::IJ)
        return entry_.lanes.number(DType::I64, 0);
    auto& b = entry_.b;
    Value* columns = writer_.field(
        b, entry_.call, offsetof(tilefold_kernel_call, columns), false);
    return b.CreateMul(entry_.lanes.count_from(b.CreateAdd(i0(), point)),
                       entry_.lanes.splat(columns));
}
void write_accumulate(ModuleWriter& writer, std::vector<Slots>& reductions) {
    Accumulate(writer, reductions).write();
}

} // namespace tilefold::llvm_backend
