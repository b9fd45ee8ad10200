// runtime/bind/tune.cpp - a race of plans over arrays of random numbers.
//
// The arrays are made up rather than the caller's, so that a tuned program
// does not depend on whose call came first, and that the kernels of a
// derivative, which read what others leave behind, are tuned like any other.

#include "runtime/bind/tune.h"

#include "compiler/backends/cpu/choose_plan.h"
#include "runtime/core/element.h"
#include "runtime/cpu/math_library.h"
#include "runtime/schedule/launch.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <random>

namespace tilefold {
namespace {

/// Plans that take part: those the model likes best.
constexpr std::size_t most_plans = 8;
/// Samples of a plan, of which the fastest counts, and their length.
constexpr int rounds = 7;
constexpr double sample_nanoseconds = 3e6;
/// A plan replaces the model's choice where it takes less than this share of
/// its time.
constexpr double worth_it = 0.97;
/// Rows of a sample: several blocks for every thread of a small machine.
constexpr std::int64_t most_rows = 8192;
/// Numbers of its arrays on either axis.
constexpr std::int64_t most_numbers = 1 << 22;

/// Arrays for the arguments of a graph, and a call that reads them.
class Trial {
public:
    Trial(const Program& program, const CallSizes& sizes) : sizes_(sizes) {
        for (std::size_t k = 0; k < program.graph().arguments.size(); ++k)
            add(program.graph().arguments[k], program.argument_order()[k] < 0);
        const std::int64_t components = std::max<std::int64_t>(
            program.result.rows == dynamic ? sizes.width : program.result.rows,
            1);
        results_.resize(std::size_t(sizes.rows * components));
        job_.loop = program.folds_rows ? LoopKind::FoldRows : LoopKind::Reduce;
        job_.operands = operands_;
        job_.batches = &one_batch_;
        job_.literals = program.graph().literals.data();
        job_.rows = sizes.rows;
        job_.columns = sizes.columns;
        job_.width = sizes.width;
        job_.target.data = reinterpret_cast<char*>(results_.data());
        job_.target.row = components * std::int64_t(sizeof(double));
        job_.target.component = sizeof(double);
    }

    double nanoseconds(const LoadedKernel& kernel, ThreadPool& pool) {
        job_.kernel = &kernel.image.kernel();
        job_.functions = functions_for(kernel.artifact.layout);
        job_.columns = columns_for(kernel.artifact.layout);
        const auto start = std::chrono::steady_clock::now();
        (void)launch(job_, pool, {});
        const std::chrono::duration<double, std::nano> taken =
            std::chrono::steady_clock::now() - start;
        return taken.count();
    }

private:
    void add(const ir::Argument& argument, bool is_length);
    void fill(std::byte* bytes, const ir::Argument& argument,
              std::int64_t count);
    std::int64_t columns_for(const Layout& layout);

    const CallSizes sizes_;
    std::vector<std::vector<std::byte>> arrays_;
    std::vector<tilefold_kernel_operand> operands_;
    std::vector<double> results_;
    const Batches one_batch_;
    std::int64_t columns_ = 0; ///< of every sample; 0: not known yet
    std::mt19937 random_{1};   // NOLINT(cert-msc51-cpp): the same every time
    Job job_;
};

void Trial::add(const ir::Argument& argument, bool is_length) {
    const auto size = std::int64_t(size_of(argument.dtype));
    const std::int64_t components =
        argument.rows == dynamic ? sizes_.width : argument.rows;
    std::int64_t points = contains(argument.axes, Axes::I) ? sizes_.rows : 1;
    if (contains(argument.axes, Axes::J))
        points = std::max(points, sizes_.columns);
    const std::int64_t point = components * argument.columns;
    arrays_.emplace_back(std::size_t(points * point * size));
    if (is_length)
        store_element(double(points), argument.dtype, arrays_.back().data());
    else
        fill(arrays_.back().data(), argument, points * point);
    operands_.push_back({reinterpret_cast<const char*>(arrays_.back().data()),
                         argument.axes == Axes::None ? 0 : point * size,
                         argument.columns * size, size});
}

/// Numbers between 0 and 1 on an axis, 1 for parameters, which may be scales.
/// Integers may be indices of tables: 0 is one of any.
void Trial::fill(std::byte* bytes, const ir::Argument& argument,
                 std::int64_t count) {
    std::uniform_real_distribution<float> number(0, 1);
    const bool is_real = kind_of(argument.dtype) == DTypeKind::Float;
    const auto size = std::int64_t(size_of(argument.dtype));
    for (std::int64_t k = 0; is_real && k < count; ++k)
        store_element(argument.axes == Axes::None ? 1 : number(random_),
                      argument.dtype, bytes + k * size);
}

/// The same for all plans: as many as the first takes for a sample.
std::int64_t Trial::columns_for(const Layout& layout) {
    if (columns_ > 0)
        return columns_;
    const double row = double(sizes_.rows) *
                       (layout.nanoseconds +
                        layout.nanoseconds_per_width * double(sizes_.width));
    const double columns = std::max(sample_nanoseconds / row, 1.0);
    columns_ = columns < double(sizes_.columns) ? std::int64_t(columns)
                                                : sizes_.columns;
    columns_ = std::min(std::max(columns_, layout.panel), sizes_.columns);
    return columns_;
}

/// Sizes of which arrays are made within most_numbers.
CallSizes sample_of(const ir::Graph& graph, const CallSizes& sizes) {
    std::int64_t longest = 1;
    for (const ir::Argument& argument : graph.arguments)
        longest = std::max<std::int64_t>(
            {longest, argument.rows == dynamic ? sizes.width : argument.rows});
    const std::int64_t most = std::max<std::int64_t>(most_numbers / longest, 1);
    return {std::min({sizes.rows, most_rows, most}),
            std::min(sizes.columns, most), sizes.width};
}

/// The plan the program has, then the others.
std::vector<Plan> plans_of(const CpuProgram& program) {
    const Plan& own = program.plan;
    std::vector<Plan> plans =
        enumerate_plans(program.graph(), own.nest, own.isa, parts_of(own));
    std::erase(plans, own);
    plans.insert(plans.begin(), own);
    plans.resize(std::min(plans.size(), most_plans));
    return plans;
}

struct Contender {
    KernelPointer kernel;
    double fastest = std::numeric_limits<double>::infinity();
};

/// The fastest of at least one.
std::size_t race(std::vector<Contender>& contenders, Trial& trial,
                 ThreadPool& pool) {
    for (Contender& one : contenders)
        (void)trial.nanoseconds(*one.kernel, pool); // caches, pages
    for (int round = 0; round < rounds; ++round)
        for (Contender& one : contenders)
            one.fastest =
                std::min(one.fastest, trial.nanoseconds(*one.kernel, pool));
    const auto best =
        std::ranges::min_element(contenders, {}, &Contender::fastest);
    return best->fastest < worth_it * contenders[0].fastest
               ? std::size_t(best - contenders.begin())
               : 0;
}

} // namespace

CpuProgram tuned(detail::SessionState& session, const CpuProgram& program,
                 const CallSizes& sizes, std::string_view formula,
                 const Asker& asker) {
    if (program.plan.nest != Nest::Reduce)
        return program;
    KernelProvider& provider = session.provider;
    const std::vector<Plan> plans = plans_of(program);
    if (const auto known = provider.fastest_plan(program.key))
        if (std::ranges::count(plans, *known) != 0)
            return with_plan(program, *known);
    std::vector<Contender> contenders(plans.size());
    for (std::size_t k = 0; k < plans.size(); ++k)
        contenders[k].kernel =
            provider.kernel(with_plan(program, plans[k]), formula, asker);
    Trial trial(program, sample_of(program.graph(), sizes));
    const std::size_t best = race(contenders, trial, session.pool);
    provider.keep_fastest_plan(program.key, plans[best], formula,
                               contenders[0].fastest /
                                   contenders[best].fastest);
    return with_plan(program, plans[best]);
}

} // namespace tilefold
