// compiler/backends/cuda/monoids/monoid_arg.cpp - argmax and argmin: the
// extreme value and the lowest index where it stands; the first NaN wins.

#include "compiler/backends/cuda/monoids/monoid.h"

namespace tilefold::cuda {
namespace {

enum : int { extreme, where };

class Arg : public Monoid {
public:
    Arg(const ir::Graph& graph, ir::ValueId reduce, Record& partial,
        Record& state)
        : Monoid(graph, reduce, partial, state),
          best_(keep("best", real(), length(extreme))),
          column_(keep("column", Kind::Int, length(where))) {}

    void begin(Scene& scene) override {
        each_slot(scene, extreme, [&](const Component& at) {
            scene.writer.set(partial(scene, best_, at),
                             number(real(), fields_[extreme].identity));
            scene.writer.set(partial(scene, column_, at), whole(-1));
        });
    }

    void add(Scene& scene) override {
        each(scene, 0, [&](const Component& at) {
            const Code x = scene.writer.let("x", read(scene, 0, at, real()));
            const Found into{partial(scene, best_, at),
                             partial(scene, column_, at)};
            algebra(scene).replace(into, algebra(scene).beats(x, into.value),
                                   Found{x, scene.column});
        });
    }

    void finish_tile(Scene& scene) override {
        each_slot(scene, extreme, [&](const Component& at) {
            const Code x = scene.writer.let(
                "x", as(Kind::Double, partial(scene, best_, at)));
            const Code column = partial(scene, column_, at);
            const Code found = less_equal(whole(0), column);
            algebra(scene).take(best_of(scene.state, at),
                                Found{x, scene.first + column}, found);
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
    Found<Code> best_of(const Code& object, const Component& at) const {
        return {state(object, extreme, at), state(object, where, at)};
    }

    Slot best_, column_; ///< of a tile
};

} // namespace

std::unique_ptr<Monoid> make_arg(const ir::Graph& graph, ir::ValueId reduce,
                                 Record& partial, Record& state) {
    return std::make_unique<Arg>(graph, reduce, partial, state);
}

} // namespace tilefold::cuda
