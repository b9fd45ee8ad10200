// compiler/backends/llvm/monoid_arg.cpp - argmax and argmin: the extreme
// value and the lowest index where it stands; the first NaN wins.

#include "compiler/backends/llvm/monoid.h"

#include <limits>

namespace tilefold::llvm_backend {
namespace {

using llvm::Value;

enum : int { extreme, where };

class Arg : public MonoidWriter {
public:
    Arg(const ir::Graph& graph, ir::ValueId reduce)
        : MonoidWriter(graph, reduce),
          largest_(row().monoid == ir::Monoid::ArgMaximum) {
        fields_ = {{DType::F64, components_, worst()},
                   {DType::I64, components_, -1}};
    }

    int wide_accumulators() const override { return 2; }

    void start(Tile& tile) override {
        each(tile, [&](Component k, int r) {
            auto& b = tile.lanes.b;
            Value* best = tile.state[std::size_t(r)]->load(extreme, k);
            b.CreateStore(tile.lanes.as(graph_.real, best),
                          place(tile, extreme, k, r, real(tile)));
            b.CreateStore(llvm::Constant::getAllOnesValue(columns(tile)),
                          place(tile, where, k, r, columns(tile)));
        });
    }

    /// A column seldom beats the best of the ones before: what follows it is
    /// behind a branch, for a whole tile.
    void step(Tile& tile) override {
        if (!tile.values.unrolled(components_)) {
            tile.values.hoist_scalars(body(), tile.rows, tile.columns);
            return follow(tile);
        }
        auto& b = tile.lanes.b;
        Value* none = nullptr;
        each(tile, [&](Component k, int r) {
            Value* best = b.CreateLoad(real(tile),
                                       place(tile, extreme, k, r, real(tile)));
            for (int j = 0; j < tile.columns; ++j) {
                Value* x = read(tile, 0, k, r, j);
                Value* worse = largest_ ? b.CreateFCmpOLE(x, best)
                                        : b.CreateFCmpOGE(x, best);
                none = none ? b.CreateAnd(none, worse) : worse;
            }
        });
        Value* some = b.CreateNot(tile.lanes.all(none));
        tile.lanes.when(some, [&] { follow(tile); });
    }

    void finish(Tile& tile) override {
        each(tile, [&](Component k, int r) {
            auto& b = tile.lanes.b;
            Lanes& lanes = tile.lanes;
            StateRows& state = *tile.state[std::size_t(r)];
            Value* x = lanes.as(DType::F64,
                                b.CreateLoad(real(tile), place(tile, extreme, k,
                                                               r, real(tile))));
            Value* in_panel = b.CreateSExt(
                b.CreateLoad(columns(tile),
                             place(tile, where, k, r, columns(tile))),
                lanes.type(DType::I64));
            Value* index =
                b.CreateAdd(b.CreateAdd(in_panel, lanes.splat(tile.panel)),
                            tile.index_base[std::size_t(r)]);
            Value* found =
                b.CreateICmpSGE(in_panel, lanes.number(DType::I64, 0));
            Value* better =
                b.CreateAnd(found, beats(lanes, x, state.load(extreme, k)));
            write_where(lanes, state, k, better, x, index);
        });
    }

    void merge(Evaluator& values, const FunctionTable&, StateRows& into,
               StateRows& from) override {
        Lanes& lanes = values.lanes();
        auto& b = lanes.b;
        values.each_component(components_, [&](Component k) {
            Value* x = from.load(extreme, k);
            Value* best = into.load(extreme, k);
            Value* index = from.load(where, k);
            Value* better = beats(lanes, x, best);
            Value* nan =
                b.CreateAnd(b.CreateFCmpUNO(x, x), b.CreateFCmpUNO(best, best));
            Value* equal = b.CreateOr(b.CreateFCmpOEQ(x, best), nan);
            // Unsigned: "nowhere" (-1) is above every index.
            Value* earlier = b.CreateICmpULT(index, into.load(where, k));
            better = b.CreateOr(better, b.CreateAnd(equal, earlier));
            write_where(lanes, into, k, better, x, index);
        });
    }

    /// Where no value beat the identity, all are equal to it: the first.
    Value* result(Lanes& lanes, const FunctionTable&, StateRows& state,
                  Component component, Value* terms) override {
        auto& b = lanes.b;
        Value* index = state.load(where, component);
        Value* some = lanes.splat(b.CreateICmpSGT(terms, lanes.constant(0)));
        Value* nowhere = b.CreateICmpSLT(index, lanes.number(DType::I64, 0));
        return b.CreateSelect(b.CreateAnd(some, nowhere),
                              lanes.number(DType::I64, 0), index);
    }

private:
    /// Takes what beats the best so far, and its column.
    void follow(Tile& tile) {
        each(tile, [&](Component k, int r) {
            auto& b = tile.lanes.b;
            Value* best_at = place(tile, extreme, k, r, real(tile));
            Value* index_at = place(tile, where, k, r, columns(tile));
            Value* best = b.CreateLoad(real(tile), best_at);
            Value* index = b.CreateLoad(columns(tile), index_at);
            for (int j = 0; j < tile.columns; ++j) {
                Value* x = read(tile, 0, k, r, j);
                Value* better = beats(tile.lanes, x, best);
                Value* column = b.CreateTrunc(
                    b.CreateAdd(tile.column, tile.lanes.constant(j)),
                    columns(tile)->getScalarType());
                best = b.CreateSelect(better, x, best);
                index = b.CreateSelect(better, tile.lanes.splat(column), index);
            }
            b.CreateStore(best, best_at);
            b.CreateStore(index, index_at);
        });
    }

    double worst() const {
        constexpr double infinity = std::numeric_limits<double>::infinity();
        return largest_ ? -infinity : infinity;
    }

    /// x is strictly better than `best`, or the first NaN.
    Value* beats(Lanes& lanes, Value* x, Value* best) const {
        auto& b = lanes.b;
        Value* better =
            largest_ ? b.CreateFCmpUGT(x, best) : b.CreateFCmpULT(x, best);
        return b.CreateAnd(better, b.CreateFCmpORD(best, best));
    }

    void write_where(Lanes& lanes, StateRows& state, Component k, Value* better,
                     Value* x, Value* index) const {
        state.store(extreme, k,
                    lanes.select(better, x, state.load(extreme, k)));
        state.store(where, k,
                    lanes.select(better, index, state.load(where, k)));
    }

    llvm::Type* real(Tile& tile) const { return tile.lanes.type(graph_.real); }
    /// Columns of a panel, in integers as wide as the computing dtype.
    llvm::Type* columns(Tile& tile) const {
        return llvm::FixedVectorType::get(graph_.real == DType::F32
                                              ? tile.lanes.b.getInt32Ty()
                                              : tile.lanes.b.getInt64Ty(),
                                          unsigned(tile.lanes.width()));
    }
    template <class Body> void each(Tile& tile, Body body) {
        tile.values.each_component(components_, [&](Component k) {
            for (int r = 0; r < tile.rows; ++r)
                body(k, r);
        });
    }

    bool largest_;
};

} // namespace

std::unique_ptr<MonoidWriter> make_arg(const ir::Graph& graph,
                                       ir::ValueId reduce) {
    return std::make_unique<Arg>(graph, reduce);
}

} // namespace tilefold::llvm_backend
