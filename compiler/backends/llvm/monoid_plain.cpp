// compiler/backends/llvm/monoid_plain.cpp - sum, product, maximum, minimum:
// one accumulator a component.

#include "compiler/backends/llvm/monoid.h"

#include <limits>

namespace tilefold::llvm_backend {
namespace {

using ir::Monoid;
using llvm::Value;

class Plain : public MonoidWriter {
public:
    Plain(const ir::Graph& graph, ir::ValueId reduce)
        : MonoidWriter(graph, reduce), monoid_(row().monoid) {
        const bool extreme =
            monoid_ == Monoid::Maximum || monoid_ == Monoid::Minimum;
        if (extreme && node().type.dtype != DType::Bool)
            partial_ = node().type.dtype;
        if (partial_ == DType::I64)
            state_ = DType::I64;
        fields_ = {{state_, components_, identity()}};
    }

    int wide_accumulators() const override {
        return int(size_of(partial_) / size_of(graph_.real));
    }

    void start(Tile& tile) override {
        each(tile, [&](Component k, int r) {
            tile.lanes.b.CreateStore(tile.lanes.number(partial_, identity()),
                                     at(tile, k, r));
        });
    }

    void step(Tile& tile) override {
        if (!tile.values.unrolled(components_))
            tile.values.hoist_scalars(body(), tile.rows, tile.columns);
        each(tile, [&](Component k, int r) {
            Value* place = at(tile, k, r);
            Value* sum = tile.lanes.b.CreateLoad(type(tile), place);
            for (int j = 0; j < tile.columns; ++j)
                sum = combined(tile.lanes, sum, term(tile, k, r, j));
            tile.lanes.b.CreateStore(sum, place);
        });
    }

    void finish(Tile& tile) override {
        each(tile, [&](Component k, int r) {
            Value* partial =
                tile.lanes.b.CreateLoad(type(tile), at(tile, k, r));
            StateRows& state = *tile.state[std::size_t(r)];
            state.store(0, k,
                        combined(tile.lanes, state.load(0, k),
                                 tile.lanes.as(state_, partial)));
        });
    }

    void merge(Evaluator& values, const FunctionTable&, StateRows& into,
               StateRows& from) override {
        values.each_component(components_, [&](Component k) {
            into.store(
                0, k,
                combined(values.lanes(), into.load(0, k), from.load(0, k)));
        });
    }

    Value* result(Lanes& lanes, const FunctionTable&, StateRows& state,
                  Component component, Value* terms) override {
        Value* sum = state.load(0, component);
        if (row().finish == ir::Finish::OverCount) {
            Value* count = lanes.b.CreateSIToFP(terms, lanes.b.getDoubleTy());
            sum = lanes.b.CreateFDiv(sum, lanes.splat(count));
        }
        const DType dtype = node().type.dtype;
        if (dtype != DType::I64 || state_ == DType::I64)
            return lanes.as(dtype, sum);
        // Of no points the identity, an infinity, is the end of int64.
        return lanes.b.CreateIntrinsic(llvm::Intrinsic::fptosi_sat,
                                       {lanes.type(dtype), sum->getType()},
                                       {sum});
    }

private:
    double identity() const {
        constexpr double infinity = std::numeric_limits<double>::infinity();
        const bool truth = node().type.dtype == DType::Bool;
        switch (monoid_) {
        case Monoid::Multiply:
            return 1;
        case Monoid::Maximum:
            return truth ? 0 : -infinity;
        case Monoid::Minimum:
            return truth ? 1 : infinity;
        default:
            return 0;
        }
    }

    Value* combined(Lanes& lanes, Value* a, Value* b) const {
        if (state_ == DType::I64)
            return lanes.b.CreateBinaryIntrinsic(monoid_ == Monoid::Maximum
                                                     ? llvm::Intrinsic::smax
                                                     : llvm::Intrinsic::smin,
                                                 a, b);
        switch (monoid_) {
        case Monoid::Multiply:
            return lanes.b.CreateFMul(a, b);
        case Monoid::Maximum:
            return lanes.b.CreateBinaryIntrinsic(llvm::Intrinsic::maximum, a,
                                                 b);
        case Monoid::Minimum:
            return lanes.b.CreateBinaryIntrinsic(llvm::Intrinsic::minimum, a,
                                                 b);
        default:
            return lanes.b.CreateFAdd(a, b);
        }
    }

    Value* term(Tile& tile, Component k, int r, int j) const {
        return tile.lanes.as(partial_, tile.values.value(body(), k, r, j));
    }
    llvm::Type* type(Tile& tile) const { return tile.lanes.type(partial_); }
    Value* at(Tile& tile, Component k, int r) {
        const int size = wide_accumulators();
        if (!k.runtime || size == 1)
            return place(tile, 0, k, r, type(tile));
        Value* index = tile.lanes.b.CreateMul(tile.values.index_of(k),
                                              tile.lanes.constant(tile.rows));
        return tile.lanes.at(tile.memory, index, r,
                             tile.lanes.width() *
                                 std::int64_t(size_of(partial_)));
    }
    template <class Body> void each(Tile& tile, Body body) {
        tile.values.each_component(components_, [&](Component k) {
            for (int r = 0; r < tile.rows; ++r)
                body(k, r);
        });
    }

    Monoid monoid_;
    /// Of a panel, and of a row: integers stay integers where nothing is added.
    DType partial_ = graph_.real, state_ = DType::F64;
};

} // namespace

std::unique_ptr<MonoidWriter> make_plain(const ir::Graph& graph,
                                         ir::ValueId reduce) {
    return std::make_unique<Plain>(graph, reduce);
}

} // namespace tilefold::llvm_backend
