// compiler/backends/cuda/monoids/monoid_arg.cpp - argmax and argmin: the
// extreme value and the lowest index where it stands; the first NaN wins.

#include "compiler/backends/cuda/monoids/monoid.h"

#include <cmath>

namespace tilefold::cuda {
namespace {

class Arg : public Monoid {
public:
    Arg(const ir::Graph& graph, ir::ValueId reduce, Record& partial,
        Record& state)
        : Monoid(graph, reduce, partial, state),
          largest_(row().monoid == ir::Monoid::ArgMaximum) {
        const Type& body = graph[node().operands[0]].type;
        components_ = components_of(body);
        const std::int64_t length = length_of(body);
        best_ = keep(partial, "best", real(), length);
        column_ = keep(partial, "column", Kind::Int, length);
        extreme_ = keep(state, "best", Kind::Double, length);
        index_ = keep(state, "index", Kind::Long, length);
    }

    void identity(Scene& scene) override {
        each_slot(scene, components_, [&](const Component& at) {
            scene.writer.set(state(scene.state, extreme_, at),
                             number(Kind::Double, worst()));
            scene.writer.set(state(scene.state, index_, at),
                             number(Kind::Long, -1));
        });
    }

    void begin(Scene& scene) override {
        each_slot(scene, components_, [&](const Component& at) {
            scene.writer.set(partial(scene, best_, at),
                             number(real(), worst()));
            scene.writer.set(partial(scene, column_, at), whole(-1));
        });
    }

    void add(Scene& scene) override {
        each(scene, 0, [&](const Component& at) {
            const Code x = scene.writer.let("x", read(scene, 0, at, real()));
            const Code best = partial(scene, best_, at);
            scene.writer.when(beats(x, best), [&] {
                scene.writer.set(best, x);
                scene.writer.set(partial(scene, column_, at), scene.column);
            });
        });
    }

    void fold(Scene& scene) override {
        each_slot(scene, components_, [&](const Component& at) {
            const Code x = scene.writer.let(
                "x", as(Kind::Double, partial(scene, best_, at)));
            const Code column = partial(scene, column_, at);
            const Code best = state(scene.state, extreme_, at);
            const Code found = less_equal(whole(0), column);
            scene.writer.when(both(found, beats(x, best)), [&] {
                scene.writer.set(best, x);
                scene.writer.set(state(scene.state, index_, at),
                                 scene.first + column);
            });
            if (chooses())
                keep_first(scene, state(scene.state, index_, at));
        });
    }

    void merge(Scene& scene, const Code& from) override {
        each_slot(scene, components_, [&](const Component& at) {
            const Code x = state(from, extreme_, at);
            const Code best = state(scene.state, extreme_, at);
            const Code index = state(from, index_, at);
            const Code held = state(scene.state, index_, at);
            const Code same = call(Kind::Truth, "same", {x, best});
            const Code earlier =
                call(Kind::Truth, "comes_before", {index, held});
            const Code better = scene.writer.let(
                "better", either(beats(x, best), both(same, earlier)));
            scene.writer.when(better, [&] {
                scene.writer.set(best, x);
                scene.writer.set(held, index);
            });
        });
    }

    /// Where no value beat the identity, all are equal to it: the first.
    Code result(Scene& scene, const Component& at, const Code& terms) override {
        Code index = state(scene.state, index_, at);
        if (chooses())
            return index;
        const Code zero = number(Kind::Long, 0);
        return choice(both(less(zero, terms), less(index, zero)), zero, index);
    }

private:
    bool chooses() const { return node().pairs != ir::Pairs::All; }

    /// The first column that is met stands until a value beats the identity.
    void keep_first(Scene& scene, const Code& index) const {
        scene.writer.when(less(index, number(Kind::Long, 0)),
                          [&] { scene.writer.set(index, scene.first); });
    }

    double worst() const { return largest_ ? -INFINITY : INFINITY; }

    /// Strictly better, or the first NaN.
    Code beats(const Code& x, const Code& best) const {
        return call(Kind::Truth, largest_ ? "exceeds" : "undercuts", {x, best});
    }

    bool largest_;
    std::int64_t components_ = 1;
    Slot best_{}, column_{}, extreme_{}, index_{};
};

} // namespace

std::unique_ptr<Monoid> make_arg(const ir::Graph& graph, ir::ValueId reduce,
                                 Record& partial, Record& state) {
    return std::make_unique<Arg>(graph, reduce, partial, state);
}

} // namespace tilefold::cuda
