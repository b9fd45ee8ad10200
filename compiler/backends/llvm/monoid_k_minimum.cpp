// compiler/backends/llvm/monoid_k_minimum.cpp - the K smallest values and
// where they are, sorted, NaN last.
//
// The state is the list itself, worst last. A column is compared with the
// worst; only where some lane is better (rare after the first few hundred
// columns) does it travel up the list by exchanges. An empty place is NaN at
// index -1, above everything; ties keep the lower index, which came first.

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

    void start(Tile& tile) override {
        for (int r = 0; r < tile.rows; ++r)
            refresh_worst(tile, r);
    }

    void step(Tile& tile) override {
        auto& b = tile.lanes.b;
        for (int j = 0; j < tile.columns; ++j)
            for (int r = 0; r < tile.rows; ++r) {
                Value* x = read(tile, 0, {}, r, j);
                Value* worst = b.CreateLoad(real(tile), worst_of(tile, r));
                Value* better = b.CreateFCmpULT(x, worst);
                tile.lanes.when(b.CreateOrReduce(better), [&] {
                    Value* column =
                        b.CreateAdd(b.CreateAdd(tile.panel, tile.column),
                                    tile.lanes.constant(j));
                    Value* index = b.CreateAdd(tile.lanes.splat(column),
                                               tile.index_base[std::size_t(r)]);
                    insert(tile.values, *tile.state[std::size_t(r)],
                           tile.lanes.as(DType::F64, x), index);
                    refresh_worst(tile, r);
                });
            }
    }

    void finish(Tile&) override {}

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
    /// The candidate sinks from the first place to where it belongs; what it
    /// displaces goes on sinking.
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
        Value* worst =
            tile.state[std::size_t(r)]->load(smallest, {k_ - 1, nullptr});
        tile.lanes.b.CreateStore(tile.lanes.as(graph_.real, worst),
                                 worst_of(tile, r));
    }

    llvm::Type* real(Tile& tile) const { return tile.lanes.type(graph_.real); }
    Value* worst_of(Tile& tile, int r) {
        return place(tile, 0, {}, r, real(tile));
    }

    std::int64_t k_;
};

} // namespace

std::unique_ptr<MonoidWriter> make_k_minimum(const ir::Graph& graph,
                                             ir::ValueId reduce) {
    return std::make_unique<KMinimum>(graph, reduce);
}

} // namespace tilefold::llvm_backend
