// compiler/backends/cuda/monoids/monoid_plain.cpp - sum, product, maximum,
// minimum: one accumulator a component.

#include "compiler/backends/cuda/monoids/monoid.h"

namespace tilefold::cuda {
namespace {

class Plain : public Monoid {
public:
    Plain(const Registers& registers, const LoweredReduction& reduction)
        : Monoid(registers, reduction), kind_(reduction.partial[0].kind) {}

    void begin(Scene& scene) override {
        each_slot(scene, 0, [&](const Component& at) {
            scene.writer.set(partial(scene, 0, at),
                             number(kind_, state_field(0).identity));
        });
    }

    void add(Scene& scene) override {
        each(scene, 0, [&](const Component& at) {
            algebra(scene).combine(partial(scene, 0, at),
                                   read(scene, 0, at, kind_));
        });
    }

    void finish_tile(Scene& scene) override {
        each_slot(scene, 0, [&](const Component& at) {
            const Code sum = state(scene.state, 0, at);
            algebra(scene).combine(sum, as(sum.kind(), partial(scene, 0, at)));
        });
    }

    void merge(Scene& scene, const Code& from) override {
        each_slot(scene, 0, [&](const Component& at) {
            algebra(scene).combine(state(scene.state, 0, at),
                                   state(from, 0, at));
        });
    }

    Code result(Scene& scene, const Component& at, const Code& terms) override {
        return algebra(scene).result(state(scene.state, 0, at), terms);
    }

private:
    Kind kind_; ///< of a tile's accumulators
};

} // namespace

std::unique_ptr<Monoid> make_plain(const Registers& registers,
                                   const LoweredReduction& reduction) {
    return std::make_unique<Plain>(registers, reduction);
}

} // namespace tilefold::cuda
