// compiler/backends/llvm/nest/reduce_nest.cpp - init, merge and finalise of a
// reduction; accumulate has a file of its own.

#include "compiler/backends/cpu/plan_cost.h"
#include "compiler/backends/llvm/nest/nest.h"

#include <algorithm>

namespace tilefold::llvm_backend {

using ir::Op;
using ir::ValueId;
using llvm::Value;

namespace {

StateRows rows_of(Entry& entry, const Slots& slots, Value* state, Value* stride,
                  Value* row) {
    return {entry.lanes, slots.monoid->fields(),  state, stride,
            row,         first_slot(entry, slots)};
}

void write_init(ModuleWriter& writer, const std::vector<Slots>& reductions) {
    Entry entry(writer, "init", "ppn", writer.plan.lanes);
    Evaluator values = entry.evaluator();
    entry.each_vector(entry.argument(2), [&](Value* row) {
        for (const Slots& slots : reductions) {
            const StateRows state = rows_of(entry, slots, entry.argument(1),
                                            entry.argument(2), row);
            int number = 0;
            for (const StateField& field : slots.monoid->fields()) {
                values.each_component(field.components, [&](Component k) {
                    state.store(number, k,
                                slots.monoid->identity(values, number, k));
                });
                ++number;
            }
        }
    });
    entry.finish();
}

void write_merge(ModuleWriter& writer, const std::vector<Slots>& reductions) {
    Entry entry(writer, "merge", "pppnn", writer.plan.lanes);
    Evaluator values = entry.evaluator();
    Value* stride = entry.argument(3);
    Value* rows = entry.argument(4);
    entry.each_vector(rows, [&](Value* row) {
        Value* mask = entry.lanes.first_lanes(entry.b.CreateSub(rows, row));
        for (const Slots& slots : reductions) {
            StateRows into =
                rows_of(entry, slots, entry.argument(1), stride, row);
            StateRows from =
                rows_of(entry, slots, entry.argument(2), stride, row);
            into.set_mask(mask);
            from.set_mask(mask);
            slots.monoid->merge(values, entry.functions, into, from);
        }
    });
    entry.finish();
}

void write_fold(ModuleWriter& writer, const std::vector<Slots>& reductions) {
    Entry entry(writer, "fold", "ppnn", writer.plan.lanes);
    Evaluator values = entry.evaluator();
    for (const Slots& slots : reductions)
        slots.monoid->reduce_rows(
            values,
            [&](Value* row) {
                return rows_of(entry, slots, entry.argument(1),
                               entry.argument(2), row);
            },
            entry.argument(3));
    entry.finish();
}

void write_finalise(ModuleWriter& writer,
                    const std::vector<Slots>& reductions) {
    Entry entry(writer, "finalise", "pnnpnp", writer.plan.lanes);
    auto& b = entry.b;
    Value* i0 = entry.argument(1);
    Value* scratch = entry.argument(5);
    const Pack pack(writer, writer.kernel.epilogue);
    const ResultBuffer results(writer, row_chunk, writer.kernel.chunk_results);
    Value* out =
        writer.field(b, entry.call, offsetof(tilefold_kernel_call, out), true);
    Value* out_row = writer.field(
        b, entry.call, offsetof(tilefold_kernel_call, out_row), false);
    Value* rows = b.CreateSub(entry.argument(2), i0);
    entry.lanes.loop(
        entry.lanes.constant(0), rows, entry.lanes.constant(row_chunk),
        [&](Value* start) {
            Value* count = entry.least(entry.lanes.constant(row_chunk),
                                       b.CreateSub(rows, start));
            Value* first = b.CreateAdd(i0, start);
            pack.fill(entry, first, count, scratch);
            entry.each_vector(count, [&](Value* point) {
                const auto state_of = [&](const Slots& of) {
                    return rows_of(entry, of, entry.argument(3),
                                   entry.argument(4),
                                   b.CreateAdd(start, point));
                };
                Evaluator values = entry.evaluator(
                    epilogue_leaves(entry, reductions, state_of,
                                    packed_leaves(entry, pack, pack, scratch,
                                                  nullptr, point)),
                    &writer.kernel.result_chains);
                results.evaluate(entry, values, scratch, point);
            });
            results.store(entry, scratch, count,
                          b.CreatePtrAdd(out, b.CreateMul(first, out_row)),
                          out_row);
        });
    entry.finish();
}

/// Returns how many terms a result has: M, or N * M over both axes.
Value* terms_of(Entry& entry, ValueId id) {
    const auto field = [&](std::size_t offset) {
        return entry.writer.field(entry.b, entry.call, offset, false);
    };
    Value* columns = field(offsetof(tilefold_kernel_call, columns));
    if (Axes(entry.writer.graph[id].second) != Axes::IJ)
        return columns;
    return entry.b.CreateMul(field(offsetof(tilefold_kernel_call, rows)),
                             columns);
}

/// Returns what packing a point of an axis takes: numbers come from L2, as
/// arrays usually lie; strided ones take three times as long.
double packing_nanoseconds(const ModuleWriter& writer, Axes axis) {
    constexpr double element_nanoseconds = 0.2;
    const Packed& packed = axis == Axes::I ? writer.kernel.placement.rows
                                           : writer.kernel.placement.columns;
    std::int64_t elements = 0;
    const auto add = [&](ValueId id) {
        elements +=
            std::max<std::int64_t>(components_of(writer.graph[id].type), 1);
    };
    std::ranges::for_each(packed.leaves, add);
    std::ranges::for_each(packed.computed, add);
    for (const auto& [id, product] : writer.kernel.splits)
        add(product.row);
    return element_nanoseconds * double(elements);
}

/// Writes the costs that calls are cut by.
void write_costs(ModuleWriter& writer) {
    Layout& layout = writer.layout;
    layout.row_multiple = row_multiple(writer.plan);
    layout.nanoseconds = nanoseconds_per_pair(writer.graph, writer.plan);
    if (has_width(writer.graph))
        layout.nanoseconds_per_width =
            nanoseconds_per_component(writer.graph, writer.plan);
    layout.row_nanoseconds = packing_nanoseconds(writer, Axes::I);
    layout.column_nanoseconds = packing_nanoseconds(writer, Axes::J);
}

} // namespace

Leaves epilogue_leaves(Entry& entry, const std::vector<Slots>& reductions,
                       StateOf state_of, Leaves others) {
    return [=, &entry, &reductions](ValueId id) -> Leaf {
        if (entry.writer.graph[id].op != Op::Reduce)
            return others(id);
        return {[=, &entry, &reductions](Component at, int, int) {
            const auto slots = std::ranges::find(
                reductions, id, [](const Slots& of) { return of.lowered.id; });
            StateRows state = state_of(*slots);
            return slots->monoid->result(entry.lanes, entry.functions, state,
                                         at, terms_of(entry, id));
        }};
    };
}

std::vector<Slots> make_slots(const ModuleWriter& writer) {
    std::vector<Slots> reductions;
    for (const LoweredReduction& lowered : writer.kernel.reductions)
        reductions.push_back({lowered, make_monoid(writer.graph, lowered)});
    return reductions;
}

Value* first_slot(Entry& entry, const Slots& slots) {
    const WidthOffset first = slots.lowered.first_slot;
    Value* slot = entry.lanes.constant(first.offset);
    if (first.per_width)
        slot = entry.b.CreateAdd(
            slot, entry.b.CreateMul(entry.width,
                                    entry.lanes.constant(first.per_width)));
    return slot;
}

/// All reductions: those of the kernel, then those that read their states.
std::vector<Slots> make_results(const ModuleWriter& writer) {
    std::vector<Slots> results = make_slots(writer);
    for (const LoweredReduction& reader : writer.kernel.readers)
        results.push_back({reader, make_monoid(writer.graph, reader)});
    return results;
}

void write_rows_nest(ModuleWriter& writer) {
    std::vector<Slots> reductions = make_slots(writer);
    write_costs(writer);
    if (writer.has_pairs)
        write_accumulate(writer, reductions);
}

void write_reduce_nest(ModuleWriter& writer) {
    std::vector<Slots> reductions = make_slots(writer);
    write_costs(writer);
    if (writer.has_pairs)
        write_accumulate(writer, reductions);
    if (!writer.has_rest)
        return;
    write_init(writer, reductions);
    write_merge(writer, reductions);
    if (ir::folds_rows(writer.graph) &&
        std::ranges::all_of(reductions, [](const Slots& slots) {
            return slots.monoid->reduces_rows();
        }))
        write_fold(writer, reductions);
    write_finalise(writer, make_results(writer));
}

} // namespace tilefold::llvm_backend
