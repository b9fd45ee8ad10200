// compiler/backends/llvm/accumulate.cpp - the loop nest of a reduction:
// pack rows; for each panel of columns: pack columns; for each tile of rows:
// step over the panel with accumulators in registers, then fold into state.
//
// Reductions of vectors and of exponentials take a tile of columns at once:
// the scalars of its pairs are computed and kept in the first cache; then,
// as in a product of matrices, a few components at a time take all of them.

#include "compiler/backends/llvm/blocks.h"
#include "compiler/backends/llvm/guard.h"
#include "compiler/backends/llvm/parts.h"
#include "compiler/backends/llvm/sieve.h"
#include "compiler/backends/llvm/software_pipeline.h"
#include "compiler/backends/llvm/stages.h"
#include "compiler/backends/llvm/tile_leaves.h"

#include <algorithm>

namespace tilefold::llvm_backend {

using ir::Node;
using ir::ValueId;
using llvm::Value;

namespace {

/// Bytes that stages may read before and after packed columns, and the vectors
/// of pairs that are kept.
std::int64_t read_ahead(const ModuleWriter& writer) {
    const std::int64_t kept = writer.plan.row_vectors * writer.plan.lanes *
                              std::int64_t(size_of(writer.graph.real));
    return margin * std::max<std::int64_t>(16 * 8, kept);
}

/// accumulate under way.
class Accumulate {
public:
    Accumulate(ModuleWriter& writer, std::vector<Slots>& reductions)
        : writer_(writer), reductions_(reductions),
          entry_(writer, "accumulate", "pnnnnpnp", writer.plan.lanes),
          rows_(writer, writer.sites.rows, Axes::I, writer.plan.row_block, 0,
                Order::Tiles, writer.plan.row_vectors * writer.plan.lanes),
          parts_(writer, rows_.end()), sieve_(writer, parts_.end()),
          kept_(find_kept(writer, bodies(), sieve_.end() + read_ahead(writer))),
          columns_(writer, writer.sites.columns, Axes::J,
                   writer.plan.panel + margin * writer.plan.columns,
                   kept_.end() + read_ahead(writer), Order::Points, 1,
                   entry_.width),
          guard_(entry_), leaves_(entry_, rows_, columns_, kept_, scratch()),
          values_(writer.graph, entry_.lanes, entry_.functions,
                  writer.plan.unroll, entry_.width, leaves_) {}

    void write() {
        place_memory();
        auto& b = entry_.b;
        const std::int64_t depth = depth_of_blocks();
        const bool has_unit = depth > 0 && row_of(writer_.plan.isa).blocks;
        if (has_unit)
            emit_shapes(entry_.lanes, depth);
        Value* rows = b.CreateSub(entry_.argument(2), i0());
        rows_.fill(entry_.lanes, entry_.functions, entry_.call, i0(), rows,
                   scratch(), entry_.width, *entry_.constants);
        parts_.keep_rows(entry_, rows_, rows, scratch());
        sieve_.keep_rows(entry_, rows_, rows, scratch());
        Value* j1 = entry_.argument(4);
        Value* step = entry_.lanes.constant(writer_.plan.panel);
        entry_.lanes.loop(entry_.argument(3), j1, step, [&](Value* panel) {
            Value* count = entry_.least(step, b.CreateSub(j1, panel));
            Value* tiles = b.CreateSDiv(
                b.CreateAdd(rows, entry_.lanes.constant(tile_rows() - 1)),
                entry_.lanes.constant(tile_rows()));
            where_pairs_count(entry_.lanes.constant(0), rows, panel, count,
                              tiles, [&] { write_panel(panel, rows, count); });
        });
        if (has_unit)
            emit_release(entry_.lanes);
        entry_.finish();
    }

private:
    /// Columns of a tile of them, in whole blocks.
    std::int64_t k_tile() const {
        const std::int64_t k_tile = writer_.plan.k_tile;
        return depth_of_blocks() > 0 ? whole_squares(k_tile) : k_tile;
    }
    /// Words of a step of all products by blocks; 0: there are none.
    std::int64_t depth_of_blocks() const {
        const auto weighs = [&](ValueId id) { return weighs_by_blocks(id); };
        if (parts_.any() ||
            std::ranges::any_of(writer_.sites.reductions, weighs))
            return most_block_depth;
        for (const auto& [id, words] : writer_.words)
            if (words.depth > 0)
                return words.depth;
        return sieve_.depth();
    }
    bool weighs_by_blocks(ValueId reduce) const {
        return tilefold::weighs_by_blocks(writer_.graph, reduce, writer_.plan);
    }
    bool by_tiles(std::size_t number) const {
        return reductions_[number].monoid->by_tiles(writer_.plan);
    }
    bool by_tiles() const {
        for (std::size_t k = 0; k < reductions_.size(); ++k)
            if (by_tiles(k))
                return true;
        return false;
    }
    /// What the reductions that take tiles of columns read.
    std::vector<ValueId> bodies() const {
        std::vector<ValueId> all;
        for (std::size_t k = 0; k < reductions_.size(); ++k)
            if (by_tiles(k))
                for (ValueId operand : writer_.graph[reduction(k)].inputs())
                    all.push_back(operand);
        return all;
    }

    int tile_rows() const {
        return writer_.plan.row_vectors * entry_.lanes.width();
    }

    void write_panel(Value* panel, Value* rows, Value* count) {
        columns_.fill(entry_.lanes, entry_.functions, entry_.call, panel, count,
                      scratch(), entry_.width, *entry_.constants);
        parts_.keep_columns(entry_, columns_, count, scratch());
        sieve_.keep_columns(entry_, columns_, count, scratch());
        transpose_all_values(count);
        Value* step = entry_.lanes.constant(tile_rows());
        entry_.lanes.loop(
            entry_.lanes.constant(0), rows, step, [&](Value* row) {
                Value* left = entry_.b.CreateSub(rows, row);
                where_pairs_count(row, entry_.least(step, left), panel, count,
                                  entry_.lanes.constant(1), [&] {
                                      if (guard_.exists())
                                          guard_.note(true,
                                                      entry_.lanes.constant(1));
                                      write_tile(row, panel, count);
                                  });
            });
    }

    /// `body`, unless masks prove that none of these pairs counts: `rows`
    /// rows from row `row` of the block on, `count` columns from `first_column`
    /// on; else so many tiles are noted as left out.
    void where_pairs_count(Value* row, Value* rows, Value* first_column,
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

    Value* i0() { return entry_.argument(1); }
    Value* scratch() { return entry_.argument(7); }

    /// Of a vector of each row.
    std::int64_t vector_bytes() const {
        return writer_.plan.row_vectors * writer_.plan.lanes *
               std::int64_t(size_of(writer_.graph.real));
    }
    std::int64_t list_bytes(const Slots& slots) const {
        return vector_bytes() * slots.monoid->list_vectors(writer_.plan);
    }

    /// Accumulators that do not fit registers follow the packed columns.
    void place_memory() {
        Layout& layout = writer_.layout;
        std::int64_t fixed = columns_.end() + read_ahead(writer_);
        std::int64_t per_width = columns_.end_per_width();
        for (const Slots& slots : reductions_) {
            memory_.push_back({fixed, per_width});
            fixed += list_bytes(slots);
            const std::int64_t components = slots.monoid->components();
            if (values_.unrolled(components))
                continue;
            const auto take = [&](std::int64_t bytes) {
                if (components == dynamic)
                    per_width += bytes;
                else
                    fixed += bytes * components;
            };
            take(vector_bytes() * slots.monoid->wide_accumulators());
            if (!weighs_by_blocks(reduction(memory_.size() - 1)))
                continue;
            // Blocks of sums are whole, and values follow them.
            const WeightedBlocks blocks = empty_blocks();
            fixed += (square_rows - 1) * vector_bytes() + 64 +
                     blocks.padding_bytes();
            take(blocks.value_bytes());
        }
        layout.scratch = std::max(layout.scratch, fixed);
        layout.scratch_per_width =
            std::max(layout.scratch_per_width, per_width);
    }

    ValueId reduction(std::size_t number) const {
        return writer_.sites.reductions[number];
    }

    WeightedBlocks empty_blocks() const {
        return {.lanes = entry_.lanes,
                .vectors = writer_.plan.row_vectors,
                .weight_parts = writer_.plan.weight_parts,
                .capacity = columns_.capacity(),
                .k_tile = k_tile()};
    }

    /// Whose `values` are null where blocks do not take the sums.
    WeightedBlocks blocks_of(std::size_t number) {
        WeightedBlocks blocks = empty_blocks();
        if (!weighs_by_blocks(reduction(number)))
            return blocks;
        const Slots& slots = reductions_[number];
        const std::int64_t components = slots.monoid->components();
        blocks.width = components == dynamic
                           ? entry_.width
                           : entry_.lanes.constant(components);
        blocks.parts = memory(number);
        Value* sums = entry_.lanes.byte_offset(blocks.parts, list_bytes(slots));
        Value* rows = entry_.b.CreateAdd(
            blocks.width, entry_.lanes.constant(square_rows - 1));
        blocks.are_finite = entry_.lanes.at(sums, rows, 0, vector_bytes());
        blocks.values = entry_.lanes.byte_offset(blocks.are_finite, 64);
        return blocks;
    }

    /// Values of the panel that blocks take.
    void transpose_all_values(Value* count) {
        for (std::size_t k = 0; k < reductions_.size(); ++k) {
            const WeightedBlocks blocks = blocks_of(k);
            if (!blocks.values)
                continue;
            const ValueId id = writer_.graph[reduction(k)].operands[1];
            blocks.transpose(
                [&](Value* point) {
                    return columns_.address(entry_.lanes, scratch(), id, {},
                                            point);
                },
                count);
        }
    }

    Value* memory(std::size_t number) {
        const auto [fixed, per_width] = memory_[number];
        Value* place = entry_.lanes.byte_offset(scratch(), fixed);
        return per_width ? entry_.lanes.at(place, entry_.width, 0, per_width)
                         : place;
    }

    void write_tile(Value* row, Value* panel, Value* count) {
        leaves_.begin_tile(row);
        for (std::size_t k = 0; k < reductions_.size(); ++k)
            run(k, row, panel,
                [&](Tile& tile) { reductions_[k].monoid->start(tile); });
        Value* zero = entry_.lanes.constant(0);
        Value* tile = entry_.lanes.constant(k_tile());
        for (const auto& [id, offset] : kept_.deep.offsets)
            write_deep(id, count);
        if (by_tiles())
            entry_.lanes.loop(zero, count, tile, [&](Value* first) {
                Value* end =
                    entry_.least(entry_.b.CreateAdd(first, tile), count);
                where_pairs_count(row, entry_.lanes.constant(tile_rows()),
                                  entry_.b.CreateAdd(panel, first),
                                  entry_.b.CreateSub(end, first), nullptr, [&] {
                                      write_column_tile(row, panel, first, end);
                                  });
            });
        else
            write_column_tile(row, panel, zero, count);
        for (std::size_t k = 0; k < reductions_.size(); ++k)
            run(k, row, panel,
                [&](Tile& tile) { reductions_[k].monoid->finish(tile); });
        values_.forget();
    }

    /// Columns [first, end): a tile of them, or all where nothing takes tiles.
    void write_column_tile(Value* row, Value* panel, Value* first, Value* end) {
        if (!sieve_.exists())
            return write_all_columns(row, panel, first, end);
        Value* all = nullptr;
        run(0, row, panel, [&](Tile& tile) { all = sifted().wants_all(tile); });
        entry_.lanes.when(all,
                          [&] { write_all_columns(row, panel, first, end); });
        entry_.lanes.when(entry_.b.CreateNot(all),
                          [&] { write_sieved(row, panel, first, end); });
    }

    void write_all_columns(Value* row, Value* panel, Value* first, Value* end) {
        leaves_.begin_column_tile(first);
        for (const auto& [id, offset] : kept_.blocks.offsets)
            write_blocks(id, row, first, end);
        write_steps(row, panel, first, end);
        leaves_.show_scalars(true);
        for (std::size_t k = 0; k < reductions_.size(); ++k)
            if (by_tiles(k))
                take(k, row, panel, first, end);
        leaves_.show_scalars(false);
        values_.forget();
    }

    Sifted& sifted() { return *reductions_[0].monoid->sifted(); }

    /// The only reduction takes what passes, computed one by one.
    void write_sieved(Value* row, Value* panel, Value* first, Value* end) {
        sieve_.multiply(entry_, row, first, end, scratch());
        const auto sift = [&](Tile& tile) {
            std::vector<Sieve::Limits> limits;
            for (int r = 0; r < tile.rows; ++r)
                limits.push_back(sieve_.limits(
                    entry_, row, r, sifted().worst(tile, r), scratch()));
            each_step(first, end, 1, [&](Value* column, int) {
                tile.column = column;
                for (int r = 0; r < tile.rows; ++r)
                    sifted().sift(tile, r,
                                  sieve_.passes(entry_, limits[std::size_t(r)],
                                                r, first, column, scratch()));
            });
            leaves_.begin_column_tile(first);
            for (int r = 0; r < tile.rows; ++r)
                take_passed(tile, r, first);
        };
        run(0, row, panel, sift);
    }

    /// First all distances, some columns side by side, since each is one long
    /// chain; then they are kept, and no branch waits for such a chain.
    void take_passed(Tile& tile, int r, Value* first) {
        auto& b = entry_.b;
        const Lanes& lanes = entry_.lanes;
        constexpr int together = 4;
        const ValueId body = writer_.graph[reduction(0)].operands[0];
        Value* count = sifted().passed(tile, r);
        Value* zero = lanes.constant(0);
        Value* last = b.CreateSub(count, lanes.constant(1));
        lanes.loop(zero, count, lanes.constant(together), [&](Value* number) {
            std::vector<Value*> columns;
            for (int n = 0; n < together; ++n) {
                Value* there =
                    entry_.least(b.CreateAdd(number, lanes.constant(n)), last);
                columns.push_back(sifted().passed_column(tile, r, there));
            }
            values_.forget();
            leaves_.begin_listed(columns, b.CreateAdd(first, number));
            run_contractions(reduction(0), together);
            for (int n = 0; n < together; ++n)
                lanes.store(values_.value(body, {}, r, n),
                            leaves_.scalar_address(body, r, n));
        });
        leaves_.show_scalars(true);
        lanes.loop(zero, count, lanes.constant(1), [&](Value* number) {
            at_columns(tile, b.CreateAdd(first, number), 1, [&] {
                tile.column = sifted().passed_column(tile, r, number);
                sifted().take_passed(tile, r);
            });
        });
        leaves_.show_scalars(false);
        sifted().forget_passed(tile, r);
    }

    /// Hands columns [first, end), whose scalars are kept, to a reduction.
    void take(std::size_t number, Value* row, Value* panel, Value* first,
              Value* end) {
        const Slots& slots = reductions_[number];
        const auto body = [&](Tile& tile) {
            tile.first = first;
            tile.end = end;
            const WeightedBlocks blocks = blocks_of(number);
            if (blocks.values)
                tile.blocks = &blocks;
            tile.at_columns = [&](Value* column, int columns,
                                  const std::function<void()>& body) {
                at_columns(tile, column, columns, body);
            };
            const bool stages =
                may_run_ahead() && values_.unrolled(slots.monoid->components());
            slots.monoid->take(
                tile, [&](int step, const std::function<void()>& each) {
                    llvm::Instruction* branch =
                        each_step(first, end, stages ? 1 : step,
                                  [&](Value* column, int columns) {
                                      tile.column = column;
                                      tile.columns = columns;
                                      each();
                                  });
                    if (stages)
                        request_stages(*branch, writer_.plan.stage);
                    values_.forget();
                });
        };
        run(number, row, panel, body, nullptr, writer_.plan.columns);
    }

    void at_columns(Tile& tile, Value* column, int columns,
                    const std::function<void()>& body) {
        values_.forget();
        leaves_.begin_columns(column);
        tile.column = column;
        tile.columns = columns;
        body();
        values_.forget();
    }

    /// Columns [from, to), `columns` at a time and the rest one by one.
    /// Returns the branch that closes the first of the loops.
    llvm::Instruction* each_step(Value* from, Value* to, int columns,
                                 const std::function<void(Value*, int)>& body) {
        auto& b = entry_.b;
        const auto loop = [&](Value* first, Value* last, int step) {
            return entry_.lanes.loop(first, last, entry_.lanes.constant(step),
                                     [&](Value* column) {
                                         values_.forget();
                                         leaves_.begin_columns(column);
                                         body(column, step);
                                     });
        };
        if (columns == 1)
            return loop(from, to, 1);
        Value* step = entry_.lanes.constant(columns);
        Value* whole = b.CreateAdd(
            from, b.CreateMul(b.CreateSDiv(b.CreateSub(to, from), step), step));
        llvm::Instruction* branch = loop(from, whole, columns);
        loop(whole, to, 1);
        return branch;
    }

    /// All sums of a contraction for the tile: part after part of components,
    /// so that a part of the rows stays in the first cache for all columns.
    void write_deep(ValueId id, Value* count) {
        const Node& node = writer_.graph[id];
        const Plan& plan = writer_.plan;
        Value* zero = entry_.lanes.constant(0);
        Value* start =
            entry_.lanes.number(node.type.dtype, Evaluator::start_of(node.op));
        each_step(zero, count, 1, [&](Value*, int) {
            for (int r = 0; r < plan.row_vectors; ++r)
                entry_.lanes.store(start, leaves_.sum_address(id, r, 0));
        });
        Value* depth = entry_.lanes.constant(plan.depth);
        Value* terms = entry_.lanes.constant(terms_of(writer_.graph, node));
        entry_.lanes.loop(zero, terms, depth, [&](Value* from) {
            Value* to = entry_.least(entry_.b.CreateAdd(from, depth), terms);
            each_step(zero, count, plan.columns, [&](Value*, int columns) {
                values_.contract_part(id, from, to, plan.row_vectors, columns,
                                      [&](int r, int j) {
                                          return leaves_.sum_address(id, r, j);
                                      });
            });
        });
    }

    /// The same of columns [first, end), a block of sums at a time.
    void write_blocks(ValueId id, Value* row, Value* first, Value* end) {
        BlockProduct product =
            parts_.has(id) ? parts_.product(entry_, id, row, first, scratch())
                           : product_of_words(id, row, first);
        product.c = leaves_.first_sum(id);
        product.vectors = writer_.plan.row_vectors;
        product.rows = entry_.b.CreateSub(end, first);
        product.starts = true;
        emit_product(entry_.lanes, product);
    }

    BlockProduct product_of_words(ValueId id, Value* row, Value* first) {
        const auto [x, y] = rows_first(writer_.graph, writer_.graph[id]);
        const Words& words = *writer_.words_of(x);
        BlockProduct product;
        product.factors = {
            {columns_.address(entry_.lanes, scratch(), y, {}, first),
             {rows_.address(entry_.lanes, scratch(), x, {}, row)}}};
        product.a_stride = columns_.run(y);
        product.b_step = words.depth * vector_bytes();
        product.depth = words.depth;
        product.steps = entry_.lanes.constant(words.steps());
        product.most_steps = words.steps();
        product.exact = words.exact();
        return product;
    }

    void run_contractions(ValueId reduce, int columns) {
        for (ValueId operand : writer_.graph[reduce].inputs())
            values_.run_contractions(operand, writer_.plan.row_vectors,
                                     columns);
    }

    void write_steps(Value* row, Value* panel, Value* from, Value* to) {
        llvm::Instruction* branch = each_step(
            from, to, writer_.plan.columns, [&](Value* column, int columns) {
                for (ValueId id : writer_.sites.reductions)
                    run_contractions(id, columns);
                keep_scalars(columns);
                for (std::size_t k = 0; k < reductions_.size(); ++k)
                    run(
                        k, row, panel,
                        [&](Tile& tile) { reductions_[k].monoid->step(tile); },
                        column, columns);
            });
        if (may_run_ahead() && !by_tiles())
            request_stages(*branch, writer_.plan.stage);
    }

    /// Whether the plan has stages, and there is memory where they read beyond
    /// the first and the last column of a tile.
    bool may_run_ahead() const {
        return writer_.plan.stage && kept_.deep.empty() &&
               kept_.blocks.empty() && columns_.is_by_components();
    }

    void keep_scalars(int columns) {
        for (const auto& [id, offset] : kept_.scalars.offsets)
            for (int r = 0; r < writer_.plan.row_vectors; ++r)
                for (int j = 0; j < columns; ++j)
                    entry_.lanes.store(values_.value(id, {}, r, j),
                                       leaves_.scalar_address(id, r, j));
    }

    /// Makes the tile of reduction `number` and hands it to `body`.
    void run(std::size_t number, Value* row, Value* panel,
             const std::function<void(Tile&)>& body, Value* column = nullptr,
             int columns = 1) {
        auto& b = entry_.b;
        const int vectors = writer_.plan.row_vectors;
        const Slots& slots = reductions_[number];
        Tile tile{.lanes = entry_.lanes,
                  .values = values_,
                  .functions = entry_.functions,
                  .rows = vectors,
                  .columns = columns,
                  .column = column,
                  .panel = panel};
        tile.list = memory(number);
        tile.memory = entry_.lanes.byte_offset(tile.list, list_bytes(slots));
        Value* first = first_slot(entry_, slots);
        std::vector<StateRows> states;
        states.reserve(std::size_t(vectors));
        for (int r = 0; r < vectors; ++r) {
            Value* point = b.CreateAdd(
                row, entry_.lanes.constant(r * entry_.lanes.width()));
            states.emplace_back(entry_.lanes, slots.monoid->fields(),
                                entry_.argument(5), entry_.argument(6), point,
                                first);
            tile.state.push_back(&states.back());
            tile.points.push_back(point);
            tile.index_base.push_back(index_base(number, point));
        }
        if (kept_.deep.empty() && kept_.blocks.empty() &&
            columns_.is_by_components())
            tile.across = [&](Value* of_row, Value* at, Component component) {
                AcrossLeaves leaves(entry_, rows_, columns_, scratch(), of_row,
                                    at);
                Evaluator values(writer_.graph, entry_.lanes, entry_.functions,
                                 writer_.plan.unroll, entry_.width, leaves);
                return values.value(
                    writer_.graph[reduction(number)].operands[0], component);
            };
        body(tile);
    }

    /// What a column's index counts from: i * M where both are reduced.
    Value* index_base(std::size_t number, Value* point) {
        const Node& node = writer_.graph[reduction(number)];
        if (Axes(node.second) != Axes::IJ)
            return entry_.lanes.number(DType::I64, 0);
        auto& b = entry_.b;
        Value* columns = writer_.field(b, entry_.call,
                                       offsetof(tilefold_call, columns), false);
        return b.CreateMul(entry_.lanes.count_from(b.CreateAdd(i0(), point)),
                           entry_.lanes.splat(columns));
    }

    ModuleWriter& writer_;
    std::vector<Slots>& reductions_;
    Entry entry_;
    Pack rows_;
    FactorParts parts_;
    Sieve sieve_;
    KeptValues kept_;
    Pack columns_;
    TileGuard guard_;
    TileLeaves leaves_;
    Evaluator values_;
    std::vector<std::pair<std::int64_t, std::int64_t>> memory_;
};

} // namespace

void write_accumulate(ModuleWriter& writer, std::vector<Slots>& reductions) {
    Accumulate(writer, reductions).write();
}

} // namespace tilefold::llvm_backend
