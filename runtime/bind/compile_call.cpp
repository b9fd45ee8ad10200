// runtime/bind/compile_call.cpp - what sizes are worth, and from types to
// kernels.

#include "runtime/bind/compile_call.h"

#include "runtime/bind/bind_job.h"
#include "runtime/bind/exponent_kernels.h"
#include "runtime/bind/indices.h"
#include "runtime/bind/tune.h"
#include "runtime/core/limits.h"
#include "runtime/cpu/math_library.h"

#include <algorithm>
#include <utility>

namespace tilefold {
namespace {

using detail::FormulaState;

/// The program's open width in a call. `left`: widths of what earlier kernels
/// leave behind, which are arguments too.
std::int64_t width_for(const Program& program, const CallShape& call,
                       std::span<const std::int32_t> left) {
    if (program.width_argument() < 0)
        return 1;
    const auto place = std::size_t(
        program.argument_order()[std::size_t(program.width_argument())]);
    const std::size_t given = call.readings.size();
    return place < given ? call.readings[place].rows : left[place - given];
}

/// What a call has, for the tuner.
CallSizes sizes_for(const Program& program, const CallShape& call,
                    std::int64_t width) {
    CallSizes sizes{std::max<std::int64_t>(call.lengths.i, 1),
                    std::max<std::int64_t>(call.lengths.j, 1), width};
    if (program.swapped)
        std::swap(sizes.rows, sizes.columns);
    if (program.single_column)
        sizes.columns = 1;
    if (program.single_row)
        sizes.rows = 1;
    return sizes;
}

/// The program's kernels in the devices of the call, which check indices by
/// themselves.
void load_on_devices(Executable& executable, const FormulaState& formula,
                     const CallShape& call, std::int64_t width) {
    for (const Location& device : call.devices)
        executable.device_kernels.push_back(
            formula.session->devices.of(device).kernel(
                device.number, executable.program, width,
                *formula.settings->options.tolerance, formula.parsed->text()));
}

/// The host's kernel, by the plan that is best for the call.
void load_on_host(Executable& executable, const FormulaState& formula,
                  const CallShape& call, std::int64_t width,
                  const GoesOn& goes_on) {
    detail::SessionState& session = *formula.session;
    const std::string& text = formula.parsed->text();
    const Asker asker{formula.session, session.making, goes_on};
    CpuProgram planned = plan_for_cpu(std::move(executable.program),
                                      formula.settings->cpu_options());
    if (call.tuned)
        planned = tuned(session, planned, sizes_for(planned, call, width), text,
                        asker);
    executable.kernel = session.provider.kernel(planned, text, asker);
    executable.plan = planned.plan;
    executable.key = planned.key;
    executable.program = std::move(planned);
    executable.indices = tables_indexed(executable.program);
    executable.functions = functions_for(executable.kernel->artifact.layout);
    const Options& settings = formula.settings->options;
    if (!settings.plan && !settings.segment)
        executable.exponents =
            exponent_kernels(executable.program, session.of_formulas());
}

void load(Executable& executable, const FormulaState& formula, Program program,
          const CallShape& call, const GoesOn& goes_on,
          std::span<const std::int32_t> left = {}) {
    if (*formula.session->options.untrusted)
        limits::require("the graph of the formula",
                        std::int64_t(program.graph().nodes.size()),
                        limits::nodes, " nodes");
    const std::int64_t width = width_for(program, call, left);
    executable.program = std::move(program);
    if (call.devices.empty())
        load_on_host(executable, formula, call, width, goes_on);
    else
        load_on_devices(executable, formula, call, width);
}

std::shared_ptr<const ExecutableSweeps>
compile_call_of_sweeps(const FormulaState& formula,
                       std::span<const ArgumentType> types,
                       const CallShape& call, const GoesOn& goes_on) {
    auto sweeps = std::make_shared<ExecutableSweeps>();
    SweepPrograms programs =
        compile_sweeps(formula.parsed->tree(), formula.parsed->derivation(),
                       types, call.mode, of_sweeps(call.purpose));
    std::vector<std::int32_t> left;
    for (SweepProgram& one : programs.sweeps) {
        auto executable = std::make_shared<Executable>();
        load(*executable, formula, std::move(one.program), call, goes_on, left);
        for (const SweepPart& part : one.parts)
            left.push_back(part.type.rows);
        sweeps->kernels.push_back(std::move(executable));
        sweeps->parts.push_back(std::move(one.parts));
    }
    sweeps->results = std::move(programs.results);
    sweeps->labels = std::move(programs.labels);
    sweeps->types = std::move(programs.types);
    return sweeps;
}

double pairs_of(const BoundArguments& readings, const Lengths& lengths) {
    double pairs = double(lengths.i) * double(lengths.j);
    for (std::int64_t extent : batch_shape(readings))
        pairs *= double(extent);
    return pairs;
}

/// An axis of so few points, and another of so many, that a kernel with lanes
/// over the many pays although it reads them again for each of the few: of one
/// point it takes half the time or less, of 1 to 64 components; of two, less
/// only where vectors are short.
constexpr std::int32_t few = 2;
Axes few_of(const BoundArguments& readings, const Lengths& lengths) {
    constexpr std::int64_t many_for_one = 1 << 12, many_for_few = 1 << 17;
    constexpr std::int32_t short_vector = 8;
    const auto are_short = [&] {
        return std::ranges::all_of(readings, [](const BoundArgument& reading) {
            return reading.axes == Axes::None || reading.rows <= short_vector;
        });
    };
    const auto is_few = [&](std::int64_t these, std::int64_t others) {
        return (these == 1 && others >= many_for_one) ||
               (these == few && others >= many_for_few && are_short());
    };
    if (is_few(lengths.i, lengths.j))
        return Axes::I;
    return is_few(lengths.j, lengths.i) ? Axes::J : Axes::None;
}

bool has_one_component(const BoundArguments& readings) {
    return std::ranges::any_of(readings, [](const BoundArgument& reading) {
        return reading.axes != Axes::None && reading.rank == 1 &&
               reading.rows == 1;
    });
}

/// All vectors on an axis are arrays like those of C.
bool are_contiguous(const BoundArguments& readings) {
    bool any = false;
    for (const BoundArgument& reading : readings) {
        if (reading.axes == Axes::None)
            continue;
        const tilefold_kernel_operand& operand = reading.operand;
        const bool adjoins = reading.rank == 1 &&
                             operand.stride == reading.rows * operand.component;
        if (!adjoins)
            return false;
        any = true;
    }
    return any;
}

Specialization few_points(const BoundArguments& readings,
                          const Lengths& lengths, double pairs) {
    Specialization purpose;
    purpose.axis = few_of(readings, lengths);
    if (pairs < pairs_worth_a_kernel && purpose.axis == Axes::None)
        return purpose;
    const auto most = [&](Axes axis, std::int64_t points) {
        if (purpose.axis == axis)
            return few;
        return points <= 16 ? 16 : points <= 32 ? 32 : 0;
    };
    purpose.most_i = most(Axes::I, lengths.i);
    purpose.most_j = most(Axes::J, lengths.j);
    return purpose;
}

} // namespace

CallShape shape_of(const BoundArguments& readings, const Lengths& lengths,
                   std::span<const Location> devices, Mode mode,
                   const BindOptions& options, const Options& settings) {
    CallShape call{readings, lengths, mode, {}, false, devices};
    if (settings.segment && devices.empty()) { // nothing depends on sizes
        call.purpose.one_component = has_one_component(readings);
        return call;
    }
    const bool flattens = mode == Mode::Reduce && !options.i && !options.j &&
                          options.sum_batch.empty();
    if (flattens && !devices.empty())
        call.purpose.contiguous = are_contiguous(readings);
    if (mode == Mode::Values || !devices.empty())
        return call;
    const double pairs = pairs_of(readings, lengths);
    call.tuned = settings.tune.value_or(false) && !settings.plan &&
                 pairs >= pairs_worth_tuning;
    if (flattens) {
        call.purpose = few_points(readings, lengths, pairs);
        call.purpose.contiguous = are_contiguous(readings);
    }
    // A loop over components would take as long to compile as the rest.
    call.purpose.one_component = has_one_component(readings);
    return call;
}

Specialization of_sweeps(const Specialization& purpose) {
    Specialization of_all;
    of_all.one_component = purpose.one_component;
    return of_all;
}

std::shared_ptr<Executable> compile_call(const FormulaState& formula,
                                         std::span<const ArgumentType> types,
                                         const CallShape& call,
                                         const GoesOn& goes_on) {
    ForkGate::Pass inside(formula.session->making);
    const ParsedFormula& parsed = *formula.parsed;
    auto executable = std::make_shared<Executable>();
    if (needs_sweeps(parsed.tree(), parsed.derivation(), types, call.mode)) {
        executable->sweeps =
            compile_call_of_sweeps(formula, types, call, goes_on);
        return executable;
    }
    load(*executable, formula,
         compile(parsed.tree(), types, call.mode, call.purpose), call, goes_on);
    return executable;
}

} // namespace tilefold
