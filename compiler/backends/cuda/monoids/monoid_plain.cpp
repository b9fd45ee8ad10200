// compiler/backends/cuda/monoids/monoid_plain.cpp - sum, product, maximum,
// minimum: one accumulator a component.

#include "compiler/backends/cuda/monoids/monoid.h"

namespace tilefold::cuda {
namespace {

class Plain : public Monoid {
public:
    Plain(const ir::Graph& graph, ir::ValueId reduce, Record& partial,
          Record& state)
        : Monoid(graph, reduce, partial, state),
          kind_(kind_of_value(accumulated_dtype(graph, node()))),
          partial_(keep(fields_.front().name, kind_, length(0))) {}

    void begin(Scene& scene) override {
        each_slot(scene, 0, [&](const Component& at) {
            scene.writer.set(Monoid::partial(scene, partial_, at),
                             number(kind_, fields_.front().identity));
        });
    }

    void add(Scene& scene) override {
        each(scene, 0, [&](const Component& at) {
            algebra(scene).combine(Monoid::partial(scene, partial_, at),
                                   read(scene, 0, at, kind_));
        });
    }

    void finish_tile(Scene& scene) override {
        each_slot(scene, 0, [&](const Component& at) {
            const Code sum = state(scene.state, 0, at);
            algebra(scene).combine(
                sum, as(sum.kind(), Monoid::partial(scene, partial_, at)));
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
    Slot partial_;
};

} // namespace

std::unique_ptr<Monoid> make_plain(const ir::Graph& graph, ir::ValueId reduce,
                                   Record& partial, Record& state) {
    return std::make_unique<Plain>(graph, reduce, partial, state);
}

} // namespace tilefold::cuda
