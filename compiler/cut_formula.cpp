// compiler/cut_formula.cpp - see cut_formula.h.
#include "compiler/cut_formula.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace tilefold {
namespace {

bool reads(const Sweep& sweep, const std::string& name) {
    return std::ranges::any_of(
        sweep.graph.arguments,
        [&](const ir::Argument& argument) { return argument.name == name; });
}

bool rounds_between(const Sweeps& cut, DType real) {
    if (real == DType::F64)
        return false;
    const auto is_read = [&](const SweepPart& part) {
        return part.type.dtype == DType::F64 && part.type.axes != Axes::None &&
               std::ranges::any_of(cut.sweeps, [&](const Sweep& sweep) {
                   return reads(sweep, part.name);
               });
    };
    return std::ranges::any_of(cut.sweeps, [&](const Sweep& sweep) {
        return std::ranges::any_of(sweep.parts, is_read);
    });
}

} // namespace

CutFormula cut_formula(const ast::Formula& formula,
                       const Derivation& derivation,
                       std::span<const ArgumentType> arguments,
                       ir::Pairs pairs) {
    const auto made = [&](std::optional<DType> real) {
        DerivedGraph derived =
            build_derived(formula, arguments, derivation, pairs, real);
        Sweeps sweeps = cut(derived.builder, derived.results);
        return CutFormula{std::move(derived), std::move(sweeps)};
    };
    CutFormula found = made({});
    if (rounds_between(found.sweeps, found.derived.builder.graph().real))
        return made(DType::F64);
    return found;
}

} // namespace tilefold
