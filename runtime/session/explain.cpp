// runtime/session/explain.cpp - the stages of a formula up to the code of its
// kernels, for this machine or for a GPU.

#include "compiler/backends/cpu/choose_plan.h"
#include "runtime/bind/bind.h"
#include "runtime/bind/session_state.h"
#include "runtime/device/devices.h"
#include "runtime/session/session.h"

#include <functional>

namespace tilefold {
namespace {

/// The code of a program, whose open width is `width`.
using CodeOf = std::function<std::vector<ExplainSection>(const Program&,
                                                         std::int64_t width)>;

std::int64_t width_of(const Program& program,
                      std::span<const std::int32_t> rows) {
    if (program.width_argument < 0)
        return 1;
    return rows[std::size_t(
        program.argument_order[std::size_t(program.width_argument)])];
}

void append(std::vector<ExplainSection>& stages,
            std::vector<ExplainSection> more) {
    for (ExplainSection& stage : more)
        stages.push_back(std::move(stage));
}

std::vector<ExplainSection> stages_of(const ParsedFormula& parsed,
                                      const Compilable& what,
                                      const CompileOptions& how,
                                      const CodeOf& code) {
    std::vector<std::int32_t> rows; ///< of arguments, and of what is left
    for (const ArgumentType& type : what.types)
        rows.push_back(type.rows);
    if (!needs_sweeps(parsed.tree(), parsed.derivation(), what.types,
                      what.mode)) {
        std::vector<ExplainSection> stages =
            explain(parsed.tree(), what.types, what.mode, how);
        const Program program =
            compile(parsed.tree(), what.types, what.mode, how);
        append(stages, code(program, width_of(program, rows)));
        return stages;
    }
    std::vector<ExplainSection> stages;
    const SweepPrograms programs = compile_sweeps(
        parsed.tree(), parsed.derivation(), what.types, what.mode, how);
    for (std::size_t k = 0; k < programs.sweeps.size(); ++k) {
        const SweepProgram& sweep = programs.sweeps[k];
        const std::string of = "sweep " + std::to_string(k + 1) + " of " +
                               std::to_string(programs.sweeps.size());
        for (ExplainSection& stage : explain(sweep))
            stages.push_back({of + ": " + stage.name, std::move(stage.text),
                              stage.is_of_processor});
        append(stages, code(sweep.program, width_of(sweep.program, rows)));
        for (const SweepPart& part : sweep.parts)
            rows.push_back(part.type.rows);
    }
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
    CompileOptions how = state_->settings->compile_options();
    how.purpose = what.purpose;
    return stages_of(
        *state_->parsed, what, how, [&](const Program& program, std::int64_t) {
            const CompileRequest request = request_of(program);
            KernelProvider& provider = session.provider;
            return std::vector<ExplainSection>{
                {"LLVM IR", provider.explain(request, "llvm", asker)},
                {"assembly", provider.explain(request, "asm", asker)}};
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
    std::vector<ExplainSection> stages = stages_of(
        *state_->parsed, compilable(*state_, arguments, options),
        state_->settings->device_compile_options(),
        [&](const Program& program, std::int64_t width) {
            return backend.explain(program, width, tolerance, architecture);
        });
    std::erase_if(stages, &ExplainSection::is_of_processor);
    return stages;
}

} // namespace tilefold
