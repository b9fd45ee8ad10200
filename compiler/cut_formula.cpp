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

/// The value that a sweep leaves as a part.
ir::ValueId value_of(const Sweep& sweep, const SweepPart& part) {
    ir::ValueId value = sweep.graph.result;
    std::int64_t first = part.first;
    while (sweep.graph[value].op == ir::Op::Concat) {
        const auto& operands = sweep.graph[value].operands;
        const auto count = components_of(sweep.graph[operands[0]].type);
        value = operands[first < count ? 0 : 1];
        first -= first < count ? 0 : count;
    }
    return value;
}

/// Whether a part is how many pairs were met: its digits are no data's, and
/// float32 has those of what is divided by it.
bool is_count(const Sweep& sweep, const SweepPart& part) {
    const ir::Node& node = sweep.graph[value_of(sweep, part)];
    return node.op == ir::Op::Reduce &&
           sweep.graph[node.operands[0]].op == ir::Op::Constant;
}

/// Whether a float32 formula reduces what is not float32, so that digits may
/// depend on whether a mean is one of all pairs.
bool reduces_exact(const ir::Graph& graph) {
    return graph.real == DType::F32 &&
           std::ranges::any_of(graph.nodes, [&](const ir::Node& node) {
               return node.op == ir::Op::Reduce &&
                      graph[node.operands[0]].type.dtype != DType::F32;
           });
}

bool rounds_between(const Sweeps& cut, DType real) {
    if (real == DType::F64)
        return false;
    const auto is_rounded = [&](const Sweep& from, const SweepPart& part) {
        return part.type.dtype == DType::F64 && part.type.axes != Axes::None &&
               !is_count(from, part) &&
               std::ranges::any_of(cut.sweeps, [&](const Sweep& sweep) {
                   return reads(sweep, part.name);
               });
    };
    return std::ranges::any_of(cut.sweeps, [&](const Sweep& sweep) {
        return std::ranges::any_of(sweep.parts, [&](const SweepPart& part) {
            return is_rounded(sweep, part);
        });
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
    const ir::Graph& graph = found.derived.builder.graph();
    const auto is_wide_of_all = [&] {
        return cut_formula(formula, derivation, arguments, ir::Pairs::All)
                   .derived.builder.graph()
                   .real == DType::F64;
    };
    if (rounds_between(found.sweeps, graph.real) ||
        (pairs != ir::Pairs::All && reduces_exact(graph) && is_wide_of_all()))
        return made(DType::F64);
    return found;
}

} // namespace tilefold
