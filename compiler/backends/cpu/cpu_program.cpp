// compiler/backends/cpu/cpu_program.cpp - from a program to a plan and the key
// of its image.

#include "compiler/backends/cpu/cpu_program.h"

#include "compiler/backends/cpu/choose_plan.h"
#include "compiler/ir/queries.h"
#include "compiler/ir/text.h"
#include "compiler/ir/verify.h"
#include "compiler/passes/passes.h"
#include "formulas/diagnostic.h"

#include <algorithm>

namespace tilefold {
namespace {

using ir::Graph;

/// Differences cost nothing where sums have ports of their own and those of
/// products are the limit: of 64 components a Zen 4 makes 1.51 G pairs/s, by
/// inner products 1.47; a Zen 5 3.36 and 3.22.
bool expansion_pays(Isa isa) {
    return row_of(isa).ports == Ports::Shared;
}

/// Returns the program with products of differences as differences of
/// products, and squared distances as inner products, where that is allowed and
/// faster.
Program with_distances(Program program, const CpuOptions& options) {
    const bool expands = options.tolerance >= ir::expansion_error &&
                         program.graph().real == DType::F32 &&
                         ir::reduces(program.graph());
    if (!expands)
        return program;
    Graph graph = ir::expand_differences(program.graph());
    if (expansion_pays(options.isa))
        graph = ir::expand_distances(graph);
    graph = simplify(graph);
    ir::verify_if_debug(graph);
    return with_graph(std::move(program), std::move(graph));
}

/// Returns the program with roots as the instruction set has them.
Program with_roots(Program program, Isa isa) {
    if (row_of(isa).masks)
        return program;
    Graph graph = ir::divide_by_roots(program.graph());
    ir::verify_if_debug(graph);
    return with_graph(std::move(program), std::move(graph));
}

Plan chosen_plan(const Program& program, const CpuOptions& options) {
    const Graph& graph = program.graph();
    const bool reduces = ir::reduces(graph);
    const Sizes sizes{program.most_rows, program.most_columns,
                      options.tolerance};
    const bool is_for_rows =
        reduces && sizes.most_columns > 0 && fits_single_panel(graph);
    return choose_plan(graph,
                       is_for_rows ? Nest::SinglePanel
                       : reduces   ? Nest::Reduce
                                   : Nest::Values,
                       options.isa, sizes);
}

void check_forced(const Plan& plan, const Graph& graph) {
    const auto size = std::int32_t(size_of(graph.real));
    const std::int32_t lanes = row_of(plan.isa).vector_bytes / size;
    if (plan.lanes != lanes)
        fail(Code::BadPlan,
             {"lanes", std::to_string(lanes) + " expected: a vector of " +
                           std::string(spelling_of(graph.real))});
    const bool reduces = ir::reduces(graph);
    const bool fits_rows = reduces && fits_single_panel(graph, plan.unroll);
    if ((plan.nest == Nest::Values) == reduces ||
        (plan.nest == Nest::SinglePanel && !fits_rows))
        fail(Code::BadPlan, {"nest", "not the one that the formula needs"});
}

/// Returns the key, which argument names and the values of literals do not
/// enter.
Key key_of(const Graph& graph, const Plan& plan) {
    return tilefold::key_of(print(graph, ir::Names::Numbers), print(plan),
                            {TILEFOLD_LLVM_VERSION});
}

} // namespace

CpuProgram plan_for_cpu(Program program, const CpuOptions& options) {
    program = with_roots(std::move(program), options.isa);
    program = with_distances(std::move(program), options);
    if (program.as_written) {
        Graph graph = program.graph();
        graph.is_watched = true;
        program.replace(std::move(graph));
    }
    CpuProgram planned{std::move(program), {}, {}};
    if (options.plan)
        check_forced(*options.plan, planned.graph());
    planned.plan = options.plan ? *options.plan : chosen_plan(planned, options);
    planned.key = key_of(planned.graph(), planned.plan);
    return planned;
}

CpuProgram with_plan(const CpuProgram& program, const Plan& plan) {
    CpuProgram other = program;
    other.plan = plan;
    other.key = key_of(other.graph(), plan);
    return other;
}

CompileRequest request_of(const CpuProgram& program) {
    return {print(program.graph(), ir::Names::Numbers), print(program.plan)};
}

} // namespace tilefold
