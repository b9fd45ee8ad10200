// runtime/session/result_types.cpp - see result_types.h.
#include "runtime/session/result_types.h"

#include "compiler/build/part.h"
#include "runtime/bind/bind.h"
#include "runtime/bind/session_state.h"
#include "runtime/session/inspect.h"

#include <utility>

namespace tilefold {
namespace {

/// Returns the result of a formula that is one kernel. The width of a linear
/// factor is left open until a call says it.
ResultType type_of(const Program& program,
                   std::span<const ArgumentType> arguments) {
    const Result& result = program.result;
    ResultType type{"", result.axes, -1, result.dtype};
    if (result.rank == 0)
        return type;
    type.components = result.rows;
    if (result.rows == dynamic)
        type.components =
            arguments[std::size_t(program.argument_order()[std::size_t(
                          program.width_argument())])]
                .rows;
    return type;
}

std::vector<ResultType> types_of(const SweepPrograms& programs) {
    std::vector<ResultType> types;
    for (std::size_t r = 0; r < programs.types.size(); ++r) {
        const std::string& label = programs.labels[r];
        const Type& type = programs.types[r];
        if (is_imaginary(label))
            types.back().is_complex = true;
        else
            types.push_back({parse_part(label).name, type.axes,
                             type.rank == 0 ? -1 : type.rows, type.dtype});
    }
    return types;
}

} // namespace

std::vector<ResultType> result_types(const Formula& formula,
                                     std::span<const NamedView> arguments,
                                     bool chosen) {
    const detail::FormulaState& state = Inspection::of(formula);
    const ParsedFormula& parsed = *state.parsed;
    const auto [types, all, purpose] = compilable(state, arguments, {});
    const Mode mode = chosen ? Mode::Chosen : all;
    if (needs_sweeps(parsed.tree(), parsed.derivation(), types, mode))
        return types_of(compile_sweeps(parsed.tree(), parsed.derivation(),
                                       types, mode, purpose));
    return {type_of(compile(parsed.tree(), types, mode, purpose), types)};
}

} // namespace tilefold
