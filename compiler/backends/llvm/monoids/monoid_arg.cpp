// compiler/backends/llvm/monoids/monoid_arg.cpp - argmax and argmin: the
// extreme value and the lowest index where it stands; the first NaN wins.
//
// A column seldom beats the ones before, but of 16 rows often enough that a
// branch for it, which the processor guesses wrong a hundred cycles of work
// later, costs as much as all distances. So there is none but for NaN. Of short
// vectors a step only notes which rows it beats; at the end of a panel, such a
// row's pairs with the columns of the step are computed once more, lanes over
// columns, to see which it was.

#include "compiler/backends/llvm/monoids/monoid.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace tilefold::llvm_backend {
namespace {

using llvm::Value;

enum : int { extreme, where };

class Arg : public MonoidWriter {
public:
    Arg(const ir::Graph& graph, const LoweredReduction& lowered)
        : MonoidWriter(graph, lowered),
          largest_(row().monoid == ir::Monoid::ArgMaximum) {}

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

    void step(Tile& tile) override {
        if (!lowered_.in_memory)
            return take_most(tile);
        tile.values.hoist_scalars(body(), tile.rows, tile.columns);
        follow(tile);
    }

    void finish_tile(Tile& tile) override {
        each(tile, [&](Component k, int r) {
            auto& b = tile.lanes.b;
            Lanes& lanes = tile.lanes;
            if (step_columns_ > 0)
                find_columns(tile, k, r);
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
            algebra(lanes).take(best_of(state, k), Found{x, index}, found);
            Value* first = b.CreateAdd(lanes.splat(tile.panel),
                                       tile.index_base[std::size_t(r)]);
            algebra(lanes).keep_first(state.at(where, k), first);
        });
    }

    bool takes_points() const override { return true; }

    void merge(Evaluator& values, const FunctionTable&, StateRows& into,
               StateRows& from) override {
        values.each_component(components_, [&](Component k) {
            algebra(values.lanes()).merge(best_of(into, k), best_of(from, k));
        });
    }

    Value* result(Lanes& lanes, const FunctionTable&, StateRows& state,
                  Component component, Value* terms) override {
        return algebra(lanes).result_index(state.load(where, component), terms);
    }

private:
    using Best = Found<StateRows::Place>;
    static Best best_of(const StateRows& state, Component k) {
        return {state.at(extreme, k), state.at(where, k)};
    }

    /// Whether columns are found out later: those of a step lie in one vector.
    static bool notes_steps(const Tile& tile) {
        return tile.across && tile.columns > 1 &&
               tile.lanes.width() % tile.columns == 0;
    }

    /// Takes the most extreme of the step's columns where it beats the best so
    /// far. It notes its column or, as a note of the step, -2 less its first.
    /// NaN seldom comes: then all is gone through again.
    void take_most(Tile& tile) {
        auto& b = tile.lanes.b;
        if (notes_steps(tile))
            step_columns_ = tile.columns;
        Value* unordered = nullptr;
        each(tile, [&](Component k, int r) {
            const std::vector<Value*> terms = terms_of_step(tile, k, r);
            for (std::size_t j = 0; j < terms.size(); j += 2) {
                Value* pair = b.CreateFCmpUNO(
                    terms[j], terms[std::min(j + 1, terms.size() - 1)]);
                unordered = unordered ? b.CreateOr(unordered, pair) : pair;
            }
            const auto [most, index] = most_extreme(tile, terms);
            Value* best_at = place(tile, extreme, k, r, real(tile));
            Value* index_at = place(tile, where, k, r, columns(tile));
            Value* best = b.CreateLoad(real(tile), best_at);
            Value* better = is_better(b, most, best);
            b.CreateStore(b.CreateSelect(better, most, best), best_at);
            b.CreateStore(b.CreateSelect(better, index,
                                         b.CreateLoad(columns(tile), index_at)),
                          index_at);
        });
        Value* some = b.CreateNot(tile.lanes.all(b.CreateNot(unordered)));
        tile.lanes.when_rare(some, [&] { follow(tile); });
    }

    std::vector<Value*> terms_of_step(Tile& tile, Component k, int r) const {
        std::vector<Value*> terms;
        for (int j = 0; j < tile.columns; ++j)
            terms.push_back(read(tile, 0, k, r, j));
        return terms;
    }

    /// Returns the most extreme value of the step's columns, and its index.
    std::pair<Value*, Value*>
    most_extreme(Tile& tile, const std::vector<Value*>& terms) const {
        auto& b = tile.lanes.b;
        llvm::Type* type = columns(tile);
        Value* most = terms[0];
        Value* place = llvm::Constant::getNullValue(type);
        for (std::size_t j = 1; j < terms.size(); ++j) {
            Value* better = is_better(b, terms[j], most);
            most = b.CreateSelect(better, terms[j], most);
            place =
                b.CreateSelect(better, llvm::ConstantInt::get(type, j), place);
        }
        if (notes_steps(tile))
            return {most,
                    splat_column(tile, b.CreateSub(tile.lanes.constant(-2),
                                                   tile.column))};
        return {most, b.CreateAdd(splat_column(tile, tile.column), place)};
    }

    /// The columns of the rows that a step is noted for.
    void find_columns(Tile& tile, Component k, int r) {
        auto& b = tile.lanes.b;
        const Lanes& lanes = tile.lanes;
        const auto size = std::int64_t(size_of(graph_.real));
        Value* index_at = place(tile, where, k, r, columns(tile));
        Value* index = b.CreateLoad(columns(tile), index_at);
        Value* noted = lanes.bits(b.CreateICmpSLT(
            index, llvm::ConstantInt::getSigned(columns(tile), -1)));
        Value* list = lanes.byte_offset(tile.list, (k.fixed * tile.rows + r) *
                                                       lanes.width() * size);
        lanes.when(b.CreateICmpNE(noted, lanes.constant(0)), [&] {
            lanes.store(index, list);
            lanes.each_bit(noted, [&](Value* lane) {
                Value* slot = lanes.at(list, lane, 0, size);
                llvm::Type* type = columns(tile)->getScalarType();
                Value* mark =
                    b.CreateSExt(b.CreateLoad(type, slot), b.getInt64Ty());
                Value* column = find_column(
                    tile, k, b.CreateAdd(tile.points[std::size_t(r)], lane),
                    b.CreateSub(lanes.constant(-2), mark));
                b.CreateStore(b.CreateTrunc(column, type), slot);
            });
            b.CreateStore(b.CreateLoad(columns(tile), list), index_at);
        });
    }

    /// Returns the first of the most extreme columns of a step for a row; the
    /// step begins with column `first`.
    Value* find_column(Tile& tile, Component k, Value* row, Value* first) {
        auto& b = tile.lanes.b;
        const Lanes& lanes = tile.lanes;
        Value* start = b.CreateAnd(first, lanes.constant(-lanes.width()));
        Value* before = b.CreateSub(first, start);
        Value* end = b.CreateAdd(before, lanes.constant(step_columns_));
        Value* of_step = b.CreateAnd(lanes.first_lanes(end),
                                     b.CreateNot(lanes.first_lanes(before)));
        Value* x = b.CreateSelect(
            of_step, lanes.as(graph_.real, tile.across(row, start, k)),
            lanes.number(graph_.real, worst()));
        Value* most = x;
        for (int half = lanes.width() / 2; half > 0; half /= 2) {
            Value* other = lanes.rotated(most, half);
            most = b.CreateSelect(is_better(b, other, most), other, most);
        }
        Value* is_most = b.CreateAnd(of_step, b.CreateFCmpOEQ(x, most));
        return b.CreateAdd(start, b.CreateBinaryIntrinsic(llvm::Intrinsic::cttz,
                                                          lanes.bits(is_most),
                                                          b.getFalse()));
    }

    Value* splat_column(Tile& tile, Value* column) const {
        return tile.lanes.splat(
            tile.lanes.b.CreateTrunc(column, columns(tile)->getScalarType()));
    }

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
                Value* better = algebra(tile.lanes).beats(x, best);
                Value* column = splat_column(
                    tile, b.CreateAdd(tile.column, tile.lanes.constant(j)));
                best = b.CreateSelect(better, x, best);
                index = b.CreateSelect(better, column, index);
            }
            b.CreateStore(best, best_at);
            b.CreateStore(index, index_at);
        });
    }

    double worst() const { return fields().front().identity; }

    /// Returns whether x is strictly better than `best`, where neither is NaN.
    Value* is_better(llvm::IRBuilder<>& b, Value* x, Value* best) const {
        return largest_ ? b.CreateFCmpOGT(x, best) : b.CreateFCmpOLT(x, best);
    }

    llvm::Type* real(Tile& tile) const { return tile.lanes.type(graph_.real); }
    /// The type of columns of a panel: integers as wide as the computing
    /// dtype.
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
    int step_columns_ = 0; ///< of a step that is noted; 0: none is
};

} // namespace

std::unique_ptr<MonoidWriter> make_arg(const ir::Graph& graph,
                                       const LoweredReduction& lowered) {
    return std::make_unique<Arg>(graph, lowered);
}

} // namespace tilefold::llvm_backend
