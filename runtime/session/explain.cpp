// runtime/session/explain.cpp - the stages of a formula up to the code of its
// kernels, for this machine or for a GPU.

#include "compiler/backends/cpu/lower/explain.h"
#include "runtime/bind/bind.h"
#include "runtime/bind/session_state.h"
#include "runtime/device/devices.h"
#include "runtime/session/session.h"

#include <functional>

namespace tilefold {
namespace {

/// What a target makes of a program: its graph as it is computed, with plans
/// where they are a stage of it, and the code.
struct ProgramStages {
    std::vector<ExplainSection> planned, code;
};
/// Returns the stages of a program whose open width is `width`.
using StagesOf =
    std::function<ProgramStages(const Program&, std::int64_t width)>;

std::int64_t width_of(const Program& program,
                      std::span<const std::int32_t> rows) {
    if (program.width_argument() < 0)
        return 1;
    return rows[std::size_t(
        program.argument_order()[std::size_t(program.width_argument())])];
}

/// Returns the rows of the arguments' types.
std::vector<std::int32_t> rows_of(const Compilable& what) {
    std::vector<std::int32_t> rows;
    for (const ArgumentType& type : what.types)
        rows.push_back(type.rows);
    return rows;
}

void append(std::vector<ExplainSection>& stages,
            std::vector<ExplainSection> more) {
    for (ExplainSection& stage : more)
        stages.push_back(std::move(stage));
}

std::vector<ExplainSection> stages_of_sweeps(const ParsedFormula& parsed,
                                             const Compilable& what,
                                             const Specialization& purpose,
                                             const StagesOf& stages_of) {
    std::vector<std::int32_t> rows = rows_of(what); ///< and of what is left
    std::vector<ExplainSection> stages;
    const SweepPrograms programs = compile_sweeps(
        parsed.tree(), parsed.derivation(), what.types, what.mode, purpose);
    for (std::size_t k = 0; k < programs.sweeps.size(); ++k) {
        const SweepProgram& sweep = programs.sweeps[k];
        ProgramStages made =
            stages_of(sweep.program, width_of(sweep.program, rows));
        made.planned.insert(made.planned.begin(), explain(sweep.parts));
        append(made.planned, std::move(made.code));
        for (ExplainSection& stage : made.planned) {
            stage.sweep = int(k) + 1;
            stage.sweeps = int(programs.sweeps.size());
        }
        append(stages, std::move(made.planned));
        for (const SweepPart& part : sweep.parts)
            rows.push_back(part.type.rows);
    }
    return stages;
}

std::vector<ExplainSection> all_stages(const ParsedFormula& parsed,
                                       const Compilable& what,
                                       const Specialization& purpose,
                                       const StagesOf& stages_of) {
    const ast::Formula& tree = parsed.tree();
    if (needs_sweeps(tree, parsed.derivation(), what.types, what.mode))
        return stages_of_sweeps(parsed, what, purpose, stages_of);
    std::vector<ExplainSection> stages = explain(tree, what.types, what.mode);
    const Program program = compile(tree, what.types, what.mode, purpose);
    ProgramStages made = stages_of(program, width_of(program, rows_of(what)));
    append(stages, std::move(made.planned));
    append(stages, std::move(made.code));
    return stages;
}

} // namespace

std::vector<ExplainSection>
Formula::explain(std::span<const NamedView> arguments,
                 const BindOptions& options) const {
    detail::SessionState& session = *state_->session;
    ForkGate::Pass inside(session.making);
    const Asker asker{state_->session, session.making, options.goes_on};
    const Compilable what = compilable(*state_, arguments, options);
    const CpuOptions how = state_->settings->cpu_options();
    return all_stages(
        *state_->parsed, what, what.purpose,
        [&](const Program& program, std::int64_t) {
            const CpuProgram planned = plan_for_cpu(program, how);
            ProgramStages stages{tilefold::explain(planned), {}};
            append(stages.planned, explain_plan(planned));
            const CompileRequest request = request_of(planned);
            KernelProvider& provider = session.provider;
            stages.code = {
                {"LLVM IR", provider.explain(request, "llvm", asker)},
                {"assembly", provider.explain(request, "asm", asker)}};
            return stages;
        });
}

std::vector<ExplainSection>
Formula::explain_for_gpu(std::span<const NamedView> arguments,
                         std::string_view architecture,
                         const BindOptions& options) const {
    detail::SessionState& session = *state_->session;
    ForkGate::Pass inside(session.making);
    DeviceBackend& backend = session.devices.of_architecture(architecture);
    const double tolerance = *state_->settings->options.tolerance;
    return all_stages(*state_->parsed, compilable(*state_, arguments, options),
                      {}, [&](const Program& program, std::int64_t width) {
                          return ProgramStages{tilefold::explain(program),
                                               backend.explain(program, width,
                                                               tolerance,
                                                               architecture)};
                      });
}

} // namespace tilefold
