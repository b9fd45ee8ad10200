// compiler/backends/llvm/nest/values_nest.cpp - the result itself for listed
// pairs (zip: diagonals, pairs, maps) or for all of a block (dense).

#include "compiler/backends/cpu/plan_cost.h"
#include "compiler/backends/llvm/nest/nest.h"

#include <algorithm>

namespace tilefold::llvm_backend {

using ir::ValueId;
using llvm::Value;

namespace {

/// Lanes over pairs: both axes are read at the same place of their run.
class ZipLeaves : public PackedLeaves {
public:
    ZipLeaves(Entry& entry, const Pack& rows, const Pack& columns,
              Value* scratch, Value* point)
        : PackedLeaves(entry, rows, columns, scratch), point_(point) {}

private:
    Value* read_packed(ValueId id, Component component) override {
        const Pack& pack = rows_.has(id) ? rows_ : columns_;
        return entry_.lanes.load(
            entry_.writer.packed_dtype(id),
            pack.address(entry_.lanes, scratch_, id, component, point_));
    }

    Value* point_;
};

/// Lanes over columns of one row.
class RowLeaves : public PackedLeaves {
public:
    RowLeaves(Entry& entry, const Pack& rows, const Pack& columns,
              Value* scratch, Value* row, Value* point)
        : PackedLeaves(entry, rows, columns, scratch), row_(row),
          point_(point) {}

private:
    Value* read_packed(ValueId id, Component component) override {
        const DType dtype = entry_.writer.packed_dtype(id);
        if (rows_.has(id))
            return entry_.lanes.broadcast(
                dtype,
                rows_.address(entry_.lanes, scratch_, id, component, row_));
        return entry_.lanes.load(
            dtype,
            columns_.address(entry_.lanes, scratch_, id, component, point_));
    }

    Value *row_, *point_;
};

/// Runs `body(first, count)` over [from, to) in chunks.
void each_chunk(Entry& entry, Value* from, Value* to,
                const std::function<void(Value*, Value*)>& body) {
    Value* most = entry.lanes.constant(point_chunk);
    entry.lanes.loop(from, to, most, [&](Value* first) {
        body(first, entry.least(most, entry.b.CreateSub(to, first)));
    });
}

void write_zip(ModuleWriter& writer) {
    Entry entry(writer, "zip", "pnnp", writer.plan.lanes);
    auto& b = entry.b;
    Value* scratch = entry.argument(3);
    const PointEntry& lowered = writer.kernel.zip;
    const Pack rows(writer, lowered.rows), columns(writer, lowered.columns);
    const ResultBuffer results(writer, point_chunk, lowered.results);
    Value* out =
        writer.field(b, entry.call, offsetof(tilefold_call, out), true);
    Value* step =
        writer.field(b, entry.call, offsetof(tilefold_call, out_row), false);
    each_chunk(
        entry, entry.argument(1), entry.argument(2),
        [&](Value* first, Value* count) {
            for (const Pack* pack : {&rows, &columns})
                pack->fill(entry.lanes, entry.functions, entry.call, first,
                           count, scratch, entry.width, *entry.constants);
            entry.lanes.loop(
                entry.lanes.constant(0), count,
                entry.lanes.constant(entry.lanes.width()), [&](Value* point) {
                    ZipLeaves leaves(entry, rows, columns, scratch, point);
                    Evaluator values(writer.graph, entry.lanes, entry.functions,
                                     writer.plan.unroll, entry.width, leaves);
                    results.evaluate(entry, values, scratch, point);
                });
            results.store(entry, scratch, count,
                          b.CreatePtrAdd(out, b.CreateMul(first, step)), step);
        });
    entry.finish();
}

/// One row of a dense block: lanes over its columns, then a store.
void write_dense_row(Entry& entry, const Pack& rows, const Pack& columns,
                     const ResultBuffer& results, Value* row, Value* count,
                     Value* out, Value* out_column) {
    Value* scratch = entry.argument(5);
    const ModuleWriter& writer = entry.writer;
    entry.lanes.loop(
        entry.lanes.constant(0), count,
        entry.lanes.constant(entry.lanes.width()), [&](Value* point) {
            RowLeaves leaves(entry, rows, columns, scratch, row, point);
            Evaluator values(writer.graph, entry.lanes, entry.functions,
                             writer.plan.unroll, entry.width, leaves);
            results.evaluate(entry, values, scratch, point);
        });
    results.store(entry, scratch, count, out, out_column);
}

void write_dense(ModuleWriter& writer) {
    Entry entry(writer, "dense", "pnnnnp", writer.plan.lanes);
    auto& b = entry.b;
    Value* scratch = entry.argument(5);
    const PointEntry& lowered = writer.kernel.dense;
    const Pack rows(writer, lowered.rows), columns(writer, lowered.columns);
    const ResultBuffer results(writer, point_chunk, lowered.results);
    const auto read = [&](std::size_t offset, bool is_pointer) {
        return writer.field(b, entry.call, offset, is_pointer);
    };
    Value* out = read(offsetof(tilefold_call, out), true);
    Value* out_row = read(offsetof(tilefold_call, out_row), false);
    Value* out_column = read(offsetof(tilefold_call, out_column), false);
    const auto fill = [&](const Pack& pack, Value* first, Value* count) {
        pack.fill(entry.lanes, entry.functions, entry.call, first, count,
                  scratch, entry.width, *entry.constants);
    };
    each_chunk(
        entry, entry.argument(1), entry.argument(2),
        [&](Value* i, Value* height) {
            fill(rows, i, height);
            each_chunk(
                entry, entry.argument(3), entry.argument(4),
                [&](Value* j, Value* count) {
                    fill(columns, j, count);
                    Value* corner =
                        b.CreatePtrAdd(out, b.CreateMul(j, out_column));
                    entry.lanes.loop(
                        entry.lanes.constant(0), height,
                        entry.lanes.constant(1), [&](Value* row) {
                            Value* offset =
                                b.CreateMul(b.CreateAdd(i, row), out_row);
                            write_dense_row(
                                entry, rows, columns, results, row, count,
                                b.CreatePtrAdd(corner, offset), out_column);
                        });
                });
        });
    entry.finish();
}

} // namespace

void write_values_nest(ModuleWriter& writer) {
    writer.layout.nanoseconds =
        nanoseconds_per_pair(writer.graph, writer.plan) + 1;
    if (writer.has_rest)
        write_zip(writer);
    if (writer.has_pairs)
        write_dense(writer);
}

} // namespace tilefold::llvm_backend
