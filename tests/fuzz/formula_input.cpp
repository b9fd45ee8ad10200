// tests/fuzz/formula_input.cpp - from text to the key, as the runtime goes.
#include "tests/fuzz/formula_input.h"

#include "compiler/backends/cpu/lower/explain.h"
#include "compiler/ir/text.h"
#include "compiler/ir/verify.h"
#include "compiler/language/vocabulary.h"
#include "formulas/parser.h"
#include "formulas/printer.h"
#include "runtime/bind/parsed_formula.h"
#include "tests/fuzz/mutate.h"
#include "tests/fuzz/seeds.h"

#include <iterator>
#include <mutex>
#include <sstream>

namespace tilefold::tests {
namespace {

DType some_dtype(Random& random) {
    constexpr DType all[] = {
#define DTYPE(name, spelling, bytes, kind) DType::name,
#include "compiler/ir/dtypes.def"
#undef DTYPE
    };
    return all[below(random, 3) ? below(random, 2)
                                : below(random, std::size(all))];
}

std::int32_t some_length(Random& random) {
    constexpr std::int32_t lengths[] = {
        1, 1,  2,  2,  3,  3,   3,    4,     5,       7,
        8, 16, 17, 64, 65, 300, 5000, 70000, 1 << 20, 2147483647};
    return lengths[below(random, std::size(lengths))];
}

/// Scalars, or vectors of `length`: most formulas have one of the two shapes.
void set_shape(Random& random, ArgumentType& type, int manner,
               std::int32_t length) {
    const bool odd = manner > 2 && below(random, 4) == 0;
    if (manner == 0 || (manner > 1 && !odd && below(random, 2)))
        return;
    type.rank = odd && below(random, 2) ? 2 : 1;
    type.rows = odd ? some_length(random) : length;
    if (type.rank == 2)
        type.columns = below(random, 2) ? length : some_length(random);
}

/// Returns an argument as the runtime reads an array: only parameters are
/// matrices, and what is declared is none, i or j.
ArgumentType some_argument(Random& random, const Name& name, int manner,
                           std::int32_t length) {
    constexpr Axes roles[] = {Axes::None, Axes::I, Axes::J};
    ArgumentType type;
    type.name = name.name;
    type.dtype = some_dtype(random);
    if (name.seed)
        type.declared = name.axes;
    else if (below(random, 16) == 0)
        type.declared = roles[below(random, 3)];
    set_shape(random, type, manner, length);
    if (type.rank == 2 && type.declared.value_or(name.axes) != Axes::None) {
        type.rank = 1;
        type.columns = 1;
    }
    return type;
}

std::vector<ArgumentType> types_for(const Input& input,
                                    const ParsedFormula& parsed) {
    Random random(input.types);
    const int manner = below(random, 6);
    const std::int32_t length = 1 + below(random, 4);
    std::vector<ArgumentType> types;
    for (const Name& name : parsed.names())
        if (!name.is_constant && below(random, 40))
            types.push_back(some_argument(random, name, manner, length));
    if (below(random, 40) == 0)
        types.push_back(
            some_argument(random, {"surplus", Axes::None, {}}, 5, 3));
    return types;
}

ast::Formula parse_input(const Input& input) {
    if (!input.keops)
        return parse(input.text, vocabulary());
    return parse_keops(input.text, keops_aliases(), input.reduction,
                       vocabulary())
        .formula;
}

/// What LLVM is sent reads back as what it was.
void check_request(const Program& program) {
    const CpuProgram planned = plan_for_cpu(program, {});
    const CompileRequest request = request_of(planned);
    const ir::Graph graph = ir::parse_ir(request.graph);
    ir::verify(graph);
    if (print(graph, ir::Names::Numbers) != request.graph ||
        print(parse_plan(request.plan)) != request.plan)
        internal_error("a request that does not read back");
    explain(planned);
    explain_plan(planned);
}

void compile_input(const Input& input, const ParsedFormula& parsed,
                   std::span<const ArgumentType> types) {
    const ast::Formula& formula = parsed.tree();
    const Derivation& derivation = parsed.derivation();
    if (!needs_sweeps(formula, derivation, types, input.mode)) {
        check_request(compile(formula, types, input.mode));
        explain(formula, types, input.mode);
        return;
    }
    const SweepPrograms programs =
        compile_sweeps(formula, derivation, types, input.mode);
    for (const SweepProgram& sweep : programs.sweeps) {
        check_request(sweep.program);
        explain(sweep.parts);
    }
}

/// `count` differentiations by names that the formula reads.
Derivation some_derivation(const ast::Formula& formula, int count,
                           Random& random) {
    using Kind = DerivationStep::Kind;
    const std::vector<FreeName> names = free_names(formula);
    Derivation steps;
    for (; count > 0 && !names.empty(); --count) {
        const int first = below(random, int(names.size()));
        DerivationStep step;
        step.kind = below(random, 3) ? Kind::Reverse : Kind::Forward;
        step.names = {names[std::size_t(first)].name};
        if (first > 0 && below(random, 2))
            step.names.push_back(names[std::size_t(first - 1)].name);
        step.keeps_values = below(random, 3) == 0;
        step.seed = "seed_" + std::to_string(count);
        steps.push_back(step);
    }
    return steps;
}

ParsedFormula parsed_of(const Input& input, std::mutex& mutex) {
    Random random(input.types);
    ast::Formula formula = parse_input(input);
    Derivation derivation = some_derivation(formula, input.steps, random);
    return {std::move(formula), std::move(derivation), mutex};
}

KeopsReduction some_reduction(Random& random) {
    constexpr const char* names[] = {
        "",     "Sum", "Max",    "LogSumExp",
        "KMin", "Min", "ArgMin", "Max_SumShiftExp"};
    KeopsReduction reduction;
    reduction.operation = names[below(random, std::size(names))];
    reduction.axes = below(random, 2) ? ast::Axes::J : ast::Axes::I;
    if (below(random, 4) == 0)
        reduction.weights = "b";
    if (below(random, 4) == 0)
        reduction.count = below(random, 5) - 1;
    return reduction;
}

} // namespace

Input random_input(Random& random) {
    Input input;
    input.keops = below(random, 8) == 0;
    input.text = random_text(random, input.keops);
    if (input.keops)
        input.reduction = some_reduction(random);
    constexpr Mode modes[] = {Mode::Reduce, Mode::Reduce, Mode::Chosen,
                              Mode::Values};
    input.mode = modes[below(random, 4)];
    if (input.mode != Mode::Values && below(random, 4) == 0)
        input.steps = 1 + below(random, 4) / 3;
    input.types = std::uint32_t(random());
    return input;
}

std::string describe(const Input& input) {
    std::ostringstream text;
    text << (input.keops ? "KeOps " : "") << "formula " << quoted(input.text)
         << (input.mode == Mode::Values   ? ", mode values"
             : input.mode == Mode::Chosen ? ", mode chosen"
                                          : "");
    if (input.keops)
        text << ", reduction '" << input.reduction.operation << "'";
    try {
        std::mutex mutex;
        const ParsedFormula parsed = parsed_of(input, mutex);
        for (const DerivationStep& step : parsed.derivation())
            for (const std::string& name : step.names)
                text << (step.kind == DerivationStep::Kind::Reverse
                             ? ", gradient by "
                             : ", moved along ")
                     << name;
        for (const ArgumentType& type : types_for(input, parsed))
            text << ", " << type.name << " " << spelling_of(type.dtype)
                 << " rank " << int(type.rank) << " " << type.rows << "x"
                 << type.columns << (type.declared ? " on {" : "")
                 << (type.declared ? spelling_of(*type.declared) : "")
                 << (type.declared ? "}" : "");
    } catch (const Error&) {
        text << ", refused before its arguments";
    }
    return text.str();
}

Reached run(const Input& input) {
    Reached reached = Reached::Refused;
    try {
        std::mutex mutex;
        const ParsedFormula parsed = parsed_of(input, mutex);
        print(parsed.tree());
        reached = Reached::Half;
        compile_input(input, parsed, types_for(input, parsed));
        reached = Reached::End;
    } catch (const Error& error) {
        if (error.family() == Family::Internal)
            throw;
    }
    return reached;
}

} // namespace tilefold::tests
