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
        fields_ = {{DType::F64, components_, identity()}};
    }

    void start(Tile& tile) override {
        each(tile, [&](Component k, int r) {
            tile.lanes.b.CreateStore(tile.lanes.number(graph_.real, identity()),
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
                sum = combined(tile.lanes, sum, read(tile, 0, k, r, j));
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
                                 tile.lanes.as(DType::F64, partial)));
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
        return lanes.as(node().type.dtype, sum);
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

    llvm::Type* type(Tile& tile) const { return tile.lanes.type(graph_.real); }
    Value* at(Tile& tile, Component k, int r) {
        return place(tile, 0, k, r, type(tile));
    }
    template <class Body> void each(Tile& tile, Body body) {
        tile.values.each_component(components_, [&](Component k) {
            for (int r = 0; r < tile.rows; ++r)
                body(k, r);
        });
    }

    Monoid monoid_;
};

} // namespace

std::unique_ptr<MonoidWriter> make_plain(const ir::Graph& graph,
                                         ir::ValueId reduce) {
    return std::make_unique<Plain>(graph, reduce);
}

} // namespace tilefold::llvm_backend
