// compiler/backends/llvm/nest/values_nest.cpp - the result itself for listed
// pairs (zip: diagonals, pairs, maps) or for all of a block (dense).

#include "compiler/backends/cpu/plan_cost.h"
#include "compiler/backends/llvm/nest/nest.h"

#include <algorithm>
#include <set>

namespace tilefold::llvm_backend {

using ir::ValueId;
using llvm::Value;

namespace {

/// Runs `body(first, count)` over [from, to) in chunks.
void each_chunk(Entry& entry, Value* from, Value* to,
                const std::function<void(Value*, Value*)>& body) {
    Value* most = entry.lanes.constant(point_chunk);
    entry.lanes.loop(from, to, most, [&](Value* first) {
        body(first, entry.least(most, entry.b.CreateSub(to, first)));
    });
}

/// Evaluates the results of `count` pairs: of one row, with lanes over
/// columns, or, where `row` is null, of the same number on both axes.
void evaluate_pairs(Entry& entry, const Pack& rows, const Pack& columns,
                    const PointEntry& lowered, const ResultBuffer& results,
                    Value* scratch, Value* row, Value* count) {
    Lanes& lanes = entry.lanes;
    std::set<ValueId> kept;
    const auto place = [&](ValueId id, Component component) {
        const DType dtype = entry.writer.graph[id].type.dtype;
        const auto size = lanes.width() * std::int64_t(size_of(dtype));
        Value* at = lanes.byte_offset(
            scratch, lowered.vectors.of.at(id).offset + component.fixed * size);
        return component.runtime ? lanes.at(at, component.runtime, 0, size)
                                 : at;
    };
    const auto body = [&](Value* point) {
        const Leaves packed =
            packed_leaves(entry, rows, columns, scratch, row, point);
        kept.clear();
        Evaluator values = entry.evaluator(
            [&](ValueId id) -> Leaf {
                if (kept.count(id) == 0)
                    return packed(id);
                return {[&, id](Component at, int, int) {
                    return lanes.load(entry.writer.graph[id].type.dtype,
                                      place(id, at));
                }};
            },
            &lowered.chains);
        for (const auto& [id, vector] : lowered.vectors.of) {
            values.keep_vector(
                id, 1, 1, lowered.vectors.components_at_once,
                [&](Component at, int, int) { return place(id, at); });
            kept.insert(id);
        }
        results.evaluate(entry, values, scratch, point);
    };
    entry.each_vector(count, body);
}

void write_zip(ModuleWriter& writer) {
    Entry entry(writer, "zip", "pnnp", writer.plan.lanes);
    auto& b = entry.b;
    Value* scratch = entry.argument(3);
    const PointEntry& lowered = writer.kernel.zip;
    const Pack rows(writer, lowered.rows), columns(writer, lowered.columns);
    const ResultBuffer results(writer, point_chunk, lowered.results);
    Value* out =
        writer.field(b, entry.call, offsetof(tilefold_kernel_call, out), true);
    Value* step = writer.field(b, entry.call,
                               offsetof(tilefold_kernel_call, out_row), false);
    each_chunk(entry, entry.argument(1), entry.argument(2),
               [&](Value* first, Value* count) {
                   for (const Pack* pack : {&rows, &columns})
                       pack->fill(entry, first, count, scratch);
                   evaluate_pairs(entry, rows, columns, lowered, results,
                                  scratch, nullptr, count);
                   results.store(entry, scratch, count,
                                 b.CreatePtrAdd(out, b.CreateMul(first, step)),
                                 step);
               });
    entry.finish();
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
    Value* out = read(offsetof(tilefold_kernel_call, out), true);
    Value* out_row = read(offsetof(tilefold_kernel_call, out_row), false);
    Value* out_column = read(offsetof(tilefold_kernel_call, out_column), false);
    const auto fill = [&](const Pack& pack, Value* first, Value* count) {
        pack.fill(entry, first, count, scratch);
    };
    each_chunk(entry, entry.argument(1), entry.argument(2),
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
                                   Value* offset = b.CreateMul(
                                       b.CreateAdd(i, row), out_row);
                                   Value* place =
                                       b.CreatePtrAdd(corner, offset);
                                   evaluate_pairs(entry, rows, columns, lowered,
                                                  results, scratch, row, count);
                                   results.store(entry, scratch, count, place,
                                                 out_column);
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
