// compiler/backends/cuda/monoids/monoid.cpp - what all reductions share: their
// fields, loops over components, and the choice of family.

#include "compiler/backends/cuda/monoids/monoid.h"

#include "compiler/ir/queries.h"

namespace tilefold::cuda {

using ir::ValueId;

void Monoid::identity(Scene& scene) {
    const int count = int(lowered().state.size());
    for (int first = 0, last = 0; first < count; first = last) {
        while (last < count && length(last) == length(first))
            ++last;
        each_slot(scene, first, [&](const Component& at) {
            for (int field = first; field < last; ++field) {
                const Code place = state(scene.state, field, at);
                scene.writer.set(
                    place, number(place.kind(), state_field(field).identity));
            }
        });
    }
}

Code Monoid::partial(const Scene& scene, int field, const Component& at) const {
    return field_of(scene.partial, partial_member(field), at.code());
}

Code Monoid::state(const Code& object, int field, const Component& at) const {
    return field_of(object, state_member(field), at.code());
}

Code Monoid::read(Scene& scene, std::size_t number, const Component& at,
                  Kind kind) const {
    return as(kind, scene.values.value(node().operands[number], at));
}

void Monoid::each(Scene& scene, std::size_t number,
                  const std::function<void(Component)>& body) const {
    const ValueId operand = node().operands[number];
    scene.values.each_component(operand, components_of(graph_[operand].type),
                                body);
}

void Monoid::each_slot(Scene& scene, int field,
                       const std::function<void(Component)>& body) const {
    const std::int64_t count = length(field);
    if (count <= 1)
        return body({});
    scene.writer.loop("c", count, [&](const Code& c) { body({0, c}); });
}

std::unique_ptr<Monoid> make_monoid(const Registers& registers,
                                    const LoweredReduction& reduction) {
    const ir::Node& node = registers.graph[reduction.id];
    switch (ir::family_of(node)) {
    case ir::MonoidFamily::Plain:
        return make_plain(registers, reduction);
    case ir::MonoidFamily::Location:
        return make_arg(registers, reduction);
    case ir::MonoidFamily::Exponential:
        return make_exponential(registers, reduction);
    case ir::MonoidFamily::List:
        return make_k_minimum(registers, reduction);
    case ir::MonoidFamily::UserDefined:
        return make_fold(registers, reduction);
    }
    __builtin_unreachable();
}

Monoids::Monoids(const Registers& registers) {
    for (const LoweredReduction& reduction : registers.reductions) {
        in_order_.push_back(make_monoid(registers, reduction));
        by_id_[reduction.id] = in_order_.back().get();
    }
}

} // namespace tilefold::cuda
