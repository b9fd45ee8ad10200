// compiler/backends/llvm/monoid_k_minimum.cpp - the K smallest values and
// where they are, sorted, NaN last.
//
// The state is the list itself, worst last. An empty place is NaN at index -1,
// above everything; ties keep the lower index, which came first.
//
// Over a panel, a tile keeps its lists as integers of the computing dtype's
// size: keys, which sort as the values do (numbers, NaN, empty), and codes: the
// column in the panel, or -1 - p for what was in place p of the state. A column
// is compared with the worst; only where some lane is better (rare after the
// first few hundred columns) is it noted as a candidate, of that lane alone.
// When a lane has many, those of all lanes sink into their lists together,
// below equal keys: mostly one lane of a column is better, and the candidates
// of a lane are next to those of another lane's columns.

#include "compiler/backends/llvm/monoid.h"

#include <llvm/Analysis/VectorUtils.h>

#include <algorithm>
#include <bit>
#include <limits>

namespace tilefold::llvm_backend {
namespace {

using llvm::Value;

enum : int { smallest, where };

class KMinimum : public MonoidWriter, public Sifted {
public:
    KMinimum(const ir::Graph& graph, ir::ValueId reduce)
        : MonoidWriter(graph, reduce), k_(node().third) {
        const double empty = std::numeric_limits<double>::quiet_NaN();
        fields_ = {{DType::F64, k_, empty}, {DType::I64, k_, -1}};
    }

    /// Of each row vector: keys and codes of the list and of candidates; how
    /// many candidates each lane has; the keys of some columns; the queue.
    std::int64_t list_vectors(const Plan& plan) const override {
        const std::int64_t most_queued =
            plan.sieve ? plan.k_tile
                       : plan.k_tile / plan.columns *
                                 ((plan.columns + together - 1) / together) +
                             plan.columns;
        return 2 * (k_ + room()) + 1 + together +
               (most_queued * entry_bytes + plan.lanes - 1) / plan.lanes;
    }

    void start(Tile& tile) override {
        auto& b = tile.lanes.b;
        Value* nothing = tile.lanes.number(
            graph_.real, std::numeric_limits<double>::quiet_NaN());
        for (int r = 0; r < tile.rows; ++r) {
            b.CreateStore(nothing, bound(tile, r));
            b.CreateStore(tile.lanes.constant(0), length(tile, r));
            forget_candidates(tile, r);
            read_list(tile, r);
        }
    }

    bool by_tiles(const Plan&) const override { return true; }

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
                      b.CreateOrReduce(is_better(tile, r, least)));
            }
    }

    void take(Tile& tile, const EachStep&) override {
        for (int r = 0; r < tile.rows; ++r) {
            tile.lanes.when(is_short(tile, r), [&] {
                tile.lanes.when(has_candidates(tile, r, 0),
                                [&] { take_candidates(tile, r); });
            });
            tile.lanes.when(is_short(tile, r), [&] {
                bring_back(tile, r);
                find_bound(tile, r);
                read_list(tile, r);
            });
            take_queue(tile, r);
        }
    }

    Sifted* sifted() override { return this; }
    Value* wants_all(Tile& tile) override {
        Value* any = tile.lanes.b.getFalse();
        for (int r = 0; r < tile.rows; ++r)
            any = tile.lanes.b.CreateOr(any, is_short(tile, r));
        return any;
    }
    Value* worst(Tile& tile, int r) override {
        return tile.lanes.b.CreateLoad(real(tile), worst_of(tile, r));
    }
    void sift(Tile& tile, int r, Value* passes) override {
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
        take_many(tile, r);
    }
    void forget_passed(Tile& tile, int r) override {
        tile.lanes.b.CreateStore(tile.lanes.constant(0), length(tile, r));
    }

    void finish(Tile& tile) override {
        for (int r = 0; r < tile.rows; ++r)
            bring_back(tile, r);
    }

    void merge(Evaluator& values, const FunctionTable&, StateRows& into,
               StateRows& from) override {
        each_place(values.lanes(), [&](Component k) {
            insert(values, into, from.load(smallest, k), from.load(where, k));
        });
    }

    Value* result(Lanes& lanes, const FunctionTable&, StateRows& state,
                  Component component, Value*) override {
        Value* index = state.load(where, component);
        if (row().finish == ir::Finish::Indices)
            return index;
        Value* empty =
            lanes.b.CreateICmpSLT(index, lanes.number(DType::I64, 0));
        Value* infinity =
            lanes.number(DType::F64, std::numeric_limits<double>::infinity());
        return lanes.as(
            graph_.real,
            lanes.select(empty, infinity, state.load(smallest, component)));
    }

private:
    enum Part : int { keys, codes };

    Value* is_better(Tile& tile, int r, Value* x) {
        auto& b = tile.lanes.b;
        return b.CreateFCmpULT(x, b.CreateLoad(real(tile), worst_of(tile, r)));
    }
    /// Whether a lane's list has empty places.
    Value* is_short(Tile& tile, int r) const {
        auto& b = tile.lanes.b;
        return b.CreateOrReduce(b.CreateICmpEQ(
            load(tile, keys, r, last_place(tile)), splat(tile, empty_key())));
    }
    /// NaN where the first column is, which is better than nothing; of the
    /// others it is passed over, which only takes an empty place, and then all
    /// are better.
    Value* least_of(Tile& tile, int r, int first, int count) {
        Value* least = read(tile, 0, {}, r, first);
        for (int j = first + 1; j < first + count; ++j)
            least = tile.lanes.smaller(read(tile, 0, {}, r, j), least);
        return least;
    }

    /// While the list has empty places: as many columns as it has places are at
    /// most the worst of so many minima of groups. Listing these bounds what is
    /// looked for; then the list is to be read again.
    void find_bound(Tile& tile, int r) {
        if (k_ > most_bounded)
            return;
        auto& b = tile.lanes.b;
        const int group = group_size();
        Value* whole = b.CreateSub(tile.end, tile.lanes.constant(group - 1));
        tile.lanes.loop(
            tile.first, whole, tile.lanes.constant(group), [&](Value* column) {
                tile.at_columns(column, group, [&] {
                    add_to_all(tile, r, least_of(tile, r, 0, group));
                    take_many(tile, r);
                });
            });
        take_candidates(tile, r);
        Value* worst = load(tile, keys, r, last_place(tile));
        Value* is_number = b.CreateICmpSLT(worst, splat(tile, nan_key()));
        Value* above = b.CreateAdd(worst, splat(tile, 1));
        b.CreateStore(value_of(tile, b.CreateSelect(is_number, above, worst)),
                      bound(tile, r));
    }
    /// Columns of a group, of which there are then more than places.
    int group_size() const {
        return int(std::bit_floor(std::clamp<std::uint64_t>(
            2 * most_bounded / std::uint64_t(k_), 2, 8)));
    }

    /// `count` columns from `column` on, if `better`, an i1.
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
    /// An entry: a column, and in the last bits how many.
    Value* queued(Tile& tile, int r, Value* number) const {
        auto& b = tile.lanes.b;
        return b.CreateSExt(
            b.CreateLoad(b.getInt32Ty(), queue_place(tile, r, number)),
            b.getInt64Ty());
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
                                together, [&] {
                                    note(tile, r, count);
                                    take_many(tile, r);
                                });
            });
        forget_passed(tile, r);
    }

    llvm::Type* element(Tile& tile) const {
        return tile.lanes.b.getIntNTy(unsigned(size_of(graph_.real)) * 8);
    }
    Value* splat(Tile& tile, std::int64_t number) const {
        return tile.lanes.splat(
            llvm::ConstantInt::get(element(tile), std::uint64_t(number), true));
    }
    std::int64_t empty_key() const {
        return graph_.real == DType::F32
                   ? std::numeric_limits<std::int32_t>::max()
                   : std::numeric_limits<std::int64_t>::max();
    }
    std::int64_t nan_key() const { return empty_key() - 1; }

    /// The bits of a positive number ascend with it, those of a negative one
    /// descend.
    Value* turned(Tile& tile, Value* bits) const {
        auto& b = tile.lanes.b;
        const int last_bit = int(size_of(graph_.real)) * 8 - 1;
        Value* negative = b.CreateAShr(bits, splat(tile, last_bit));
        return b.CreateXor(bits,
                           b.CreateAnd(negative, splat(tile, empty_key())));
    }
    Value* key_of(Tile& tile, Value* x) const {
        auto& b = tile.lanes.b;
        Value* zero = tile.lanes.number(graph_.real, 0);
        Value* plus = b.CreateFAdd(x, zero); // -0 is 0
        Value* bits = b.CreateBitCast(plus, splat(tile, 0)->getType());
        return b.CreateSelect(b.CreateFCmpUNO(x, x), splat(tile, nan_key()),
                              turned(tile, bits));
    }
    /// NaN of an empty place.
    Value* value_of(Tile& tile, Value* key) const {
        return tile.lanes.b.CreateBitCast(turned(tile, key), real(tile));
    }

    Value* list_address(Tile& tile, Part part, int r, Component k) const {
        const std::int64_t bytes = vector_bytes(tile);
        Value* place =
            tile.lanes.byte_offset(tile.list, (part * tile.rows + r) * bytes);
        return tile.lanes.at(place, k.runtime, 0, 2 * tile.rows * bytes);
    }
    Value* load(Tile& tile, Part part, int r, Component k) const {
        Value* place = list_address(tile, part, r, k);
        return tile.lanes.b.CreateAlignedLoad(splat(tile, 0)->getType(), place,
                                              alignment(tile));
    }
    void store(Tile& tile, Part part, int r, Component k, Value* value) const {
        tile.lanes.b.CreateAlignedStore(value, list_address(tile, part, r, k),
                                        alignment(tile));
    }
    std::int64_t vector_bytes(Tile& tile) const {
        return tile.lanes.width() * std::int64_t(size_of(graph_.real));
    }
    llvm::Align alignment(Tile& tile) const {
        return llvm::Align(std::uint64_t(vector_bytes(tile)));
    }

    /// Columns that are looked at together, and candidates that sink together.
    static constexpr int together = 4;
    /// Candidates of a lane that are many: more let a bound grow old, fewer
    /// make all lanes sink for one. The 10 nearest of D=3 on both cores of a
    /// Zen 4, ms: 6.9 (28: 7.7); the 100 nearest: 75 (28: 46).
    std::int64_t many() const {
        return std::clamp<std::int64_t>(k_ / 12 * together, 12, 60);
    }
    /// For these and what one step may add.
    std::int64_t room() const { return many() + together; }
    /// Places of lists that minima of groups bound.
    static constexpr std::int64_t most_bounded = 64;
    /// Of an entry of the queue, and the bits of its count of columns.
    static constexpr std::int64_t entry_bytes = 4;
    static constexpr int count_bits = 3;

    /// These follow the lists.
    Value* counts(Tile& tile, int r) const {
        return list_address(tile, keys, r,
                            {0, tile.lanes.constant(k_ + room())});
    }
    Value* values_of_columns(Tile& tile) const {
        return tile.lanes.byte_offset(counts(tile, 0),
                                      tile.rows * vector_bytes(tile));
    }
    Value* queue_place(Tile& tile, int r, Value* number) const {
        Value* queue = tile.lanes.byte_offset(
            counts(tile, 0), tile.rows * (1 + together) * vector_bytes(tile));
        return tile.lanes.at(
            queue,
            tile.lanes.b.CreateMul(number, tile.lanes.constant(tile.rows)), r,
            entry_bytes);
    }
    void forget_candidates(Tile& tile, int r) {
        auto& b = tile.lanes.b;
        b.CreateAlignedStore(splat(tile, 0), counts(tile, r), alignment(tile));
        b.CreateStore(tile.lanes.constant(0), most_candidates(tile, r));
    }

    /// What is better of the first `count` of the tile's columns becomes a
    /// candidate.
    void note(Tile& tile, int r, Value* count) {
        auto& b = tile.lanes.b;
        std::vector<Value*> better;
        for (int j = 0; j < tile.columns; ++j) {
            Value* x = read(tile, 0, {}, r, j);
            better.push_back(is_better(tile, r, x));
            b.CreateAlignedStore(x,
                                 tile.lanes.byte_offset(values_of_columns(tile),
                                                        j * vector_bytes(tile)),
                                 alignment(tile));
        }
        Value* cells = tile.lanes.bits(llvm::concatenateVectors(b, better));
        const std::int64_t bits = 64;
        Value* lanes =
            b.CreateMul(count, tile.lanes.constant(tile.lanes.width()));
        Value* there =
            b.CreateLShr(tile.lanes.constant(-1),
                         b.CreateSub(tile.lanes.constant(bits), lanes));
        tile.lanes.each_bit(b.CreateAnd(cells, there),
                            [&](Value* cell) { note_cell(tile, r, cell); });
    }

    /// `cell` counts the lanes of the tile's columns.
    void note_cell(Tile& tile, int r, Value* cell) {
        auto& b = tile.lanes.b;
        const std::int64_t size = std::int64_t(size_of(graph_.real));
        const std::int64_t width = tile.lanes.width();
        Value* lane = b.CreateAnd(cell, tile.lanes.constant(width - 1));
        const auto of_lane = [&](Value* vector) {
            return tile.lanes.at(vector, lane, 0, size);
        };
        Value* x =
            b.CreateLoad(element(tile),
                         tile.lanes.at(values_of_columns(tile), cell, 0, size));
        Value* column = b.CreateAdd(
            b.CreateUDiv(cell, tile.lanes.constant(width)), tile.column);
        Value* count_at = of_lane(counts(tile, r));
        Value* count =
            b.CreateSExt(b.CreateLoad(element(tile), count_at), b.getInt64Ty());
        const Component free = candidate(tile, count);
        b.CreateStore(x, of_lane(list_address(tile, keys, r, free)));
        b.CreateStore(b.CreateTrunc(column, element(tile)),
                      of_lane(list_address(tile, codes, r, free)));
        count = b.CreateAdd(count, tile.lanes.constant(1));
        b.CreateStore(b.CreateTrunc(count, element(tile)), count_at);
        Value* most = most_candidates(tile, r);
        b.CreateStore(
            b.CreateBinaryIntrinsic(llvm::Intrinsic::smax,
                                    b.CreateLoad(b.getInt64Ty(), most), count),
            most);
    }

    /// A candidate of every lane, of no column.
    void add_to_all(Tile& tile, int r, Value* x) {
        auto& b = tile.lanes.b;
        Value* most = most_candidates(tile, r);
        Value* count = b.CreateLoad(b.getInt64Ty(), most);
        store(tile, keys, r, candidate(tile, count), x);
        count = b.CreateAdd(count, tile.lanes.constant(1));
        b.CreateStore(count, most);
        b.CreateAlignedStore(
            tile.lanes.splat(b.CreateTrunc(count, element(tile))),
            counts(tile, r), alignment(tile));
    }

    Component candidate(Tile& tile, Value* number) const {
        return {0, tile.lanes.b.CreateAdd(number, tile.lanes.constant(k_))};
    }
    /// Whether a lane has more than so many.
    Value* has_candidates(Tile& tile, int r, std::int64_t count) {
        auto& b = tile.lanes.b;
        return b.CreateICmpSGT(
            b.CreateLoad(b.getInt64Ty(), most_candidates(tile, r)),
            tile.lanes.constant(count));
    }
    void take_many(Tile& tile, int r) {
        tile.lanes.when(has_candidates(tile, r, many()),
                        [&] { take_candidates(tile, r); });
    }

    /// All candidates into the lists.
    void take_candidates(Tile& tile, int r) {
        auto& b = tile.lanes.b;
        Value* count = b.CreateAlignedLoad(splat(tile, 0)->getType(),
                                           counts(tile, r), alignment(tile));
        Value* most = b.CreateLoad(b.getInt64Ty(), most_candidates(tile, r));
        tile.lanes.loop(
            tile.lanes.constant(0), most, tile.lanes.constant(together),
            [&](Value* from) {
                std::vector<Candidate> some;
                for (int n = 0; n < together; ++n) {
                    Value* number = b.CreateAdd(from, tile.lanes.constant(n));
                    const Component k = candidate(tile, number);
                    Value* is_there = b.CreateICmpSGT(
                        count,
                        tile.lanes.splat(b.CreateTrunc(number, element(tile))));
                    Value* x =
                        b.CreateBitCast(load(tile, keys, r, k), real(tile));
                    some.push_back({b.CreateSelect(is_there, key_of(tile, x),
                                                   splat(tile, empty_key())),
                                    load(tile, codes, r, k)});
                }
                sink(tile, r, some);
            });
        b.CreateStore(b.getTrue(), has_new(tile, r));
        forget_candidates(tile, r);
        refresh_worst(tile, r);
    }

    /// What is new since the list was read, to the state.
    void bring_back(Tile& tile, int r) {
        auto& b = tile.lanes.b;
        tile.lanes.when(has_candidates(tile, r, 0),
                        [&] { take_candidates(tile, r); });
        tile.lanes.when(b.CreateLoad(b.getInt1Ty(), has_new(tile, r)),
                        [&] { write_back(tile, r); });
    }

    struct Candidate {
        Value *key, *code;
    };

    /// Candidates sink from the first place to where they belong, and what
    /// comes after moves down; an empty one stays above nothing.
    void sink(Tile& tile, int r, const std::vector<Candidate>& some) {
        auto& b = tile.lanes.b;
        llvm::Type* type = splat(tile, 0)->getType();
        std::vector<Candidate> held_at;
        for (const Candidate& candidate : some) {
            held_at.push_back(
                {tile.lanes.variable(type), tile.lanes.variable(type)});
            b.CreateStore(candidate.key, held_at.back().key);
            b.CreateStore(candidate.code, held_at.back().code);
        }
        each_place(tile.lanes, [&](Component k) {
            Candidate y = {load(tile, keys, r, k), load(tile, codes, r, k)};
            for (std::size_t n = 0; n < some.size(); ++n) {
                const Candidate at = held_at[n];
                const Candidate held = {b.CreateLoad(type, at.key),
                                        b.CreateLoad(type, at.code)};
                // And in all places after.
                Value* first = b.CreateICmpSLT(some[n].key, y.key);
                const auto exchange = [&](Value* in, Value*& place, Value* to) {
                    b.CreateStore(b.CreateSelect(first, place, in), to);
                    place = b.CreateSelect(first, in, place);
                };
                exchange(held.key, y.key, at.key);
                exchange(held.code, y.code, at.code);
            }
            store(tile, keys, r, k, y.key);
            store(tile, codes, r, k, y.code);
        });
    }

    /// The list to the state, last place first: what was in a place of the
    /// state is in the same place of the list, or in a later one.
    void write_back(Tile& tile, int r) {
        auto& b = tile.lanes.b;
        const StateRows& state = *tile.state[std::size_t(r)];
        Value* zero = tile.lanes.number(DType::I64, 0);
        each_place(tile.lanes, [&](Component from_end) {
            const Component k{
                0, b.CreateSub(tile.lanes.constant(k_ - 1), from_end.runtime)};
            Value* code = b.CreateSExt(load(tile, codes, r, k),
                                       tile.lanes.type(DType::I64));
            Value* is_new = b.CreateICmpSGE(code, zero);
            Value* old = state.gather(
                where, b.CreateSelect(is_new, zero, b.CreateNot(code)));
            Value* column =
                b.CreateAdd(b.CreateAdd(code, tile.lanes.splat(tile.panel)),
                            tile.index_base[std::size_t(r)]);
            state.store(where, k, b.CreateSelect(is_new, column, old));
            state.store(smallest, k,
                        tile.lanes.as(DType::F64,
                                      value_of(tile, load(tile, keys, r, k))));
        });
    }

    /// The same into a state, of an index that need not come last.
    void insert(Evaluator& values, StateRows& state, Value* x, Value* index) {
        Lanes& lanes = values.lanes();
        auto& b = lanes.b;
        Value* x_at = lanes.variable(x->getType());
        Value* index_at = lanes.variable(index->getType());
        b.CreateStore(x, x_at);
        b.CreateStore(index, index_at);
        each_place(lanes, [&](Component k) {
            Value* held = b.CreateLoad(x->getType(), x_at);
            Value* held_index = b.CreateLoad(index->getType(), index_at);
            Value* y = state.load(smallest, k);
            Value* y_index = state.load(where, k);
            Value* first = before(lanes, held, held_index, y, y_index);
            state.store(smallest, k, lanes.select(first, held, y));
            state.store(where, k, lanes.select(first, held_index, y_index));
            b.CreateStore(lanes.select(first, y, held), x_at);
            b.CreateStore(lanes.select(first, y_index, held_index), index_at);
        });
    }

    /// (x, i) sorts before (y, j): numbers, NaN, empty; ties by index.
    Value* before(Lanes& lanes, Value* x, Value* i, Value* y, Value* j) const {
        auto& b = lanes.b;
        Value* y_is_nan = b.CreateFCmpUNO(y, y);
        Value* x_is_nan = b.CreateFCmpUNO(x, x);
        Value* smaller =
            b.CreateOr(b.CreateFCmpOLT(x, y),
                       b.CreateAnd(y_is_nan, b.CreateNot(x_is_nan)));
        Value* equal =
            b.CreateOr(b.CreateFCmpOEQ(x, y), b.CreateAnd(y_is_nan, x_is_nan));
        // Unsigned: an empty place (-1) is above every index.
        return b.CreateOr(smaller, b.CreateAnd(equal, b.CreateICmpULT(i, j)));
    }

    void each_place(Lanes& lanes, const std::function<void(Component)>& body) {
        lanes.loop(lanes.constant(0), lanes.constant(k_), lanes.constant(1),
                   [&](Value* index) { body({0, index}); });
    }

    /// The list as the state has it.
    void read_list(Tile& tile, int r) {
        auto& b = tile.lanes.b;
        const StateRows& state = *tile.state[std::size_t(r)];
        each_place(tile.lanes, [&](Component k) {
            Value* x = tile.lanes.as(graph_.real, state.load(smallest, k));
            Value* empty = b.CreateICmpSLT(state.load(where, k),
                                           tile.lanes.number(DType::I64, 0));
            store(tile, keys, r, k,
                  b.CreateSelect(empty, splat(tile, empty_key()),
                                 key_of(tile, x)));
            Value* code = b.CreateNot(k.runtime); // -1 - k
            store(tile, codes, r, k,
                  tile.lanes.splat(b.CreateTrunc(code, element(tile))));
        });
        b.CreateStore(b.getFalse(), has_new(tile, r));
        refresh_worst(tile, r);
    }

    Component last_place(Tile& tile) const {
        return {0, tile.lanes.constant(k_ - 1)};
    }
    void refresh_worst(Tile& tile, int r) {
        auto& b = tile.lanes.b;
        Value* key = load(tile, keys, r, last_place(tile));
        Value* empty = b.CreateICmpEQ(key, splat(tile, empty_key()));
        Value* unlisted = b.CreateLoad(real(tile), bound(tile, r));
        b.CreateStore(b.CreateSelect(empty, unlisted, value_of(tile, key)),
                      worst_of(tile, r));
    }

    llvm::Type* real(Tile& tile) const { return tile.lanes.type(graph_.real); }
    Value* worst_of(Tile& tile, int r) {
        return place(tile, 0, {}, r, real(tile));
    }

    /// What is better than nothing, of an empty place: NaN, or a number.
    Value* bound(Tile& tile, int r) {
        return place(tile, 3, {}, r, real(tile));
    }

    /// How many columns are queued.
    Value* length(Tile& tile, int r) {
        return place(tile, 4, {}, r, tile.lanes.b.getInt64Ty());
    }

    /// How many candidates the lane with most has.
    Value* most_candidates(Tile& tile, int r) {
        return place(tile, 2, {}, r, tile.lanes.b.getInt64Ty());
    }

    /// Whether the panel has a column in the list.
    Value* has_new(Tile& tile, int r) {
        return place(tile, 1, {}, r, tile.lanes.b.getInt1Ty());
    }

    std::int64_t k_;
};

} // namespace

std::unique_ptr<MonoidWriter> make_k_minimum(const ir::Graph& graph,
                                             ir::ValueId reduce) {
    return std::make_unique<KMinimum>(graph, reduce);
}

} // namespace tilefold::llvm_backend
