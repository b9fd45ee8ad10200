// compiler/backends/cuda/monoids/monoid_arg.cpp - argmax and argmin: the
// extreme value and the lowest index where it stands; the first NaN wins.

#include "compiler/backends/cuda/monoids/monoid.h"

namespace tilefold::cuda {
namespace {

class Arg : public Monoid {
public:
    using Monoid::Monoid;

    void begin(Scene& scene) override {
        each_slot(scene, extreme, [&](const Component& at) {
            scene.writer.set(partial(scene, best, at),
                             number(real(), state_field(extreme).identity));
            scene.writer.set(partial(scene, column, at), whole(-1));
        });
    }

    void add(Scene& scene) override {
        each(scene, 0, [&](const Component& at) {
            const Code x = scene.writer.let("x", read(scene, 0, at, real()));
            const Found into{partial(scene, best, at),
                             partial(scene, column, at)};
            algebra(scene).replace(into, algebra(scene).beats(x, into.value),
                                   Found{x, scene.column});
        });
    }

    void finish_tile(Scene& scene) override {
        each_slot(scene, extreme, [&](const Component& at) {
            const Code x = scene.writer.let(
                "x", as(Kind::Double, partial(scene, best, at)));
            const Code kept = partial(scene, column, at);
            const Code found = less_equal(whole(0), kept);
            algebra(scene).take(best_of(scene.state, at),
                                Found{x, scene.first + kept}, found);
            algebra(scene).keep_first(state(scene.state, where, at),
                                      scene.first);
        });
    }

    void merge(Scene& scene, const Code& from) override {
        each_slot(scene, extreme, [&](const Component& at) {
            algebra(scene).merge(best_of(scene.state, at), best_of(from, at));
        });
    }

    Code result(Scene& scene, const Component& at, const Code& terms) override {
        return algebra(scene).result_index(state(scene.state, where, at),
                                           terms);
    }

private:
    enum : int { extreme, where }; ///< of the state
    enum : int { best, column };   ///< of a partial

    Found<Code> best_of(const Code& object, const Component& at) const {
        return {state(object, extreme, at), state(object, where, at)};
    }
};

} // namespace

std::unique_ptr<Monoid> make_arg(const Registers& registers,
                                 const LoweredReduction& reduction) {
    return std::make_unique<Arg>(registers, reduction);
}

} // namespace tilefold::cuda
