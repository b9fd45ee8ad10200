// compiler/backends/cuda/monoids/monoid.cpp - what all reductions share: their
// fields, loops over components, and the choice of family.

#include "compiler/backends/cuda/monoids/monoid.h"

namespace tilefold::cuda {

using ir::ValueId;

Monoid::Monoid(const ir::Graph& graph, ValueId reduce, Record& partial,
               Record& state)
    : graph_(graph), reduce_(reduce), fields_(state_of(graph, graph[reduce])),
      partial_record_(partial), state_record_(state),
      first_field_(state.fields().size()) {
    for (int field = 0; field < int(fields_.size()); ++field) {
        const StateField& of = fields_[std::size_t(field)];
        state.add(of.name, of.dtype == DType::I64 ? Kind::Long : Kind::Double,
                  length(field));
    }
}

void Monoid::identity(Scene& scene) {
    const int count = int(fields_.size());
    for (int first = 0, last = 0; first < count; first = last) {
        while (last < count && length(last) == length(first))
            ++last;
        each_slot(scene, first, [&](const Component& at) {
            for (int field = first; field < last; ++field) {
                const Code place = state(scene.state, field, at);
                scene.writer.set(
                    place,
                    number(place.kind(), fields_[std::size_t(field)].identity));
            }
        });
    }
}

Monoid::Slot Monoid::keep(std::string_view hint, Kind kind,
                          std::int64_t length) {
    return {partial_record_.add(hint, kind, length)};
}

Code Monoid::partial(const Scene& scene, Slot slot, const Component& at) const {
    return field_of(scene.partial, partial_record_.fields()[slot.place],
                    at.code());
}

Code Monoid::state(const Code& object, int field, const Component& at) const {
    return field_of(object, state_field(field), at.code());
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

std::unique_ptr<Monoid> make_monoid(const ir::Graph& graph, ValueId reduce,
                                    Record& partial, Record& state) {
    switch (ir::row_of(ir::Reduction(graph[reduce].first)).monoid) {
    case ir::Monoid::Add:
    case ir::Monoid::Multiply:
    case ir::Monoid::Maximum:
    case ir::Monoid::Minimum:
        return make_plain(graph, reduce, partial, state);
    case ir::Monoid::ArgMaximum:
    case ir::Monoid::ArgMinimum:
        return make_arg(graph, reduce, partial, state);
    case ir::Monoid::LogSumExp:
    case ir::Monoid::SoftMax:
        return make_exponential(graph, reduce, partial, state);
    case ir::Monoid::KMinimum:
        return make_k_minimum(graph, reduce, partial, state);
    case ir::Monoid::UserDefined:
        return make_fold(graph, reduce, partial, state);
    }
    __builtin_unreachable();
}

} // namespace tilefold::cuda
