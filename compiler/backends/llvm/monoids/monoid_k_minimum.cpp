// compiler/backends/llvm/monoids/monoid_k_minimum.cpp - the K smallest values
// and where they are, sorted, NaN last.
//
// A tile of columns is computed and kept first. On the way, what has a lane
// better than the worst of its list, rare after the first few hundred columns,
// is queued; lists then look at the queue alone.

#include "compiler/backends/llvm/matmul/bf16_splits.h"
#include "compiler/backends/llvm/monoids/smallest_lists.h"

#include <algorithm>

namespace tilefold::llvm_backend {
namespace {

using llvm::Value;

class KMinimum : public MonoidWriter, public FilteredList {
public:
    KMinimum(const ir::Graph& graph, const LoweredReduction& lowered)
        : MonoidWriter(graph, lowered), k_(node().third),
          lists_(k_, graph.real) {}

    void start(Tile& tile) override {
        for (int r = 0; r < tile.rows; ++r) {
            lists_.start(tile, r);
            empty_queue(tile, r);
        }
    }

    /// Columns, some together, of which one is better in a lane are queued,
    /// without a branch, which would be mispredicted after a tile's work.
    void step(Tile& tile) override {
        auto& b = tile.lanes.b;
        for (int j = 0; j < tile.columns; j += together)
            for (int r = 0; r < tile.rows; ++r) {
                const int count = std::min(together, tile.columns - j);
                Value* least = least_of(tile, r, j, count);
                Value* column =
                    b.CreateAdd(tile.column, tile.lanes.constant(j));
                queue(tile, r, column, tile.lanes.constant(count),
                      b.CreateOrReduce(lists_.is_better(tile, r, least)));
            }
    }

    void take(Tile& tile, const EachStep&) override {
        for (int r = 0; r < tile.rows; ++r) {
            tile.lanes.when(lists_.is_short(tile, r),
                            [&] { lists_.settle(tile, r); });
            tile.lanes.when(lists_.is_short(tile, r), [&] {
                lists_.bring_back(tile, r);
                if (lowered_.columns_of_bound > 1)
                    find_bound(tile, r);
                lists_.read(tile, r);
            });
            take_queue(tile, r);
        }
    }

    FilteredList* filtered() override { return this; }
    Value* wants_all(Tile& tile) override {
        Value* any = tile.lanes.b.getFalse();
        for (int r = 0; r < tile.rows; ++r)
            any = tile.lanes.b.CreateOr(any, lists_.is_short(tile, r));
        return any;
    }
    Value* worst(Tile& tile, int r) override { return lists_.worst(tile, r); }
    void take_filtered(Tile& tile, int r, Value* passes) override {
        queue(tile, r, tile.column, tile.lanes.constant(1),
              tile.lanes.b.CreateOrReduce(passes));
    }
    Value* passed(Tile& tile, int r) override {
        return tile.lanes.b.CreateLoad(tile.lanes.b.getInt64Ty(),
                                       length(tile, r));
    }
    Value* passed_column(Tile& tile, int r, Value* number) override {
        return tile.lanes.b.CreateAShr(queued(tile, r, number),
                                       tile.lanes.constant(count_bits));
    }
    void take_passed(Tile& tile, int r) override {
        note(tile, r, tile.lanes.constant(1));
    }
    void finish_passed(Tile& tile, int r) override {
        lists_.take_noted(tile, r);
        empty_queue(tile, r);
    }

    void finish_tile(Tile& tile) override {
        for (int r = 0; r < tile.rows; ++r)
            lists_.bring_back(tile, r);
    }

    void merge(Evaluator& values, const FunctionTable&, StateRows& into,
               StateRows& from) override {
        lists_.each_place(values.lanes(), [&](Component k) {
            insert(values.lanes(), into, from.load(smallest, k),
                   from.load(where, k));
        });
    }

    Value* result(Lanes& lanes, const FunctionTable&, StateRows& state,
                  Component component, Value*) override {
        return row().finish == ir::Finish::Indices
                   ? state.load(where, component)
                   : algebra(lanes).result_value(
                         Found{state.at(smallest, component),
                               state.at(where, component)});
    }

private:
    /// Returns the least of some columns. It is NaN where the first column is,
    /// which is better than nothing; of the others NaN is passed over, which
    /// only takes an empty place, and then all are better.
    Value* least_of(Tile& tile, int r, int first, int count) {
        Value* least = read(tile, 0, {}, r, first);
        for (int j = first + 1; j < first + count; ++j)
            least = tile.lanes.smaller(read(tile, 0, {}, r, j), least);
        return least;
    }

    /// Finds a bound while a list has empty places: as many columns as it has
    /// places are at most the worst of so many minima of groups.
    void find_bound(Tile& tile, int r) {
        auto& b = tile.lanes.b;
        const int group = lowered_.columns_of_bound;
        Value* whole = b.CreateSub(tile.end, tile.lanes.constant(group - 1));
        tile.lanes.loop(tile.first, whole, tile.lanes.constant(group),
                        [&](Value* column) {
                            tile.at_columns(column, group, [&] {
                                lists_.note_in_all_lanes(
                                    tile, r, least_of(tile, r, 0, group));
                            });
                        });
        lists_.bound_by_worst(tile, r);
    }

    /// Queues `count` columns from `column` on, if `better`, an i1, holds.
    void queue(Tile& tile, int r, Value* column, Value* count, Value* better) {
        auto& b = tile.lanes.b;
        Value* number = b.CreateLoad(b.getInt64Ty(), length(tile, r));
        Value* both = b.CreateOr(
            b.CreateShl(column, tile.lanes.constant(count_bits)), count);
        b.CreateStore(b.CreateTrunc(both, b.getInt32Ty()),
                      queue_place(tile, r, number));
        b.CreateStore(b.CreateAdd(number, b.CreateZExt(better, b.getInt64Ty())),
                      length(tile, r));
    }
    /// Returns an entry: a column, and in the last bits how many.
    Value* queued(Tile& tile, int r, Value* number) const {
        auto& b = tile.lanes.b;
        return b.CreateSExt(
            b.CreateLoad(b.getInt32Ty(), queue_place(tile, r, number)),
            b.getInt64Ty());
    }
    void empty_queue(Tile& tile, int r) {
        tile.lanes.b.CreateStore(tile.lanes.constant(0), length(tile, r));
    }
    void take_queue(Tile& tile, int r) {
        auto& b = tile.lanes.b;
        const auto constant = [&](std::int64_t n) {
            return tile.lanes.constant(n);
        };
        tile.lanes.loop(
            constant(0), passed(tile, r), constant(1), [&](Value* number) {
                Value* entry = queued(tile, r, number);
                Value* count =
                    b.CreateAnd(entry, constant((1 << count_bits) - 1));
                tile.at_columns(b.CreateAShr(entry, constant(count_bits)),
                                together, [&] { note(tile, r, count); });
            });
        finish_passed(tile, r);
    }

    void note(Tile& tile, int r, Value* count) {
        std::vector<Value*> values;
        for (int j = 0; j < tile.columns; ++j)
            values.push_back(read(tile, 0, {}, r, j));
        lists_.note(tile, r, values, count);
    }

    Value* queue_place(Tile& tile, int r, Value* number) const {
        Value* first =
            tile.lanes.b.CreateMul(number, tile.lanes.constant(tile.rows));
        return tile.lanes.at(lists_.memory_after(tile), first, r,
                             SmallestListSizes::entry_bytes);
    }
    /// Returns how many entries there are.
    Value* length(Tile& tile, int r) {
        return place(tile, 0, {}, r, tile.lanes.b.getInt64Ty());
    }

    static constexpr int together = SmallestLists::together;
    static constexpr int count_bits = 3;

    /// A variable that is loaded and stored.
    struct Variable {
        llvm::IRBuilder<>& b;
        llvm::Type* type;
        Value* address;

        Value* load() const { return b.CreateLoad(type, address); }
        void store(Value* x) const { b.CreateStore(x, address); }
    };

    /// Inserts into a state, where the index need not come last.
    void insert(Lanes& lanes, StateRows& state, Value* x, Value* index) {
        const auto variable = [&](Value* start) {
            Variable place{lanes.b, start->getType(),
                           lanes.variable(start->getType())};
            place.store(start);
            return place;
        };
        const Found held{variable(x), variable(index)};
        lists_.each_place(lanes, [&](Component k) {
            algebra(lanes).sink(
                held, Found{state.at(smallest, k), state.at(where, k)});
        });
    }

    static constexpr int smallest = SmallestLists::smallest,
                         where = SmallestLists::where;
    std::int64_t k_;
    SmallestLists lists_;
};

} // namespace

std::unique_ptr<MonoidWriter> make_k_minimum(const ir::Graph& graph,
                                             const LoweredReduction& lowered) {
    return std::make_unique<KMinimum>(graph, lowered);
}

} // namespace tilefold::llvm_backend
