// compiler/backends/llvm/nest/column_tiles.cpp - the columns of a tile of rows.
//
// Reductions of vectors and of exponentials take a tile of columns at once:
// the scalars of its pairs are computed and kept in the first cache; then,
// as in a product of matrices, a few components at a time take all of them.

#include "compiler/backends/llvm/nest/accumulate.h"
#include "compiler/backends/llvm/pipelining/software_pipeline.h"

#include <algorithm>

namespace tilefold::llvm_backend {

using ir::Node;
using ir::ValueId;
using llvm::Value;

void Accumulate::write_column_tile(Value* row, Value* panel, Value* first,
                                   Value* end) {
    if (!filter_.exists())
        return write_all_columns(row, panel, first, end);
    Value* all = nullptr;
    run(0, row, panel, [&](Tile& tile) { all = filtered().wants_all(tile); });
    entry_.lanes.when(all, [&] { write_all_columns(row, panel, first, end); });
    entry_.lanes.when(entry_.b.CreateNot(all),
                      [&] { write_filtered(row, panel, first, end); });
}

void Accumulate::write_all_columns(Value* row, Value* panel, Value* first,
                                   Value* end) {
    leaves_.begin_column_tile(first);
    for (const auto& [id, offset] : kernel().kept.tiles.offsets)
        write_blocks(id, row, first, end);
    write_steps(row, panel, first, end);
    leaves_.show_scalars(true);
    for (std::size_t k = 0; k < reductions_.size(); ++k)
        if (lowered(k).by_column_tiles)
            take(k, row, panel, first, end);
    leaves_.show_scalars(false);
    values_.forget();
}

void Accumulate::write_filtered(Value* row, Value* panel, Value* first,
                                Value* end) {
    const auto take_filtered = [&](Tile& tile) {
        std::vector<LowerBoundFilter::Limits> limits;
        for (int r = 0; r < tile.rows; ++r)
            limits.push_back(filter_.limits(
                entry_, row, r, filtered().worst(tile, r), scratch()));
        filter_.each_column(entry_, row, first, end, limits, scratch(),
                            [&](Value* column, int r, Value* passes) {
                                tile.column = column;
                                filtered().take_filtered(tile, r, passes);
                            });
        leaves_.begin_column_tile(first);
        for (int r = 0; r < tile.rows; ++r)
            take_passed(tile, r, first);
    };
    run(0, row, panel, take_filtered);
}

void Accumulate::take_passed(Tile& tile, int r, Value* first) {
    auto& b = entry_.b;
    const Lanes& lanes = entry_.lanes;
    constexpr int together = 4;
    const ValueId body = writer_.graph[lowered(0).id].operands[0];
    Value* count = filtered().passed(tile, r);
    Value* zero = lanes.constant(0);
    Value* last = b.CreateSub(count, lanes.constant(1));
    lanes.loop(zero, count, lanes.constant(together), [&](Value* number) {
        std::vector<Value*> columns;
        for (int n = 0; n < together; ++n) {
            Value* there =
                entry_.least(b.CreateAdd(number, lanes.constant(n)), last);
            columns.push_back(filtered().passed_column(tile, r, there));
        }
        values_.forget();
        leaves_.begin_listed(columns, b.CreateAdd(first, number));
        run_contractions(lowered(0).id, together);
        for (int n = 0; n < together; ++n)
            lanes.store(values_.value(body, {}, r, n),
                        leaves_.scalar_address(body, r, n));
    });
    leaves_.show_scalars(true);
    lanes.loop(zero, count, lanes.constant(1), [&](Value* number) {
        at_columns(tile, b.CreateAdd(first, number), 1, [&] {
            tile.column = filtered().passed_column(tile, r, number);
            filtered().take_passed(tile, r);
        });
    });
    leaves_.show_scalars(false);
    filtered().finish_passed(tile, r);
}

void Accumulate::take(std::size_t number, Value* row, Value* panel,
                      Value* first, Value* end) {
    const Slots& slots = reductions_[number];
    const auto body = [&](Tile& tile) {
        tile.first = first;
        tile.end = end;
        const ValueMatmul blocks = blocks_of(number);
        if (blocks.values)
            tile.blocks = &blocks;
        tile.at_columns = [&](Value* column, int columns,
                              const std::function<void()>& body) {
            at_columns(tile, column, columns, body);
        };
        const bool stages = kernel().is_pipelined && !slots.lowered.in_memory;
        slots.monoid->take(tile, [&](int step,
                                     const std::function<void()>& each) {
            llvm::Instruction* branch = each_step(
                first, end, stages ? 1 : step, [&](Value* column, int columns) {
                    tile.column = column;
                    tile.columns = columns;
                    each();
                });
            if (stages)
                request_stages(*branch, writer_.plan.min_stage_cycles,
                               kernel().reads_in_place);
            values_.forget();
        });
    };
    run(number, row, panel, body, nullptr, writer_.plan.columns);
}

void Accumulate::at_columns(Tile& tile, Value* column, int columns,
                            const std::function<void()>& body) {
    values_.forget();
    leaves_.begin_columns(column);
    tile.column = column;
    tile.columns = columns;
    body();
    values_.forget();
}

llvm::Instruction*
Accumulate::each_step(Value* from, Value* to, int columns,
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
    Value* done = from;
    const auto whole_steps = [&](int step) {
        Value* size = entry_.lanes.constant(step);
        Value* left = b.CreateSDiv(b.CreateSub(to, done), size);
        Value* end = b.CreateAdd(done, b.CreateMul(left, size));
        llvm::Instruction* branch = loop(done, end, step);
        done = end;
        return branch;
    };
    llvm::Instruction* branch = whole_steps(columns);
    if (const int last = kernel().last_columns; last > 1 && last < columns)
        whole_steps(last);
    loop(done, to, 1);
    return branch;
}

void Accumulate::write_deep(ValueId id, Value* count) {
    const Node& node = writer_.graph[id];
    const Plan& plan = writer_.plan;
    Value* zero = entry_.lanes.constant(0);
    Value* start = entry_.lanes.number(node.type.dtype, ir::start_of(node.op));
    each_step(zero, count, 1, [&](Value*, int) {
        for (int r = 0; r < plan.row_vectors; ++r)
            entry_.lanes.store(start, leaves_.sum_address(id, r, 0));
    });
    Value* depth = entry_.lanes.constant(plan.k_block);
    Value* terms = entry_.lanes.constant(terms_of(writer_.graph, node));
    entry_.lanes.loop(zero, terms, depth, [&](Value* from) {
        Value* to = entry_.least(entry_.b.CreateAdd(from, depth), terms);
        each_step(zero, count, plan.columns, [&](Value*, int columns) {
            values_.contract_part(
                id, from, to, plan.row_vectors, columns,
                [&](int r, int j) { return leaves_.sum_address(id, r, j); });
        });
    });
}

void Accumulate::write_blocks(ValueId id, Value* row, Value* first,
                              Value* end) {
    TileProduct product =
        parts_.has(id) ? parts_.product(entry_, id, row, first, scratch())
                       : product_of_words(id, row, first);
    product.c = leaves_.first_sum(id);
    product.vectors = writer_.plan.row_vectors;
    product.rows = entry_.b.CreateSub(end, first);
    product.starts = true;
    emit_product(entry_.lanes, product);
}

TileProduct Accumulate::product_of_words(ValueId id, Value* row, Value* first) {
    const auto [x, y] = rows_first(writer_.graph, writer_.graph[id]);
    const Words& words = *writer_.words_of(x);
    TileProduct product;
    product.factors = {{columns_.address(entry_.lanes, scratch(), y, {}, first),
                        {rows_.address(entry_.lanes, scratch(), x, {}, row)}}};
    product.a_stride = columns_.run(y);
    product.b_step = words.depth * kernel().vector_bytes;
    product.depth = words.depth;
    product.steps = entry_.lanes.constant(words.steps());
    product.most_steps = words.steps();
    product.exact = words.exact();
    return product;
}

void Accumulate::run_contractions(ValueId reduce, int columns) {
    for (ValueId operand : writer_.graph[reduce].inputs())
        values_.run_contractions(operand, writer_.plan.row_vectors, columns);
}

void Accumulate::write_step(Value* row, Value* panel, Value* column,
                            int columns) {
    keep_vectors(columns);
    for (const Slots& slots : reductions_)
        run_contractions(slots.lowered.id, columns);
    keep_scalars(columns);
    for (std::size_t k = 0; k < reductions_.size(); ++k)
        run(
            k, row, panel,
            [&](Tile& tile) { reductions_[k].monoid->step(tile); }, column,
            columns);
}

void Accumulate::write_steps(Value* row, Value* panel, Value* from, Value* to) {
    llvm::Instruction* branch = each_step(
        from, to, writer_.plan.columns, [&](Value* column, int columns) {
            write_step(row, panel, column, columns);
        });
    if (kernel().is_pipelined && !kernel().by_column_tiles)
        request_stages(*branch, writer_.plan.min_stage_cycles,
                       kernel().reads_in_place);
}

void Accumulate::keep_vectors(int columns) {
    const KeptVectors& kept = kernel().kept.vectors;
    for (const auto& [id, vector] : kept.of) {
        if (layers_.has(id))
            layers_.multiply(entry_, values_, id, columns, scratch(),
                             leaves_.vector_address(id, {}, 0, 0),
                             vector.columns * kernel().vector_bytes);
        else
            values_.keep_vector(
                id, writer_.plan.row_vectors, columns, kept.components_at_once,
                [&](Component component, int r, int j) {
                    return leaves_.vector_address(id, component, r, j);
                });
        leaves_.show_vector(id);
    }
}

void Accumulate::keep_scalars(int columns) {
    for (const auto& [id, offset] : kernel().kept.scalars.offsets)
        for (int r = 0; r < writer_.plan.row_vectors; ++r)
            for (int j = 0; j < columns; ++j)
                entry_.lanes.store(values_.value(id, {}, r, j),
                                   leaves_.scalar_address(id, r, j));
}

} // namespace tilefold::llvm_backend
