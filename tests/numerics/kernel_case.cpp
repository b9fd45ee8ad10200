// tests/numerics/kernel_case.cpp - running one kernel image by hand.

#include "tests/numerics/kernel_case.h"

#include "compiler/backends/cpu/choose_plan.h"
#include "compiler/backends/llvm/factory.h"
#include "compiler/backends/reference/interpreter.h"
#include "compiler/language/vocabulary.h"
#include "formulas/parser.h"
#include "runtime/core/element.h"
#include "runtime/cpu/isa.h"
#include "runtime/cpu/math_library.h"
#include "tests/numerics/emulator.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <random>
#include <stdexcept>
#include <tuple>

#include <sys/mman.h>

extern "C" const tilefold_llvm_backend* tilefold_llvm_get_backend(void);

namespace tilefold::test {
namespace {

/// Kernels for another architecture run in a program of their own.
bool is_emulated(Isa isa) {
    return isa == Isa::AArch64 && !cpu::runs(isa);
}

/// An artifact's code, mapped to run.
class Code {
public:
    explicit Code(const std::vector<std::byte>& bytes) : size_(bytes.size()) {
        pages_ = mmap(nullptr, size_, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        std::memcpy(pages_, bytes.data(), size_);
        mprotect(pages_, size_, PROT_READ | PROT_EXEC);
    }
    ~Code() { munmap(pages_, size_); }
    Code(const Code&) = delete;
    Code& operator=(const Code&) = delete;

    template <class Function> Function* entry(std::uint64_t offset) const {
        return reinterpret_cast<Function*>(static_cast<char*>(pages_) + offset);
    }

private:
    void* pages_;
    std::size_t size_;
};

std::vector<ArgumentType> types_of(const TestFormula& formula) {
    std::vector<ArgumentType> types;
    for (const TestArgument& a : formula.arguments)
        types.push_back(
            {a.name, std::nullopt, a.dtype, a.rank, a.rows, a.columns});
    return types;
}

/// What no processor has planned yet: the interpreter evaluates this, so that
/// passes of a processor are tested, too.
Program program_of(const TestFormula& formula) {
    const std::vector<ArgumentType> types = types_of(formula);
    return compile(parse(formula.text, vocabulary()), types, formula.mode);
}

CpuProgram program_of(const TestFormula& formula, Isa isa, const Plan* plan) {
    CpuOptions options;
    options.isa = isa;
    if (plan)
        options.plan = *plan;
    return plan_for_cpu(program_of(formula), options);
}

/// Artifacts by key: sizes and cuts share one compilation.
const Artifact& artifact_of(const CpuProgram& program) {
    static std::map<std::string, Artifact> made;
    const auto [place, is_new] = made.try_emplace(program.key.hex());
    if (!is_new)
        return place->second;
    const CompileRequest request = request_of(program);
    tilefold_bytes bytes{};
    const auto* backend = tilefold_llvm_get_backend();
    const bool failed =
        backend->compile(request.graph.data(), request.graph.size(),
                         request.plan.data(), request.plan.size(), {}, &bytes);
    const std::string text(bytes.data, bytes.size);
    if (failed || !deserialise(reinterpret_cast<std::byte*>(bytes.data),
                               bytes.size, place->second))
        throw std::runtime_error(text);
    backend->release(bytes);
    return place->second;
}

/// One argument's values in guarded memory, points first.
struct Filled {
    std::unique_ptr<Guarded> memory;
    tilefold_kernel_operand operand{};
    std::vector<double> values;
};

Filled fill(const TestArgument& a, std::int64_t points, Flush flush,
            std::mt19937& random) {
    const bool real = kind_of(a.dtype) == DTypeKind::Float;
    std::uniform_real_distribution<double> uniform(0.1, 1);
    auto [least, most] = std::pair(0, a.dtype == DType::Bool ? 1 : 5);
    // Vectors of bytes are products' factors: all that they may be.
    if (a.rows > 1 && a.dtype == DType::I8)
        std::tie(least, most) = std::pair(-128, 127);
    if (a.rows > 1 && a.dtype == DType::U8)
        std::tie(least, most) = std::pair(0, 255);
    std::uniform_int_distribution<int> integers(least, most);
    const std::int64_t components = std::int64_t(a.rows) * a.columns;
    const std::size_t size = size_of(a.dtype);
    Filled filled;
    filled.memory = std::make_unique<Guarded>(
        std::size_t(points * components) * size, flush);
    for (std::int64_t k = 0; k < points * components; ++k) {
        const double value = real ? uniform(random) : integers(random);
        char* place = filled.memory->data() + std::size_t(k) * size;
        store_element(value, a.dtype, place);
        filled.values.push_back(real ? element_at(place, a.dtype) : value);
    }
    const auto step = std::int64_t(size);
    filled.operand = {filled.memory->data(), components * step,
                      a.columns * step, step};
    return filled;
}

/// Everything of one run.
struct Run {
    const CpuProgram& program;
    const Artifact& artifact;
    Code code;
    std::int64_t rows = 0, columns = 0, width = 1;
    Flush flush = Flush::Front;
    unsigned char poison = 0xff;
    std::vector<tilefold_kernel_operand> operands = {};
    std::vector<double> constants = {};
    std::unique_ptr<Guarded> out = nullptr, scratch = nullptr;
    std::int64_t tiles[2] = {0, 0}, left_range = 0;
    tilefold_kernel_call call{};

    std::int64_t components() const {
        return program.result.rows == dynamic ? width : program.result.rows;
    }
    std::int64_t stride() const {
        const std::int64_t multiple = artifact.layout.row_multiple;
        const std::int64_t most = std::max<std::int64_t>(
            1, std::min(rows, artifact.layout.row_block));
        return (most + multiple - 1) / multiple * multiple;
    }
    std::size_t state_bytes() const {
        const Layout& layout = artifact.layout;
        return std::size_t((layout.slots + layout.slots_per_width * width) *
                           stride()) *
               8;
    }

    void reduce(Cut cut);
    void fold(double* state, std::int64_t left);
    void accumulate(std::int64_t i0, std::int64_t i1, std::int64_t j0,
                    std::int64_t j1, Cut cut, char* state);
    void reduce_rows();
    void values();
    void emulate(Cut cut, const std::vector<Filled>& filled);
    /// Columns of one of `count` segments, in whole panels.
    std::int64_t segment(std::int64_t count) const {
        const std::int64_t panel = artifact.layout.panel;
        const std::int64_t panels = (columns + panel - 1) / panel;
        return std::max<std::int64_t>(1, (panels + count - 1) / count) * panel;
    }
};

void Run::accumulate(std::int64_t i0, std::int64_t i1, std::int64_t j0,
                     std::int64_t j1, Cut cut, char* state) {
    auto* accumulate =
        code.entry<tilefold_kernel_accumulate>(artifact.entries.accumulate);
    const std::int64_t step = artifact.layout.panel * cut.panels_a_call;
    for (std::int64_t j = j0; j < j1; j += step)
        accumulate(&call, i0, i1, j, std::min(j1, j + step),
                   reinterpret_cast<double*>(state), stride(), scratch->data());
}

void Run::fold(double* state, std::int64_t left) {
    if (artifact.entries.fold != Entries::absent)
        return code.entry<tilefold_kernel_fold>(artifact.entries.fold)(
            &call, state, stride(), left);
    auto* merge = code.entry<tilefold_kernel_merge>(artifact.entries.merge);
    while (left > 1) {
        const std::int64_t half = (left + 1) / 2;
        merge(&call, state, state + half, stride(), left - half);
        left = half;
    }
}

void Run::reduce(Cut cut) {
    const auto state_of = [](const Guarded& memory) {
        return reinterpret_cast<double*>(memory.data());
    };
    auto* init = code.entry<tilefold_kernel_init>(artifact.entries.init);
    auto* merge = code.entry<tilefold_kernel_merge>(artifact.entries.merge);
    auto* finalise =
        code.entry<tilefold_kernel_finalise>(artifact.entries.finalise);
    const std::int64_t segment = this->segment(cut.segments);
    Guarded whole(state_bytes(), flush, 64, poison);
    Guarded folded(state_bytes(), flush, 64,
                   poison); // rows of all blocks as one
    init(&call, state_of(folded), stride());
    for (std::int64_t i0 = 0; i0 < std::max<std::int64_t>(rows, 1);
         i0 += artifact.layout.row_block) {
        const std::int64_t i1 = std::min(rows, i0 + artifact.layout.row_block);
        init(&call, state_of(whole), stride());
        for (std::int64_t j = 0; j < columns; j += segment) {
            Guarded part(state_bytes(), flush, 64, poison);
            init(&call, state_of(part), stride());
            accumulate(i0, i1, j, std::min(columns, j + segment), cut,
                       part.data());
            merge(&call, state_of(whole), state_of(part), stride(), i1 - i0);
        }
        if (program.folds_rows) {
            fold(state_of(whole), i1 - i0);
            merge(&call, state_of(folded), state_of(whole), stride(), 1);
        } else {
            finalise(&call, i0, i1, state_of(whole), stride(), scratch->data());
        }
    }
    if (program.folds_rows)
        finalise(&call, 0, 1, state_of(folded), stride(), scratch->data());
}

void Run::reduce_rows() {
    const auto entry =
        code.entry<tilefold_kernel_reduce>(artifact.entries.reduce);
    const std::int64_t block = artifact.layout.row_block;
    for (std::int64_t i = 0; i < rows; i += block)
        entry(&call, i, std::min(rows, i + block), scratch->data());
}

void Run::values() {
    if (program.result.axes == Axes::IJ) {
        call.out_column = call.out_row;
        call.out_row *= columns;
        code.entry<tilefold_kernel_dense>(artifact.entries.dense)(
            &call, 0, rows, 0, columns, scratch->data());
        return;
    }
    code.entry<tilefold_kernel_zip>(artifact.entries.zip)(&call, 0, rows,
                                                          scratch->data());
}

/// The same on another processor.
void Run::emulate(Cut cut, const std::vector<Filled>& filled) {
    const Layout& layout = artifact.layout;
    const Entries& entries = artifact.entries;
    const bool reduces = program.plan.nest == Nest::Reduce;
    const bool is_dense = !reduces && program.result.axes == Axes::IJ;
    EmulatedRun run{};
    run.prepare = entries.prepare;
    run.init = entries.init;
    run.accumulate = entries.accumulate;
    run.merge = entries.merge;
    run.fold = entries.fold;
    run.finalise = entries.finalise;
    run.zip = entries.zip;
    run.dense = entries.dense;
    run.work = reduces    ? EmulatedWork::Reduce
               : is_dense ? EmulatedWork::Dense
                          : EmulatedWork::Pairwise;
    run.rows = rows;
    run.columns = columns;
    run.width = width;
    run.slots = layout.slots + layout.slots_per_width * width;
    run.stride = stride();
    run.row_block = layout.row_block;
    run.constants = layout.constants;
    run.scratch = std::int64_t(scratch->size());
    run.is_single = layout.real == DType::F32;
    run.folds_rows = program.folds_rows;
    run.segment = segment(cut.segments);
    run.call_columns = layout.panel * cut.panels_a_call;
    run.out = std::int64_t(out->size());
    run.out_row = is_dense ? call.out_row * columns : call.out_row;
    run.out_column = is_dense ? call.out_row : 0;
    run.out_component = call.out_component;
    run.flush_back = flush == Flush::Back;
    EmulatedBytes bytes;
    bytes.code.assign(reinterpret_cast<const char*>(artifact.code.data()),
                      artifact.code.size());
    const std::vector<double>& literals = program.graph().literals;
    bytes.literals.assign(reinterpret_cast<const char*>(literals.data()),
                          literals.size() * sizeof(double));
    for (const std::int32_t place : program.argument_order()) {
        const Filled& argument = filled[std::size_t(place)];
        const Guarded& memory = *argument.memory;
        const tilefold_kernel_operand& operand = argument.operand;
        bytes.operands.push_back({std::int64_t(memory.size()), operand.stride,
                                  operand.component, operand.column});
        bytes.arrays.append(memory.data(), memory.size());
    }
    test::emulate(run, bytes, out->data());
}

/// The interpreter's results in the order of `out`.
std::vector<double> expected(const Program& program, const Run& run,
                             const std::vector<Filled>& filled,
                             const TestFormula& formula) {
    const auto read = [&](std::size_t number, std::int64_t point,
                          std::int32_t row, std::int32_t column) {
        const auto at = std::size_t(program.argument_order()[number]);
        const TestArgument& a = formula.arguments[at];
        return filled[at]
            .values[std::size_t((point * a.rows + row) * a.columns + column)];
    };
    std::vector<std::int64_t> points, columns_at;
    const bool pairs = program.result.axes == Axes::IJ;
    const std::int64_t kept = program.result.axes == Axes::None ? 1 : run.rows;
    for (std::int64_t i = 0; i < kept; ++i)
        for (std::int64_t j = 0; j < (pairs ? run.columns : 1); ++j) {
            points.push_back(i);
            if (pairs)
                columns_at.push_back(j);
        }
    return reference::evaluate(program.graph(),
                               {run.rows, run.columns, std::int32_t(run.width)},
                               read, points, columns_at);
}

double largest_error(const Run& run, const std::vector<double>& wanted) {
    double largest = 0, size = 0;
    const DType dtype = run.program.result.dtype;
    for (std::size_t k = 0; k < wanted.size(); ++k) {
        const double got =
            element_at(run.out->data() + k * size_of(dtype), dtype);
        if (got == wanted[k] || (std::isnan(got) && std::isnan(wanted[k])))
            continue;
        const double error = std::fabs(got - wanted[k]);
        largest = std::max(largest, std::isfinite(error) ? error : INFINITY);
        size = std::max(size, std::fabs(wanted[k]));
    }
    return largest / std::max(size, 1e-300);
}

std::int64_t width_of(const Program& program, const TestFormula& formula) {
    if (program.width_argument() < 0)
        return 1;
    const auto at = std::size_t(
        program.argument_order()[std::size_t(program.width_argument())]);
    return formula.arguments[at].rows;
}

} // namespace

bool can_run(Isa isa) {
    return cpu::runs(isa);
}

std::vector<Plan> plans_of(const TestFormula& formula, Isa isa) {
    const CpuProgram program = program_of(formula, isa, nullptr);
    std::vector<Plan> plans =
        enumerate_plans(program.graph(), program.plan.nest, isa);
    if (!is_emulated(isa) && fits_single_panel(program.graph())) {
        plans.push_back(choose_plan(program.graph(), Nest::SinglePanel, isa));
        plans.push_back(choose_plan(program.graph(), Nest::SinglePanel, isa,
                                    {.most_columns = 1}));
    }
    return plans;
}

template <class T>
std::vector<T> run_map(const TestFormula& formula, Isa isa,
                       const std::vector<T>& values) {
    const CpuProgram program = program_of(formula, isa, nullptr);
    const Artifact& artifact = artifact_of(program);
    const Code code(artifact.code);
    const Guarded scratch(std::size_t(artifact.layout.scratch), Flush::Back,
                          64);
    const auto count = std::int64_t(values.size());
    const auto size = std::int64_t(sizeof(T));
    const tilefold_kernel_operand operand{
        reinterpret_cast<const char*>(values.data()), size, size, size};
    std::vector<double> constants(std::size_t(artifact.layout.constants));
    std::vector<T> results(values.size());
    std::int64_t left_range = 0;
    tilefold_kernel_call call{};
    call.left_range = &left_range;
    call.operands = &operand;
    call.literals = program.graph().literals.data();
    call.constants = constants.data();
    call.rows = count;
    call.columns = 1;
    call.width = 1;
    call.functions =
        math_functions(artifact.layout.real, artifact.layout.lanes);
    call.out = reinterpret_cast<char*>(results.data());
    call.out_row = call.out_component = size;
    code.entry<tilefold_kernel_prepare>(artifact.entries.prepare)(&call);
    code.entry<tilefold_kernel_zip>(artifact.entries.zip)(&call, 0, count,
                                                          scratch.data());
    return results;
}
template std::vector<float> run_map(const TestFormula&, Isa,
                                    const std::vector<float>&);
template std::vector<double> run_map(const TestFormula&, Isa,
                                     const std::vector<double>&);

namespace {

/// A formula on random data.
class Case {
public:
    /// `poison`: what scratch and states hold before.
    Case(const TestFormula& formula, Isa isa, const Plan* plan, std::int64_t n,
         std::int64_t m, Flush flush, unsigned seed,
         unsigned char poison = 0xff)
        : formula_(formula), program_(program_of(formula, isa, plan)),
          run_{program_, artifact_of(program_),
               Code(artifact_of(program_).code)} {
        std::mt19937 random(seed);
        for (const TestArgument& a : formula.arguments)
            filled_.push_back(fill(
                a,
                a.axes == Axes::None ? 1 : (contains(a.axes, Axes::I) ? n : m),
                flush, random));
        run_.rows = program_.single_row ? 1 : (program_.swapped ? m : n);
        run_.columns = program_.single_column ? 1 : (program_.swapped ? n : m);
        run_.width = width_of(program_, formula);
        run_.flush = flush;
        run_.poison = poison;
        make_memory();
        make_call();
    }

    void run(Cut cut) {
        if (is_emulated(program_.plan.isa))
            return run_.emulate(cut, filled_);
        run_.code.entry<tilefold_kernel_prepare>(run_.artifact.entries.prepare)(
            &run_.call);
        switch (program_.plan.nest) {
        case Nest::Reduce:
            return run_.reduce(cut);
        case Nest::SinglePanel:
            return run_.reduce_rows();
        case Nest::Values:
            return run_.values();
        }
    }

    /// Infinite where a divisor of such data is taken for one near the largest
    /// number.
    double error() const {
        if (run_.left_range)
            return INFINITY;
        return largest_error(
            run_, expected(program_of(formula_), run_, filled_, formula_));
    }
    std::string bytes() const { return {run_.out->data(), run_.out->size()}; }

private:
    std::int64_t result_bytes() const {
        return std::int64_t(size_of(program_.result.dtype));
    }

    void make_memory() {
        const Layout& layout = run_.artifact.layout;
        run_.constants.resize(std::size_t(layout.constants));
        const std::int64_t columns =
            program_.result.axes == Axes::IJ ? run_.columns : 1;
        const std::int64_t kept =
            program_.result.axes == Axes::None ? 1 : run_.rows * columns;
        run_.out = std::make_unique<Guarded>(
            std::size_t(kept * run_.components() * result_bytes()), run_.flush);
        run_.scratch = std::make_unique<Guarded>(
            std::size_t(layout.scratch + layout.scratch_per_width * run_.width),
            run_.flush, 64, run_.poison);
    }

    void make_call() {
        for (std::int32_t place : program_.argument_order())
            run_.operands.push_back(filled_[std::size_t(place)].operand);
        tilefold_kernel_call& call = run_.call;
        call.operands = run_.operands.data();
        call.tiles = run_.tiles;
        call.left_range = &run_.left_range;
        call.literals = program_.graph().literals.data();
        call.constants = run_.constants.data();
        call.rows = run_.rows;
        call.columns = run_.columns;
        call.width = run_.width;
        call.out = run_.out->data();
        call.out_row = run_.components() * result_bytes();
        call.out_component = result_bytes();
        const Layout& layout = run_.artifact.layout;
        if (!is_emulated(program_.plan.isa))
            call.functions = math_functions(layout.real, layout.lanes);
    }

    const TestFormula& formula_;
    const CpuProgram program_;
    std::vector<Filled> filled_;
    Run run_;
};

} // namespace

std::size_t image_bytes(const TestFormula& formula, Isa isa) {
    return artifact_of(program_of(formula, isa, nullptr)).code.size();
}

double run_case(const TestFormula& formula, Isa isa, const Plan* plan,
                std::int64_t n, std::int64_t m, Flush flush, Cut cut,
                unsigned seed) {
    Case one(formula, isa, plan, n, m, flush, seed);
    one.run(cut);
    return one.error();
}

std::string run_bytes(const TestFormula& formula, Isa isa, const Plan* plan,
                      std::int64_t n, std::int64_t m, unsigned char poison,
                      Cut cut) {
    Case one(formula, isa, plan, n, m, Flush::Front, 1, poison);
    one.run(cut);
    return one.bytes();
}

} // namespace tilefold::test
