// tests/compiler/test_lower_cuda.cpp - what is decided of a card's kernel
// before text is written, without NVRTC.

#include "compiler/backends/cuda/lower/lowered_kernel.h"
#include "compiler/backends/cuda/plan/choose_plan.h"
#include "compiler/ir/text.h"
#include "tests/compiler/cases.h"
#include "tests/compiler/support.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace tilefold::tests {
namespace {

using cuda::Loop;
using cuda::Multiply;

/// A formula, and what it is computed by.
struct CudaLoweredCase {
    const char* name;
    const char* formula;
    const char* arguments;
    Mode mode = Mode::Reduce;
    double tolerance = 0;
    bool column_parallel = false;
    std::int32_t width = 8;
};

ir::Graph graph_of_case(const CudaLoweredCase& c) {
    return program_of(c.formula, c.arguments, c.mode).graph();
}

cuda::Plan plan_of(const ir::Graph& graph, const CudaLoweredCase& c) {
    const cuda::Plans plans = cuda::choose_plans(graph, c.width, c.tolerance);
    return c.column_parallel ? plans.few.value() : plans.many;
}

cuda::LoweredKernel lowered(const CudaLoweredCase& c) {
    const ir::Graph graph = graph_of_case(c);
    return lower(graph, plan_of(graph, c));
}

// clang-format off
/// One for each loop of loops.def, and for each way of multiply.def.
constexpr CudaLoweredCase shown_cuda[] = {
    {"short vectors", "sum_j exp(-|x_i - y_j|²/2l²) b_j", "x f32[3], y f32[3], b f32, l f64"},
    {"few rows", "sum_j exp(-|x_i - y_j|²/2l²) b_j", "x f32[3], y f32[3], b f32, l f64", Mode::Reduce, 0, true},
    {"open width", "sum_j exp(-|x_i - y_j|²/2l²) b_j", "x f32[3], y f32[3], b f32[2], l f64"},
    {"long vectors", "sum_j exp(-|x_i - y_j|²/2l²) b_j", "x f32[64], y f32[64], b f32, l f64"},
    {"two of 11 bits", "max_j |x_i - y_j|", "x f32[64], y f32[64]", Mode::Reduce, 3e-7},
    {"two of 8 bits", "sum_j exp(-|x_i - y_j|²)", "x f32[20], y f32[20]", Mode::Reduce, 1e-5},
    {"8 bits", "max_j x_i·y_j", "x f32[64], y f32[64]", Mode::Reduce, 1e-2},
    {"stored bf16", "max_j x_i·y_j", "x bf16[64], y bf16[64]"},
    {"attention of f16", "softmax_j(q_i·k_j/√64, v_j)", "q f16[64], k f16[64], v f16[64]"},
    {"a wide sum", "sum_j exp(-|x_i - y_j|²) b_j", "x f32[3], y f32[3], b f32[16]", Mode::Reduce, 1e-5, false, 32},
    {"a filter", "argkmin_j(|x_i - y_j|², 10)", "x f32[64], y f32[64]"},
    {"an argmin in double", "argmin_j |x_i - y_j|²", "x f64[3], y f64[3]"},
    {"a monoid of the user", "fold_j(a_i b_j, [0, inf], add, join) with add(s, f) = [s[0] + f, min(s[1], f)], join(s, t) = [s[0] + t[0], min(s[1], t[1])]", "a f32, b f32"},
    {"an epilogue", "d_i + mean_j exp(-|A @ (x_i - y_j)|²) c_i", "A f64[5,3], x f64[3], y f64[3], c f64, d f64"},
    {"chosen pairs", "sum_ij exp(-|x_i - y_j|²)", "x f32[3], y f32[3]", Mode::Chosen},
    {"points", "sum_i sin(x_i) n_i", "x f32, n i32"},
    {"nothing reduced", "exp(-|x_i - y_j|²/2l²)", "x f32[3], y f32[3], l f64", Mode::Values},
};
// clang-format on

TEST(LowerCuda, Golden) {
    std::string text;
    for (const CudaLoweredCase& c : shown_cuda) {
        const ir::Graph graph = graph_of_case(c);
        const cuda::Plan plan = plan_of(graph, c);
        const cuda::LoweredKernel kernel = lower(graph, plan);
        text += std::string("── ") + c.name + ": " + c.formula + "\n" +
                ir::print(kernel.registers.graph) + print(plan) + "\n\n" +
                print(kernel) + "\n";
    }
    expect_golden("lowered_cuda.txt", text);
}

TEST(LowerCuda, EachLoopIsTaken) {
    std::set<Loop> taken;
    for (const CudaLoweredCase& c : shown_cuda)
        taken.insert(lowered(c).loop);
#define LOOP(...) +1
    constexpr std::size_t rows =
#include "compiler/backends/cuda/lower/loops.def"
        ;
#undef LOOP
    EXPECT_EQ(taken.size(), rows);
}

TEST(LowerCuda, EachWayToMultiplyIsTaken) {
    std::set<Multiply> taken;
    for (const CudaLoweredCase& c : shown_cuda)
        for (const auto& [id, way] : lowered(c).ways)
            taken.insert(way);
#define MULTIPLY(...) +1
    constexpr std::size_t rows =
#include "compiler/backends/cuda/plan/multiply.def"
        ;
#undef MULTIPLY
    EXPECT_EQ(taken.size(), rows);
}

/// Loops over tiles bring the vectors that they multiply, and no record of a
/// point has them.
TEST(LowerCuda, AVectorIsPackedOrBrought) {
    for (const CudaLoweredCase& c : shown_cuda) {
        SCOPED_TRACE(c.name);
        const cuda::LoweredKernel kernel = lowered(c);
        EXPECT_EQ(kernel.fetched.empty(), !kernel.has_tiles());
        for (const cuda::FetchedVector& vector : kernel.fetched) {
            EXPECT_EQ(kernel.registers.row.fields.count(vector.id), 0u);
            EXPECT_EQ(kernel.registers.column.fields.count(vector.id), 0u);
        }
    }
}

TEST(LowerCuda, HasRoomForEveryConstantAndStateOnce) {
    for (const Case& c : all_cases()) {
        SCOPED_TRACE(c.name);
        ir::Graph graph;
        try {
            graph = program_of(c.formula, c.arguments).graph();
        } catch (const Error&) {
            continue; // of several sweeps, or nothing is reduced
        }
        const cuda::LoweredKernel kernel =
            lower(graph, cuda::choose_plan(graph, 8));
        std::int64_t end = 0;
        for (const cuda::Constant& constant : kernel.registers.constants) {
            EXPECT_EQ(constant.offset, end);
            end += std::max<std::int64_t>(constant.length, 1);
        }
        EXPECT_EQ(kernel.registers.placement.constants_size, end);
        std::size_t members = 0;
        for (const auto& reduction : kernel.registers.reductions) {
            EXPECT_EQ(reduction.first_state, members);
            members += reduction.state.size();
        }
        EXPECT_EQ(kernel.registers.state.fields().size(), members);
    }
}

} // namespace
} // namespace tilefold::tests
