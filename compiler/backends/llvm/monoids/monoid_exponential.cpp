// compiler/backends/llvm/monoids/monoid_exponential.cpp - logsumexp and
// softmax: sums of w exp(f) kept relative to a running maximum m of f.
//
// Between panels the state is (m, Σ exp(f - m), Σ w exp(f - m) …). A tile of
// columns raises m while its f are computed and kept; then the sums are
// rescaled once, and f - m has its exponential taken: one a pair. Where m is
// infinite, 0 stands for it: a row of -inf then sums to 0 and one +inf to inf,
// never to NaN.
// Milakov, Gimelshein: Online normalizer calculation for softmax (2018);
// Dao et al.: FlashAttention (2022).

#include "compiler/backends/llvm/monoids/monoid.h"

namespace tilefold::llvm_backend {
namespace {

using llvm::Value;

enum : int { maximum, total, weighted };
/// Accumulators of a tile beside total and weighted.
enum : int { running = 3, initial = 4, rescaled = 5, tile_total = 6 };

class Exponential : public MonoidWriter {
public:
    Exponential(const ir::Graph& graph, const LoweredReduction& lowered)
        : MonoidWriter(graph, lowered),
          softmax_(row().monoid == ir::Monoid::SoftMax) {}

    void start(Tile& tile) override {
        auto& b = tile.lanes.b;
        for (int r = 0; r < tile.rows; ++r) {
            Value* m = tile.lanes.as(graph_.real,
                                     tile.state[std::size_t(r)]->load(maximum));
            b.CreateStore(m, scalar(tile, running, r));
            b.CreateStore(m, scalar(tile, initial, r));
            b.CreateStore(m, scalar(tile, rescaled, r));
            b.CreateStore(tile.lanes.number(graph_.real, 0),
                          scalar(tile, total, r));
        }
        each_weighted(tile, [&](Component k, int r) {
            b.CreateStore(tile.lanes.number(graph_.real, 0),
                          vector(tile, k, r));
        });
    }

    void step(Tile& tile) override {
        auto& b = tile.lanes.b;
        for (int r = 0; r < tile.rows; ++r) {
            Value* place = scalar(tile, running, r);
            Value* m = b.CreateLoad(type(tile.lanes), place);
            for (int j = 0; j < tile.columns; ++j)
                m = tile.lanes.larger(read(tile, 0, {}, r, j), m);
            b.CreateStore(m, place);
        }
    }

    void take(Tile& tile, const EachStep& each_step) override {
        std::vector<Value*> levels, shrink;
        for (int r = 0; r < tile.rows; ++r)
            raise(tile, r, levels, shrink);
        const bool wide = keeps_terms();
        if (!wide)
            each_weighted(tile, [&](Component k, int r) {
                multiply(tile, vector(tile, k, r), shrink[std::size_t(r)]);
            });
        // Blocks keep weights of two columns at a time.
        each_step(tile.blocks ? 2 : tile.columns, [&] {
            for (int r = 0; r < tile.rows; ++r)
                add(tile, r, levels[std::size_t(r)]);
        });
        for (int r = 0; r < tile.rows; ++r)
            join_total(tile, r, shrink[std::size_t(r)]);
        if (!wide)
            return;
        if (!tile.blocks)
            return add_wide(tile, each_step, shrink);
        Value* finite = tile.lanes.b.CreateLoad(tile.lanes.b.getInt1Ty(),
                                                tile.blocks->are_finite);
        tile.lanes.when(finite, [&] { add_blocks(tile, shrink); });
        tile.lanes.when(tile.lanes.b.CreateNot(finite),
                        [&] { add_wide(tile, each_step, shrink); });
    }

    void finish_tile(Tile& tile) override {
        auto& b = tile.lanes.b;
        std::vector<Value*> shrink;
        const auto merge = [&](int field, Component k, int r, Value* place) {
            StateRows& state = *tile.state[std::size_t(r)];
            Value* partial = tile.lanes.as(
                DType::F64, b.CreateLoad(type(tile.lanes), place));
            state.store(field, k,
                        tile.lanes.fma(state.load(field, k),
                                       shrink[std::size_t(r)], partial));
        };
        for (int r = 0; r < tile.rows; ++r) {
            const auto load = [&](int which) {
                return b.CreateLoad(type(tile.lanes), scalar(tile, which, r));
            };
            Value* m = load(running);
            shrink.push_back(tile.lanes.as(
                DType::F64,
                LaneArithmetic(tile.lanes).weight(load(initial), m)));
            tile.state[std::size_t(r)]->store(maximum, {},
                                              tile.lanes.as(DType::F64, m));
            merge(total, {}, r, scalar(tile, total, r));
        }
        each_weighted(tile, [&](Component k, int r) {
            merge(weighted, k, r, vector(tile, k, r));
        });
    }

    void merge(Evaluator& values, const FunctionTable&, StateRows& into,
               StateRows& from) override {
        Lanes& lanes = values.lanes();
        Value* before = into.load(maximum);
        const auto by = algebra(lanes).rescaling(before, from.load(maximum));
        const auto join = [&](int field, Component k) {
            Value* scaled = lanes.b.CreateFMul(from.load(field, k), by.from);
            into.store(field, k,
                       lanes.fma(into.load(field, k), by.into, scaled));
        };
        into.store(maximum, {}, by.maximum);
        join(total, {});
        if (softmax_)
            values.each_component(components_,
                                  [&](Component k) { join(weighted, k); });
    }

    Value* result(Lanes& lanes, const FunctionTable& functions,
                  StateRows& state, Component component, Value*) override {
        auto& b = lanes.b;
        Value* sum = state.load(total);
        if (softmax_)
            return lanes.as(graph_.real,
                            b.CreateFDiv(state.load(weighted, component), sum));
        Value* terms = lanes.as(graph_.real, sum);
        Value* logarithm = call_external(lanes, functions, External::Log,
                                         graph_.real, {&terms, 1});
        return b.CreateFAdd(lanes.as(graph_.real, state.load(maximum)),
                            logarithm);
    }

private:
    bool has_weights() const { return !softmax_ && node().arity == 2; }
    llvm::Type* type(Lanes& lanes) const { return lanes.type(graph_.real); }
    Value* scalar(Tile& tile, int which, int r) {
        return place(tile, which, {}, r, type(tile.lanes));
    }
    Value* vector(Tile& tile, Component k, int r) {
        // The only accumulator that may lie in memory: which = 0 there.
        return place(tile, k.runtime ? 0 : weighted, k, r, type(tile.lanes));
    }
    template <class Body> void each_weighted(Tile& tile, Body body) {
        if (softmax_)
            tile.values.each_component(components_, [&](Component k) {
                for (int r = 0; r < tile.rows; ++r)
                    body(k, r);
            });
    }

    /// Whether weighted sums lie in memory.
    bool keeps_terms() const { return softmax_ && lowered_.in_memory; }

    void multiply(Tile& tile, Value* place, Value* factor) const {
        auto& b = tile.lanes.b;
        b.CreateStore(
            b.CreateFMul(b.CreateLoad(type(tile.lanes), place), factor), place);
    }

    /// Lifts row vector r to the running maximum, and sets what f is relative
    /// to from now on and the factor of the sums so far.
    void raise(Tile& tile, int r, std::vector<Value*>& levels,
               std::vector<Value*>& shrink) {
        auto& b = tile.lanes.b;
        Value* m = b.CreateLoad(type(tile.lanes), scalar(tile, running, r));
        Value* before =
            b.CreateLoad(type(tile.lanes), scalar(tile, rescaled, r));
        const LaneArithmetic arithmetic(tile.lanes);
        levels.push_back(arithmetic.level(m));
        shrink.push_back(arithmetic.power(before, levels.back()));
        b.CreateStore(m, scalar(tile, rescaled, r));
        b.CreateStore(tile.lanes.number(graph_.real, 0),
                      scalar(tile, tile_total, r));
    }

    /// Adds Σ exp(f - m) of the tile of columns to that of those before.
    void join_total(Tile& tile, int r, Value* shrink) {
        auto& b = tile.lanes.b;
        const auto load = [&](int which) {
            return b.CreateLoad(type(tile.lanes), scalar(tile, which, r));
        };
        b.CreateStore(tile.lanes.fma(load(total), shrink, load(tile_total)),
                      scalar(tile, total, r));
    }

    /// Adds the pairs of row vector r to the sums.
    void add(Tile& tile, int r, Value* level) {
        if (!softmax_ && !has_weights())
            return add_powers(tile, r, level);
        std::vector<Value*> terms;
        for (int j = 0; j < tile.columns; ++j) {
            terms.push_back(LaneArithmetic(tile.lanes)
                                .power(read(tile, 0, {}, r, j), level));
            const auto add_to = [&](Value* place, Value* weight) {
                Value* sum = tile.lanes.b.CreateLoad(type(tile.lanes), place);
                sum = weight ? tile.lanes.fma(terms.back(), weight, sum)
                             : tile.lanes.b.CreateFAdd(sum, terms.back());
                tile.lanes.b.CreateStore(sum, place);
            };
            add_to(scalar(tile, tile_total, r),
                   has_weights() ? read(tile, 1, {}, r, j) : nullptr);
            if (softmax_ && !keeps_terms())
                tile.values.each_component(components_, [&](Component k) {
                    add_to(vector(tile, k, r), read(tile, 1, k, r, j));
                });
        }
        if (keeps_terms())
            keep(tile, r, terms);
    }

    /// Adds the pairs whose terms nothing else needs.
    void add_powers(Tile& tile, int r, Value* level) {
        Value* place = scalar(tile, tile_total, r);
        Value* sum = tile.lanes.b.CreateLoad(type(tile.lanes), place);
        for (int j = 0; j < tile.columns; ++j)
            sum = emit_exp2_added(tile.lanes,
                                  LaneArithmetic(tile.lanes)
                                      .exponent(read(tile, 0, {}, r, j), level),
                                  sum);
        tile.lanes.b.CreateStore(sum, place);
    }

    void keep(Tile& tile, int r, std::vector<Value*>& terms) {
        if (!tile.blocks) {
            for (int j = 0; j < tile.columns; ++j)
                tile.lanes.store(terms[std::size_t(j)], weight_at(tile, r, j));
            return;
        }
        if (terms.size() % 2 != 0)
            terms.push_back(tile.lanes.number(graph_.real, 0));
        for (std::size_t j = 0; j < terms.size(); j += 2)
            tile.blocks->keep(
                terms[j], terms[j + 1],
                tile.lanes.b.CreateAdd(number(tile),
                                       tile.lanes.constant(std::int64_t(j))),
                r);
    }

    /// Adds Σ w exp(f - m) to sums in memory, by the exponentials kept there.
    void add_wide(Tile& tile, const EachStep& each_step,
                  const std::vector<Value*>& shrink) {
        update(
            tile, each_step, type(tile.lanes),
            [&](Component k, int r) { return vector(tile, k, r); },
            [&](Value*, int) { return tile.lanes.number(graph_.real, 0); },
            [&](Value* sum, Component k, int r, int j) {
                Value* weight =
                    tile.blocks
                        ? tile.blocks->weight(number(tile), r)
                        : tile.lanes.load(graph_.real, weight_at(tile, r, j));
                return tile.lanes.fma(weight, read(tile, 1, k, r, j), sum);
            },
            [&](Value* sum, Value* before, int r) {
                return tile.lanes.fma(before, shrink[std::size_t(r)], sum);
            });
    }

    /// Adds to these sums by blocks.
    void add_blocks(Tile& tile, const std::vector<Value*>& shrink) {
        auto& b = tile.lanes.b;
        Value* one = tile.lanes.number(graph_.real, 1);
        Value* rose = nullptr;
        for (Value* factor : shrink) {
            Value* shrinks = b.CreateFCmpUNE(factor, one);
            rose = rose ? b.CreateOr(rose, shrinks) : shrinks;
        }
        tile.lanes.when(tile.lanes.any(rose), [&] {
            each_weighted(tile, [&](Component k, int r) {
                multiply(tile, vector(tile, k, r), shrink[std::size_t(r)]);
            });
        });
        tile.values.forget();
        tile.blocks->add(tile.first, b.CreateSub(tile.end, tile.first),
                         tile.memory);
    }

    /// Returns the number of the present column in its tile of columns.
    static Value* number(Tile& tile) {
        return tile.lanes.b.CreateSub(tile.column, tile.first);
    }

    /// Returns where exp(f - m) of a pair is kept.
    Value* weight_at(Tile& tile, int r, int j) const {
        const std::int64_t bytes =
            tile.lanes.width() * std::int64_t(size_of(graph_.real));
        return tile.lanes.at(
            tile.lanes.byte_offset(tile.list, (j * tile.rows + r) * bytes),
            number(tile), 0, tile.rows * bytes);
    }

    bool softmax_;
};

} // namespace

std::unique_ptr<MonoidWriter>
make_exponential(const ir::Graph& graph, const LoweredReduction& lowered) {
    return std::make_unique<Exponential>(graph, lowered);
}

} // namespace tilefold::llvm_backend
