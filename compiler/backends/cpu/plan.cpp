// compiler/backends/cpu/plan.cpp - see plan.h.

#include "compiler/backends/cpu/plan.h"

#include <numeric>

namespace tilefold {
namespace {

constexpr PlanKindRow kinds[] = {
#define PLAN_KIND(name, like, doc) {PlanKind::name, #name, PlanKind::like, doc},
#include "compiler/backends/cpu/plan_kinds.def"
#undef PLAN_KIND
};

} // namespace

std::int32_t row_multiple(const Plan& plan) {
    return std::lcm(row_chunk, plan.lanes * plan.row_vectors);
}

std::string_view spelling_of(Nest nest) {
    constexpr std::string_view spellings[] = {
#define NEST(name, spelling) spelling,
#include "compiler/backends/cpu/nests.def"
#undef NEST
    };
    return spellings[std::size_t(nest)];
}

std::span<const PlanKindRow> plan_kind_rows() {
    return kinds;
}

const PlanKindRow& row_of(PlanKind kind) {
    return kinds[std::size_t(kind)];
}

Parts parts_of(const Plan& plan) {
    return {plan.parts, plan.weight_parts};
}

} // namespace tilefold
