// compiler/backends/llvm/monoids/monoid_plain.cpp - sum, product, maximum,
// minimum: one accumulator a component.

#include "compiler/backends/llvm/monoids/monoid.h"

#include <algorithm>

namespace tilefold::llvm_backend {
namespace {

using ir::Monoid;
using llvm::Value;

class Plain : public MonoidWriter {
public:
    Plain(const ir::Graph& graph, const LoweredReduction& lowered)
        : MonoidWriter(graph, lowered) {
        const Monoid monoid = row().monoid;
        const bool extreme =
            monoid == Monoid::Maximum || monoid == Monoid::Minimum;
        flags_nan_ = extreme && partial_ != DType::I64;
    }

    void start(Tile& tile) override {
        each(tile, [&](Component k, int r) {
            tile.lanes.b.CreateStore(tile.lanes.number(partial_, identity()),
                                     at(tile, k, r));
            if (flags_nan())
                tile.lanes.b.CreateStore(tile.lanes.number(DType::Bool, 1),
                                         ordered(tile, k, r));
        });
    }

    void take(Tile& tile, const EachStep& each_step) override {
        update(
            tile, each_step, type(tile),
            [&](Component k, int r) { return at(tile, k, r); },
            [](Value* sum, int) { return sum; },
            [&](Value* sum, Component k, int r, int j) {
                algebra(tile.lanes).combine(sum, term(tile, k, r, j));
                return sum;
            },
            [](Value* sum, Value*, int) { return sum; });
    }

    void step(Tile& tile) override {
        if (lowered_.in_memory)
            return; // by tiles
        each(tile, [&](Component k, int r) {
            Value* place = at(tile, k, r);
            Value* sum = tile.lanes.b.CreateLoad(type(tile), place);
            std::vector<Value*> terms;
            for (int j = 0; j < tile.columns; ++j) {
                if (lowered_.adds_powers) {
                    sum = power_added(tile, sum, k, r, j);
                    continue;
                }
                terms.push_back(term(tile, k, r, j));
                if (flags_nan())
                    sum = more_extreme(tile.lanes, terms.back(), sum);
                else
                    algebra(tile.lanes).combine(sum, terms.back());
            }
            tile.lanes.b.CreateStore(sum, place);
            if (flags_nan())
                note_nan(tile, ordered(tile, k, r), terms);
        });
    }

    void finish_tile(Tile& tile) override {
        each(tile, [&](Component k, int r) {
            Value* partial =
                tile.lanes.b.CreateLoad(type(tile), at(tile, k, r));
            if (flags_nan())
                partial = tile.lanes.select(
                    tile.lanes.b.CreateLoad(tile.lanes.type(DType::Bool),
                                            ordered(tile, k, r)),
                    partial, llvm::ConstantFP::getNaN(type(tile)));
            algebra(tile.lanes)
                .combine(tile.state[std::size_t(r)]->at(0, k),
                         tile.lanes.as(state_, partial));
        });
    }

    Value* has_nan(Tile& tile, int r) override {
        auto& b = tile.lanes.b;
        Value* some = tile.lanes.number(DType::Bool, 0);
        for (std::int64_t k = 0; k < components_; ++k) {
            Value* sum = b.CreateLoad(type(tile), at(tile, {k, nullptr}, r));
            some = b.CreateOr(some, b.CreateFCmpUNO(sum, sum));
        }
        return some;
    }

    void merge(Evaluator& values, const FunctionTable&, StateRows& into,
               StateRows& from) override {
        values.each_component(components_, [&](Component k) {
            algebra(values.lanes()).combine(into.at(0, k), from.load(0, k));
        });
    }

    bool reduces_rows() const override { return true; }

    void reduce_rows(Evaluator& values, const RowsFrom& rows_from,
                     Value* rows) override {
        Lanes& lanes = values.lanes();
        auto& b = lanes.b;
        Value* zero = lanes.constant(0);
        values.each_component(components_, [&](Component k) {
            Value* sum = lanes.variable(lanes.type(state_));
            Value* none = lanes.number(state_, identity());
            b.CreateStore(none, sum);
            const auto add = [&](Value* x) {
                Value* total = b.CreateLoad(lanes.type(state_), sum);
                algebra(lanes).combine(total, x);
                b.CreateStore(total, sum);
            };
            lanes.loop(
                zero, rows, lanes.constant(lanes.width()), [&](Value* row) {
                    Value* is_row = lanes.first_lanes(b.CreateSub(rows, row));
                    add(lanes.select(is_row, rows_from(row).load(0, k), none));
                });
            for (int half = lanes.width() / 2; half > 0; half /= 2)
                add(lanes.rotated(b.CreateLoad(lanes.type(state_), sum), half));
            rows_from(zero).store(0, k, b.CreateLoad(lanes.type(state_), sum));
        });
    }

    Value* result(Lanes& lanes, const FunctionTable&, StateRows& state,
                  Component component, Value* terms) override {
        return algebra(lanes).result(state.load(0, component), terms);
    }

private:
    double identity() const { return fields().front().identity; }

    /// The more extreme of two, `bound` where `x` is NaN: one instruction,
    /// where the maximum that passes NaN on takes four.
    Value* more_extreme(Lanes& lanes, Value* x, Value* bound) const {
        Value* better = row().monoid == Monoid::Maximum
                            ? lanes.b.CreateFCmpOGT(x, bound)
                            : lanes.b.CreateFCmpOLT(x, bound);
        return lanes.select(better, x, bound);
    }

    /// While accumulators are registers, NaN is told by a flag of its own:
    /// that all terms so far were ordered, two by a comparison.
    bool flags_nan() const { return flags_nan_ && !lowered_.in_memory; }
    Value* ordered(Tile& tile, Component k, int r) {
        return place(tile, 1, k, r, tile.lanes.type(DType::Bool));
    }
    void note_nan(Tile& tile, Value* flag, const std::vector<Value*>& terms) {
        auto& b = tile.lanes.b;
        Value* all = b.CreateLoad(tile.lanes.type(DType::Bool), flag);
        for (std::size_t j = 0; j < terms.size(); j += 2)
            all = b.CreateAnd(
                all, b.CreateFCmpORD(terms[j],
                                     terms[std::min(j + 1, terms.size() - 1)]));
        b.CreateStore(all, flag);
    }

    Value* power_added(Tile& tile, Value* sum, Component k, int r,
                       int j) const {
        const ir::ValueId exponent = graph_[body()].operands[0];
        return emit_exp2_added(
            tile.lanes,
            tile.lanes.as(graph_.real, tile.values.value(exponent, k, r, j)),
            sum);
    }
    Value* term(Tile& tile, Component k, int r, int j) const {
        return tile.lanes.as(partial_, tile.values.value(body(), k, r, j));
    }
    llvm::Type* type(Tile& tile) const { return tile.lanes.type(partial_); }
    Value* at(Tile& tile, Component k, int r) {
        const int size = lowered_.accumulators;
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

    /// The dtypes of a panel and of a row: integers stay integers.
    DType partial_ = lowered_.partial, state_ = fields().front().dtype;
    bool flags_nan_ = false;
};

} // namespace

std::unique_ptr<MonoidWriter> make_plain(const ir::Graph& graph,
                                         const LoweredReduction& lowered) {
    return std::make_unique<Plain>(graph, lowered);
}

} // namespace tilefold::llvm_backend
