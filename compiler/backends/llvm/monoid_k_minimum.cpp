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
// first few hundred columns) does it sink into the list, below equal keys.

#include "compiler/backends/llvm/monoid.h"

#include <limits>

namespace tilefold::llvm_backend {
namespace {

using llvm::Value;

enum : int { smallest, where };

class KMinimum : public MonoidWriter {
public:
    KMinimum(const ir::Graph& graph, ir::ValueId reduce)
        : MonoidWriter(graph, reduce), k_(node().third) {
        const double empty = std::numeric_limits<double>::quiet_NaN();
        fields_ = {{DType::F64, k_, empty}, {DType::I64, k_, -1}};
    }

    std::int64_t list_vectors(const Plan&) const override { return 2 * k_; }

    void start(Tile& tile) override {
        auto& b = tile.lanes.b;
        for (int r = 0; r < tile.rows; ++r) {
            const StateRows& state = *tile.state[std::size_t(r)];
            each_place(tile.lanes, [&](Component k) {
                Value* x = tile.lanes.as(graph_.real, state.load(smallest, k));
                Value* empty = b.CreateICmpSLT(
                    state.load(where, k), tile.lanes.number(DType::I64, 0));
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
    }

    /// One branch for all cells of the step, then one for each.
    void step(Tile& tile) override {
        auto& b = tile.lanes.b;
        Value* any = nullptr;
        each_cell(tile, [&](int r, int j) {
            Value* better = is_better(tile, r, j);
            any = any ? b.CreateOr(any, better) : better;
        });
        tile.lanes.when(b.CreateOrReduce(any), [&] {
            each_cell(tile, [&](int r, int j) {
                tile.lanes.when(b.CreateOrReduce(is_better(tile, r, j)), [&] {
                    Value* column =
                        b.CreateAdd(tile.column, tile.lanes.constant(j));
                    sink(
                        tile, r, key_of(tile, read(tile, 0, {}, r, j)),
                        tile.lanes.splat(b.CreateTrunc(column, element(tile))));
                    b.CreateStore(b.getTrue(), has_new(tile, r));
                    refresh_worst(tile, r);
                });
            });
        });
    }

    void finish(Tile& tile) override {
        auto& b = tile.lanes.b;
        for (int r = 0; r < tile.rows; ++r)
            tile.lanes.when(b.CreateLoad(b.getInt1Ty(), has_new(tile, r)),
                            [&] { write_back(tile, r); });
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

    template <class Body> static void each_cell(Tile& tile, Body body) {
        for (int j = 0; j < tile.columns; ++j)
            for (int r = 0; r < tile.rows; ++r)
                body(r, j);
    }
    Value* is_better(Tile& tile, int r, int j) {
        auto& b = tile.lanes.b;
        return b.CreateFCmpULT(read(tile, 0, {}, r, j),
                               b.CreateLoad(real(tile), worst_of(tile, r)));
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
        const std::int64_t bytes =
            tile.lanes.width() * std::int64_t(size_of(graph_.real));
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
    llvm::Align alignment(Tile& tile) const {
        return llvm::Align(std::uint64_t(tile.lanes.width()) *
                           size_of(graph_.real));
    }

    /// The candidate sinks from the first place to where it belongs, and what
    /// comes after it moves down by one.
    void sink(Tile& tile, int r, Value* key, Value* code) {
        auto& b = tile.lanes.b;
        llvm::Type* type = key->getType();
        Value* key_at = tile.lanes.variable(type);
        Value* code_at = tile.lanes.variable(type);
        b.CreateStore(key, key_at);
        b.CreateStore(code, code_at);
        each_place(tile.lanes, [&](Component k) {
            Value* held = b.CreateLoad(type, key_at);
            Value* held_code = b.CreateLoad(type, code_at);
            Value* y = load(tile, keys, r, k);
            Value* y_code = load(tile, codes, r, k);
            Value* first = b.CreateICmpSLT(key, y); // and in all places after
            store(tile, keys, r, k, b.CreateSelect(first, held, y));
            store(tile, codes, r, k, b.CreateSelect(first, held_code, y_code));
            b.CreateStore(b.CreateSelect(first, y, held), key_at);
            b.CreateStore(b.CreateSelect(first, y_code, held_code), code_at);
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

    void refresh_worst(Tile& tile, int r) {
        const Component last{0, tile.lanes.constant(k_ - 1)};
        tile.lanes.b.CreateStore(value_of(tile, load(tile, keys, r, last)),
                                 worst_of(tile, r));
    }

    llvm::Type* real(Tile& tile) const { return tile.lanes.type(graph_.real); }
    Value* worst_of(Tile& tile, int r) {
        return place(tile, 0, {}, r, real(tile));
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
