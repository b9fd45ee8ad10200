// compiler/backends/llvm/accumulate.cpp - the loop nest of a reduction:
// pack rows; for each panel of columns: pack columns; for each tile of rows:
// step over the panel with accumulators in registers, then fold into state.

#include "compiler/backends/llvm/guard.h"
#include "compiler/backends/llvm/nest.h"
#include "compiler/backends/llvm/software_pipeline.h"

#include <algorithm>

namespace tilefold::llvm_backend {

using ir::Node;
using ir::ValueId;
using llvm::Value;

namespace {

/// Contractions of packed values that are summed part by part, since they have
/// more components than the plan's depth; and where their sums lie in scratch:
/// for each column of a panel, the row vectors of a tile.
struct Deep {
    std::map<ValueId, std::int64_t> offsets;
    std::int64_t end;
};

Deep find_deep(const ModuleWriter& writer, std::int64_t offset) {
    Deep deep{{}, offset};
    const Plan& plan = writer.plan;
    const auto is_packed = [&](ValueId operand) {
        const auto holds = [&](const std::vector<ValueId>& list) {
            return std::ranges::find(list, operand) != list.end();
        };
        const Sites& sites = writer.sites;
        return holds(sites.rows.leaves) || holds(sites.rows.computed) ||
               holds(sites.columns.leaves) || holds(sites.columns.computed);
    };
    for (ValueId id = 0; plan.depth && id < writer.graph.nodes.size(); ++id) {
        const Node& node = writer.graph[id];
        if (!is_contraction(node.op) || node.type.rank != 0 ||
            node.type.axes != Axes::IJ ||
            terms_of(writer.graph, node) <= plan.depth ||
            writer.words_of(node.operands[0]) ||
            !std::ranges::all_of(node.inputs(), is_packed))
            continue;
        deep.offsets[id] = deep.end;
        deep.end += plan.panel * plan.row_vectors * plan.lanes *
                    std::int64_t(size_of(node.type.dtype));
    }
    return deep;
}

/// What a pair's term reads: constants; a vector of rows, kept for the tile;
/// one column's value in all lanes; finished sums of deep contractions.
class TileLeaves : public Leaves {
public:
    TileLeaves(Entry& entry, const Pack& rows, const Pack& columns,
               const Deep& deep, Value* scratch)
        : entry_(entry), rows_(rows), columns_(columns), deep_(deep),
          scratch_(scratch) {}

    bool has(ValueId id) const override {
        return entry_.constants->has(id) || rows_.has(id) || columns_.has(id) ||
               deep_.offsets.count(id);
    }

    Value* read(ValueId id, Component component, int row, int column) override {
        if (entry_.constants->has(id))
            return entry_.constants->read(id, component, row, column);
        if (deep_.offsets.count(id))
            return entry_.lanes.load(entry_.writer.graph[id].type.dtype,
                                     sum_address(id, row, column));
        return rows_.has(id) ? read_row(id, component, row)
                             : read_column(id, component, column);
    }

    const Words* words(ValueId id) const override {
        return entry_.writer.words_of(id);
    }

    /// The tile of rows from `row` on: loads what stays in registers.
    void begin_tile(Value* row, int row_vectors, const Packed& values,
                    int unroll) {
        row_ = row;
        kept_.clear();
        for (const auto* list : {&values.leaves, &values.computed})
            for (ValueId id : *list) {
                const std::int64_t components =
                    components_of(entry_.writer.graph[id].type);
                if (components > unroll)
                    continue;
                for (std::int64_t k = 0; k < components; ++k)
                    for (int r = 0; r < row_vectors; ++r)
                        kept_[{id, k, r}] = load_row(id, {k, nullptr}, r);
            }
    }
    void begin_columns(Value* column) { column_ = column; }

    Value* sum_address(ValueId id, int row, int column) const {
        const ModuleWriter& writer = entry_.writer;
        const auto size = entry_.lanes.width() *
                          std::int64_t(size_of(writer.graph[id].type.dtype));
        const std::int64_t vectors = writer.plan.row_vectors;
        return entry_.lanes.at(
            entry_.lanes.byte_offset(scratch_,
                                     deep_.offsets.at(id) +
                                         (column * vectors + row) * size),
            column_, 0, vectors * size);
    }

private:
    Value* load_row(ValueId id, Component component, int r) {
        Value* point = entry_.b.CreateAdd(
            row_, entry_.lanes.constant(r * entry_.lanes.width()));
        return entry_.lanes.load(
            entry_.writer.packed_dtype(id),
            rows_.address(entry_.lanes, scratch_, id, component, point));
    }

    Value* read_row(ValueId id, Component component, int r) {
        const auto kept = kept_.find({id, component.fixed, r});
        if (!component.runtime && kept != kept_.end())
            return kept->second;
        return load_row(id, component, r);
    }

    Value* read_column(ValueId id, Component component, int column) {
        Value* point =
            entry_.b.CreateAdd(column_, entry_.lanes.constant(column));
        return entry_.lanes.broadcast(
            entry_.writer.packed_dtype(id),
            columns_.address(entry_.lanes, scratch_, id, component, point));
    }

    Entry& entry_;
    const Pack& rows_;
    const Pack& columns_;
    const Deep& deep_;
    Value* scratch_;
    Value* row_ = nullptr;
    Value* column_ = nullptr;
    std::map<std::tuple<ValueId, std::int64_t, int>, Value*> kept_;
};

/// Bytes that stages may read before and after the packed columns.
constexpr std::int64_t read_ahead = margin * 16 * 8;

/// accumulate under way.
class Accumulate {
public:
    Accumulate(ModuleWriter& writer, std::vector<Slots>& reductions)
        : writer_(writer), reductions_(reductions),
          entry_(writer, "accumulate", "pnnnnpnp", writer.plan.lanes),
          rows_(writer, writer.sites.rows, Axes::I, writer.plan.row_block, 0,
                Order::Tiles, writer.plan.row_vectors * writer.plan.lanes),
          deep_(find_deep(writer, rows_.end())),
          columns_(writer, writer.sites.columns, Axes::J,
                   writer.plan.panel + margin * writer.plan.columns,
                   deep_.end + read_ahead, Order::Points, 1, entry_.width),
          guard_(entry_), leaves_(entry_, rows_, columns_, deep_, scratch()),
          values_(writer.graph, entry_.lanes, entry_.functions,
                  writer.plan.unroll, entry_.width, leaves_) {}

    void write() {
        place_memory();
        auto& b = entry_.b;
        Value* rows = b.CreateSub(entry_.argument(2), i0());
        rows_.fill(entry_.lanes, entry_.functions, entry_.call, i0(), rows,
                   scratch(), entry_.width, *entry_.constants);
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
        entry_.finish();
    }

private:
    int tile_rows() const {
        return writer_.plan.row_vectors * entry_.lanes.width();
    }

    void write_panel(Value* panel, Value* rows, Value* count) {
        columns_.fill(entry_.lanes, entry_.functions, entry_.call, panel, count,
                      scratch(), entry_.width, *entry_.constants);
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
    /// rows from row `row` of the block on, `count` columns of the panel.
    void where_pairs_count(Value* row, Value* rows, Value* panel, Value* count,
                           Value* tiles, const std::function<void()>& body) {
        if (!guard_.exists())
            return body();
        auto& b = entry_.b;
        Value* first = b.CreateAdd(i0(), row);
        Value* counts = guard_.may_count(first, b.CreateAdd(first, rows), panel,
                                         b.CreateAdd(panel, count));
        entry_.lanes.when(counts, body);
        entry_.lanes.when(b.CreateNot(counts),
                          [&] { guard_.note(false, tiles); });
    }

    Value* i0() { return entry_.argument(1); }
    Value* scratch() { return entry_.argument(7); }

    /// Accumulators that do not fit registers follow the packed columns.
    void place_memory() {
        Layout& layout = writer_.layout;
        std::int64_t fixed = columns_.end() + read_ahead;
        std::int64_t per_width = columns_.end_per_width();
        const std::int64_t vectors = writer_.plan.row_vectors *
                                     entry_.lanes.width() *
                                     std::int64_t(size_of(writer_.graph.real));
        for (const Slots& slots : reductions_) {
            memory_.push_back({fixed, per_width});
            fixed += vectors * slots.monoid->list_vectors();
            const std::int64_t components = slots.monoid->components();
            if (values_.unrolled(components))
                continue;
            const std::int64_t bytes =
                vectors * slots.monoid->wide_accumulators();
            if (components == dynamic)
                per_width += bytes;
            else
                fixed += bytes * components;
        }
        layout.scratch = std::max(layout.scratch, fixed);
        layout.scratch_per_width =
            std::max(layout.scratch_per_width, per_width);
    }

    Value* memory(std::size_t number) {
        const auto [fixed, per_width] = memory_[number];
        Value* place = entry_.lanes.byte_offset(scratch(), fixed);
        return per_width ? entry_.lanes.at(place, entry_.width, 0, per_width)
                         : place;
    }

    void write_tile(Value* row, Value* panel, Value* count) {
        auto& b = entry_.b;
        const Plan& plan = writer_.plan;
        leaves_.begin_tile(row, plan.row_vectors, writer_.sites.rows,
                           plan.unroll);
        for (std::size_t k = 0; k < reductions_.size(); ++k)
            run(k, row, panel,
                [&](Tile& tile) { reductions_[k].monoid->start(tile); });
        Value* columns = entry_.lanes.constant(plan.columns);
        Value* whole = plan.columns == 1
                           ? count
                           : b.CreateMul(b.CreateSDiv(count, columns), columns);
        for (const auto& [id, offset] : deep_.offsets)
            write_deep(id, whole, count);
        write_steps(row, panel, entry_.lanes.constant(0), whole, plan.columns);
        if (plan.columns > 1)
            write_steps(row, panel, whole, count, 1);
        for (std::size_t k = 0; k < reductions_.size(); ++k)
            run(k, row, panel,
                [&](Tile& tile) { reductions_[k].monoid->finish(tile); });
        values_.forget();
    }

    /// All sums of a contraction for the tile: part after part of components,
    /// so that a part of the rows stays in the first cache for all columns.
    void write_deep(ValueId id, Value* whole, Value* count) {
        const Node& node = writer_.graph[id];
        const Plan& plan = writer_.plan;
        Value* zero = entry_.lanes.constant(0);
        Value* one = entry_.lanes.constant(1);
        Value* start =
            entry_.lanes.number(node.type.dtype, Evaluator::start_of(node.op));
        entry_.lanes.loop(zero, count, one, [&](Value* column) {
            leaves_.begin_columns(column);
            for (int r = 0; r < plan.row_vectors; ++r)
                entry_.lanes.store(start, leaves_.sum_address(id, r, 0));
        });
        Value* depth = entry_.lanes.constant(plan.depth);
        Value* terms = entry_.lanes.constant(terms_of(writer_.graph, node));
        entry_.lanes.loop(zero, terms, depth, [&](Value* from) {
            Value* to = entry_.least(entry_.b.CreateAdd(from, depth), terms);
            const auto sweep = [&](Value* first, Value* last, int columns) {
                entry_.lanes.loop(first, last, entry_.lanes.constant(columns),
                                  [&](Value* column) {
                                      values_.forget();
                                      leaves_.begin_columns(column);
                                      values_.contract_part(
                                          id, from, to, plan.row_vectors,
                                          columns, [&](int r, int j) {
                                              return leaves_.sum_address(id, r,
                                                                         j);
                                          });
                                  });
            };
            sweep(zero, whole, plan.columns);
            if (plan.columns > 1)
                sweep(whole, count, 1);
        });
    }

    void write_steps(Value* row, Value* panel, Value* from, Value* to,
                     int columns) {
        llvm::Instruction* branch = entry_.lanes.loop(
            from, to, entry_.lanes.constant(columns), [&](Value* column) {
                values_.forget();
                leaves_.begin_columns(column);
                for (ValueId id : writer_.sites.reductions)
                    for (ValueId operand : writer_.graph[id].inputs())
                        values_.run_contractions(
                            operand, writer_.plan.row_vectors, columns);
                for (std::size_t k = 0; k < reductions_.size(); ++k)
                    run(
                        k, row, panel,
                        [&](Tile& tile) { reductions_[k].monoid->step(tile); },
                        column, columns);
            });
        // Stages read columns beyond the panel: as far as there is memory.
        if (writer_.plan.stage && deep_.offsets.empty() &&
            columns_.is_by_components())
            request_stages(*branch, writer_.plan.stage);
    }

    /// Makes the tile of reduction `number` and hands it to `body`.
    void run(std::size_t number, Value* row, Value* panel,
             const std::function<void(Tile&)>& body, Value* column = nullptr,
             int columns = 1) {
        auto& b = entry_.b;
        const int vectors = writer_.plan.row_vectors;
        const Slots& slots = reductions_[number];
        Tile tile{entry_.lanes, values_, entry_.functions,
                  vectors,      columns, column,
                  panel,        {},      {},
                  nullptr};
        tile.memory = memory(number);
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
            tile.index_base.push_back(index_base(number, point));
        }
        body(tile);
    }

    /// What a column's index counts from: i * M where both are reduced.
    Value* index_base(std::size_t number, Value* point) {
        const Node& node = writer_.graph[writer_.sites.reductions[number]];
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
    Deep deep_;
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
