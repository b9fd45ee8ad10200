// compiler/backends/cuda/monoids/monoid_plain.cpp - sum, product, maximum,
// minimum: one accumulator a component.

#include "compiler/backends/cuda/monoids/monoid.h"

#include <cmath>

namespace tilefold::cuda {
namespace {

std::string_view hint_of(ir::Monoid monoid) {
    switch (monoid) {
    case ir::Monoid::Multiply:
        return "product";
    case ir::Monoid::Maximum:
        return "maximum";
    case ir::Monoid::Minimum:
        return "minimum";
    default:
        return "sum";
    }
}

class Plain : public Monoid {
public:
    Plain(const ir::Graph& graph, ir::ValueId reduce, Record& partial,
          Record& state)
        : Monoid(graph, reduce, partial, state), monoid_(row().monoid) {
        const ir::Node& body = graph[node().operands[0]];
        // Truth values are counted in the computing dtype.
        if (body.type.dtype != DType::Bool)
            partial_kind_ = result_kind();
        if (partial_kind_ == Kind::Long)
            state_kind_ = Kind::Long;
        components_ = components_of(body.type);
        const std::string_view hint = hint_of(monoid_);
        partial_ = keep(partial, hint, partial_kind_, length_of(body.type));
        state_ = keep(state, hint, state_kind_, length_of(body.type));
    }

    void identity(Scene& scene) override {
        each_slot(scene, components_, [&](const Component& at) {
            scene.writer.set(state(scene.state, state_, at),
                             number(state_kind_, of_nothing()));
        });
    }

    void begin(Scene& scene) override {
        each_slot(scene, components_, [&](const Component& at) {
            scene.writer.set(Monoid::partial(scene, partial_, at),
                             number(partial_kind_, of_nothing()));
        });
    }

    void add(Scene& scene) override {
        each(scene, 0, [&](const Component& at) {
            combine(scene.writer, Monoid::partial(scene, partial_, at),
                    read(scene, 0, at, partial_kind_));
        });
    }

    void fold(Scene& scene) override {
        each_slot(scene, components_, [&](const Component& at) {
            combine(scene.writer, state(scene.state, state_, at),
                    as(state_kind_, Monoid::partial(scene, partial_, at)));
        });
    }

    void merge(Scene& scene, const Code& from) override {
        each_slot(scene, components_, [&](const Component& at) {
            combine(scene.writer, state(scene.state, state_, at),
                    state(from, state_, at));
        });
    }

    Code result(Scene& scene, const Component& at, const Code& terms) override {
        const Code sum = state(scene.state, state_, at);
        if (row().finish == ir::Finish::OverCount)
            return as(result_kind(), sum / as(Kind::Double, terms));
        if (result_kind() == Kind::Long && state_kind_ == Kind::Double)
            return call(Kind::Long, "saturated", {sum});
        return as(result_kind(), sum);
    }

private:
    double of_nothing() const {
        const bool truth = result_kind() == Kind::Truth;
        switch (monoid_) {
        case ir::Monoid::Multiply:
            return 1;
        case ir::Monoid::Maximum:
            return truth ? 0 : -INFINITY;
        case ir::Monoid::Minimum:
            return truth ? 1 : INFINITY;
        default:
            return 0;
        }
    }

    void combine(Writer& writer, const Code& place, const Code& value) const {
        const bool integers = place.kind() == Kind::Long;
        switch (monoid_) {
        case ir::Monoid::Multiply:
            return writer.multiply(place, value);
        case ir::Monoid::Maximum:
            return writer.set(place,
                              call(place.kind(), integers ? "max" : "larger",
                                   {place, value}));
        case ir::Monoid::Minimum:
            return writer.set(place,
                              call(place.kind(), integers ? "min" : "smaller",
                                   {place, value}));
        default:
            if (integers)
                return writer.set(
                    place, call(place.kind(), "wrapped_sum", {place, value}));
            return writer.add(place, value);
        }
    }

    ir::Monoid monoid_;
    std::int64_t components_ = 1;
    /// Integers stay integers.
    Kind partial_kind_ = real(), state_kind_ = Kind::Double;
    Slot partial_{}, state_{};
};

} // namespace

std::unique_ptr<Monoid> make_plain(const ir::Graph& graph, ir::ValueId reduce,
                                   Record& partial, Record& state) {
    return std::make_unique<Plain>(graph, reduce, partial, state);
}

} // namespace tilefold::cuda
