// compiler/backends/cuda/monoids/monoid_k_minimum.cpp - the K smallest values
// and where they are, sorted, NaN last.
//
// The state is the list itself, worst last; an empty place is NaN at index -1,
// above everything, and ties keep the lower index. A column is compared with
// the worst, and only where it is better, rare after the first few hundred
// columns, does it sink into the list. There is no partial list: a tile adds
// to the row's.

#include "compiler/backends/cuda/monoids/monoid.h"

namespace tilefold::cuda {
namespace {

class KMinimum : public Monoid {
public:
    KMinimum(const Registers& registers, const LoweredReduction& reduction)
        : Monoid(registers, reduction), k_(node().third) {}

    /// A tile begins with the row's list; codes of what it held count down
    /// from -1.
    void begin(Scene& scene) override {
        scene.writer.set(partial(scene, changed), number(Kind::Truth, 0));
        each_place(scene, [&](const Component& at) {
            scene.writer.set(partial(scene, value, at),
                             as(real(), state(scene.state, smallest, at)));
            const Code held = whole(-1) - at.code();
            const Code empty =
                less(state(scene.state, where, at), number(Kind::Long, 0));
            scene.writer.set(partial(scene, column, at),
                             choice(empty, Code(Kind::Int, "no_column"), held));
        });
    }

    /// Where a bound is at hand, a value is computed only if that allows it to
    /// be better, as it does if it is NaN.
    void add(Scene& scene) override {
        if (!lowered().is_filtered)
            return add_value(scene);
        Writer& writer = scene.writer;
        const Code least = writer.let("least", read(scene, 1, {}, real()));
        writer.when(negated(less_equal(worst(scene), least)),
                    [&] { add_value(scene); });
    }

    void finish_tile(Scene& scene) override {
        scene.writer.when(partial(scene, changed), [&] { write_back(scene); });
    }

    /// Its loop is no longer once it is compiled: K insertions into K places
    /// would take seconds to compile, and states are merged rarely.
    void merge(Scene& scene, const Code& from) override {
        const auto insert = [&](const Code& c) {
            const Component at{0, c};
            scene.writer.run("insert", {state_array(scene.state, smallest),
                                        state_array(scene.state, where),
                                        state(from, smallest, at),
                                        state(from, where, at)});
        };
        scene.writer.loop("c", k_, insert, 1);
    }

    Code result(Scene& scene, const Component& at, const Code&) override {
        const Found place{state(scene.state, smallest, at),
                          state(scene.state, where, at)};
        return row().finish == ir::Finish::Indices
                   ? place.index
                   : algebra(scene).result_value(place);
    }

private:
    enum : int { smallest, where };        ///< of the state
    enum : int { value, column, changed }; ///< of a partial

    Code worst(Scene& scene) const {
        return partial(scene, value, {k_ - 1, {}});
    }
    /// One comparison lets nearly all pairs pass by. It is true where x or the
    /// worst is NaN, as it is in an empty place; `sink` knows the rest.
    void add_value(Scene& scene) {
        Writer& writer = scene.writer;
        const Code x = writer.let("x", read(scene, 0, {}, real()));
        writer.when(negated(less_equal(worst(scene), x)), [&] {
            writer.run("sink", {partial_array(scene, value),
                                partial_array(scene, column), x, scene.column});
            writer.set(partial(scene, changed), number(Kind::Truth, 1));
        });
    }

    /// Writes the list back, last place first: what was in a place of the
    /// row's list is in the same place of the tile's, or in a later one.
    void write_back(Scene& scene) {
        Writer& writer = scene.writer;
        each_place(scene, [&](const Component& from_end) {
            const Component at{
                0, writer.let("at", whole(k_ - 1) - from_end.code())};
            const Code kept = writer.let("column", partial(scene, column, at));
            const Code index = state(scene.state, where, at);
            writer.set(state(scene.state, smallest, at),
                       as(Kind::Double, partial(scene, value, at)));
            writer.when(
                less_equal(whole(0), kept),
                [&] { writer.set(index, scene.first + kept); },
                [&] {
                    const Code place =
                        choice(equal(kept, Code(Kind::Int, "no_column")),
                               at.code(), whole(-1) - kept);
                    writer.set(index, state(scene.state, where, {0, place}));
                });
        });
    }

    void each_place(Scene& scene,
                    const std::function<void(Component)>& body) const {
        each_slot(scene, smallest, body);
    }
    /// A list is a loop, however short.
    void each_slot(Scene& scene, int field,
                   const std::function<void(Component)>& body) const override {
        scene.writer.loop("c", length(field),
                          [&](const Code& c) { body({0, c}); });
    }

    std::int64_t k_;
};

} // namespace

std::unique_ptr<Monoid> make_k_minimum(const Registers& registers,
                                       const LoweredReduction& reduction) {
    return std::make_unique<KMinimum>(registers, reduction);
}

} // namespace tilefold::cuda
