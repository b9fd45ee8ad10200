// compiler/backends/cuda/monoids/monoid_exponential.cpp - logsumexp and
// softmax: sums of w exp(f) kept relative to a running maximum m of f.
//
// A tile starts from the row's maximum. Where a score exceeds it, the sums of
// the tile are rescaled; that is rare after the first few columns, and the
// row's own sums are rescaled once, when the tile ends. Where m is -inf, 0
// stands for it: a row of -inf sums to 0. A NaN becomes the maximum, and all
// that is computed from it is NaN.
// Milakov, Gimelshein: Online normalizer calculation for softmax (2018).

#include "compiler/backends/cuda/monoids/monoid.h"

#include <cmath>

namespace tilefold::cuda {
namespace {

class Exponential : public Monoid {
public:
    Exponential(const ir::Graph& graph, ir::ValueId reduce, Record& partial,
                Record& state)
        : Monoid(graph, reduce, partial, state),
          softmax_(row().monoid == ir::Monoid::SoftMax) {
        running_ = keep(partial, "maximum", real(), 0);
        total_ = keep(partial, "weight", real(), 0);
        maximum_ = keep(state, "maximum", Kind::Double, 0);
        weight_ = keep(state, "weight", Kind::Double, 0);
        if (!softmax_)
            return;
        const Type& value = graph[node().operands[1]].type;
        components_ = components_of(value);
        weighted_ = keep(partial, "sum", real(), length_of(value));
        sum_ = keep(state, "sum", Kind::Double, length_of(value));
    }

    void identity(Scene& scene) override {
        scene.writer.set(state(scene.state, maximum_),
                         number(Kind::Double, -INFINITY));
        each_sum(scene, state(scene.state, weight_), scene.state, sum_,
                 [&](const Code& sum) {
                     scene.writer.set(sum, number(Kind::Double, 0));
                 });
    }

    void begin(Scene& scene) override {
        Writer& writer = scene.writer;
        writer.set(partial(scene, running_),
                   as(real(), state(scene.state, maximum_)));
        writer.set(partial(scene, total_), number(real(), 0));
        if (softmax_)
            each_slot(scene, components_, [&](const Component& at) {
                writer.set(partial(scene, weighted_, at), number(real(), 0));
            });
    }

    void add(Scene& scene) override {
        Writer& writer = scene.writer;
        const Code score = writer.let("score", read(scene, 0, {}, real()));
        const Code maximum = partial(scene, running_);
        writer.when(negated(less_equal(score, maximum)), [&] {
            const Code shrink = writer.let("shrink", weigh(maximum, score));
            writer.set(maximum, call(real(), "larger", {maximum, score}));
            writer.multiply(partial(scene, total_), shrink);
            if (softmax_)
                each_slot(scene, components_, [&](const Component& at) {
                    writer.multiply(partial(scene, weighted_, at), shrink);
                });
        });
        const Code weight = writer.let("weight", weigh(score, maximum));
        const bool weighted = !softmax_ && node().arity == 2;
        writer.add(partial(scene, total_),
                   weighted ? weight * read(scene, 1, {}, real()) : weight);
        if (softmax_)
            each(scene, 1, [&](const Component& at) {
                writer.add(partial(scene, weighted_, at),
                           weight * read(scene, 1, at, real()));
            });
    }

    void fold(Scene& scene) override {
        Writer& writer = scene.writer;
        const Code maximum = state(scene.state, maximum_);
        const Code running =
            writer.let("running", as(Kind::Double, partial(scene, running_)));
        writer.when(negated(less_equal(running, maximum)), [&] {
            shrink(scene, scene.state, weigh(maximum, running));
            writer.set(maximum, running);
        });
        writer.add(state(scene.state, weight_),
                   as(Kind::Double, partial(scene, total_)));
        if (softmax_)
            each_slot(scene, components_, [&](const Component& at) {
                writer.add(state(scene.state, sum_, at),
                           as(Kind::Double, partial(scene, weighted_, at)));
            });
    }

    void merge(Scene& scene, const Code& from) override {
        Writer& writer = scene.writer;
        const Code into = state(scene.state, maximum_);
        const Code maximum =
            writer.let("maximum", call(Kind::Double, "larger",
                                       {into, state(from, maximum_)}));
        const Code share =
            writer.let("share", weigh(state(from, maximum_), maximum));
        shrink(scene, scene.state, weigh(into, maximum));
        writer.set(into, maximum);
        writer.add(state(scene.state, weight_), share * state(from, weight_));
        if (softmax_)
            each_slot(scene, components_, [&](const Component& at) {
                writer.add(state(scene.state, sum_, at),
                           share * state(from, sum_, at));
            });
    }

    /// One quotient for all components, where float32 does not show it.
    void begin_result(Scene& scene) override {
        if (softmax_ && result_kind() == Kind::Float)
            inverse_ =
                scene.writer.let("inverse", number(Kind::Double, 1) /
                                                state(scene.state, weight_));
    }

    Code result(Scene& scene, const Component& at, const Code&) override {
        const Code weight = state(scene.state, weight_);
        if (inverse_)
            return as(result_kind(), state(scene.state, sum_, at) * *inverse_);
        if (softmax_)
            return as(result_kind(), state(scene.state, sum_, at) / weight);
        return as(result_kind(), state(scene.state, maximum_) +
                                     call(Kind::Double, "log", {weight}));
    }

private:
    /// exp(score - maximum), for a score of at most the maximum.
    static Code weigh(const Code& score, const Code& maximum) {
        return call(score.kind(), "relative_weight", {score, maximum});
    }

    template <class Change>
    void each_sum(Scene& scene, const Code& weight, const Code& object,
                  Slot slot, Change change) {
        change(weight);
        if (softmax_)
            each_slot(scene, components_, [&](const Component& at) {
                change(state(object, slot, at));
            });
    }

    void shrink(Scene& scene, const Code& object, const Code& factor) {
        const Code by = scene.writer.let("shrink", factor);
        each_sum(scene, state(object, weight_), object, sum_,
                 [&](const Code& sum) { scene.writer.multiply(sum, by); });
    }

    bool softmax_;
    std::int64_t components_ = 1;
    Slot running_{}, total_{}, weighted_{}; ///< of a tile
    Slot maximum_{}, weight_{}, sum_{};     ///< of a row
    std::optional<Code> inverse_;           ///< of its weight
};

} // namespace

std::unique_ptr<Monoid> make_exponential(const ir::Graph& graph,
                                         ir::ValueId reduce, Record& partial,
                                         Record& state) {
    return std::make_unique<Exponential>(graph, reduce, partial, state);
}

} // namespace tilefold::cuda
