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

namespace tilefold::cuda {
namespace {

enum : int { maximum, weight, sum }; ///< of the state, and of a partial

class Exponential : public Monoid {
public:
    Exponential(const Registers& registers, const LoweredReduction& reduction)
        : Monoid(registers, reduction),
          softmax_(row().monoid == ir::Monoid::SoftMax) {}

    void begin(Scene& scene) override {
        scene.writer.set(partial(scene, maximum),
                         as(real(), state(scene.state, maximum)));
        each_of_tile(scene, [&](const Code& place) {
            scene.writer.set(place, number(real(), 0));
        });
    }

    void add(Scene& scene) override {
        Writer& writer = scene.writer;
        const Code score = writer.let("score", read(scene, 0, {}, real()));
        const Code term = algebra(scene).weigh(
            partial(scene, maximum), score,
            [&](const auto& change) { each_of_tile(scene, change); });
        const bool weighted = !softmax_ && node().arity == 2;
        writer.add(partial(scene, weight),
                   weighted ? term * read(scene, 1, {}, real()) : term);
        if (softmax_)
            each(scene, 1, [&](const Component& at) {
                writer.add(partial(scene, sum, at),
                           term * read(scene, 1, at, real()));
            });
    }

    void finish_tile(Scene& scene) override {
        Writer& writer = scene.writer;
        const CodeArithmetic arithmetic(writer);
        const Code into = state(scene.state, maximum);
        const Code running =
            writer.let("running", as(Kind::Double, partial(scene, maximum)));
        arithmetic.when_above(running, into, [&] {
            shrink(scene, arithmetic.weight(into, running));
            writer.set(into, running);
        });
        writer.add(state(scene.state, weight),
                   as(Kind::Double, partial(scene, weight)));
        if (softmax_)
            each_slot(scene, sum, [&](const Component& at) {
                writer.add(state(scene.state, sum, at),
                           as(Kind::Double, partial(scene, sum, at)));
            });
    }

    void merge(Scene& scene, const Code& from) override {
        Writer& writer = scene.writer;
        const Code into = state(scene.state, maximum);
        const auto by = algebra(scene).rescaling(into, state(from, maximum));
        const Code share = writer.let("share", by.from);
        shrink(scene, by.into);
        writer.set(into, by.maximum);
        writer.add(state(scene.state, weight), share * state(from, weight));
        if (softmax_)
            each_slot(scene, sum, [&](const Component& at) {
                writer.add(state(scene.state, sum, at),
                           share * state(from, sum, at));
            });
    }

    /// One quotient for all components, where float32 does not show it.
    void begin_result(Scene& scene) override {
        if (softmax_ && result_kind() == Kind::Float)
            inverse_ =
                scene.writer.let("inverse", number(Kind::Double, 1) /
                                                state(scene.state, weight));
    }

    Code result(Scene& scene, const Component& at, const Code&) override {
        const Code total = state(scene.state, weight);
        if (inverse_)
            return as(result_kind(), state(scene.state, sum, at) * *inverse_);
        if (softmax_)
            return as(result_kind(), state(scene.state, sum, at) / total);
        return as(result_kind(), state(scene.state, maximum) +
                                     call(Kind::Double, "log", {total}));
    }

private:
    /// Calls `body` with each sum of the tile.
    void each_of_tile(Scene& scene,
                      const std::function<void(const Code&)>& body) const {
        body(partial(scene, weight));
        if (softmax_)
            each_slot(scene, sum, [&](const Component& at) {
                body(partial(scene, sum, at));
            });
    }

    /// Multiplies the sums of the row.
    void shrink(Scene& scene, const Code& factor) {
        const Code by = scene.writer.let("shrink", factor);
        scene.writer.multiply(state(scene.state, weight), by);
        if (softmax_)
            each_slot(scene, sum, [&](const Component& at) {
                scene.writer.multiply(state(scene.state, sum, at), by);
            });
    }

    bool softmax_;
    std::optional<Code> inverse_; ///< of its weight
};

} // namespace

std::unique_ptr<Monoid> make_exponential(const Registers& registers,
                                         const LoweredReduction& reduction) {
    return std::make_unique<Exponential>(registers, reduction);
}

} // namespace tilefold::cuda
