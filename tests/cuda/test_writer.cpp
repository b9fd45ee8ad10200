// tests/cuda/test_writer.cpp - expressions and scopes of emitted code: types,
// parentheses, names; and the text of whole formulas.

#include "compiler/backends/cuda/plan/choose_plan.h"
#include "compiler/backends/cuda/text/writer.h"
#include "tests/compiler/support.h"
#include "tests/cuda/cases.h"

#include <gtest/gtest.h>

#include <cmath>

namespace tilefold::tests {
namespace {

using cuda::Code;
using cuda::Kind;
using cuda::Writer;

const Code x(Kind::Float, "x"), y(Kind::Float, "y"), n(Kind::Int, "n"),
    m(Kind::Long, "m");

TEST(CudaCode, ParenthesesStandWhereTheyAreNeeded) {
    EXPECT_EQ(((x + y) * x).text(), "(x + y) * x");
    EXPECT_EQ((x + y * x).text(), "x + y * x");
    EXPECT_EQ((x - (y - x)).text(), "x - (y - x)");
    EXPECT_EQ((x - y - x).text(), "x - y - x");
    EXPECT_EQ((-(x + y)).text(), "-(x + y)");
    EXPECT_EQ((x / (y * x)).text(), "x / (y * x)");
    EXPECT_EQ(negated(both(less(x, y), equal(n, m))).text(),
              "!(x < y && n == m)");
    EXPECT_EQ(either(both(less(x, y), less(y, x)), equal(n, m)).text(),
              "(x < y && y < x) || n == m");
    EXPECT_EQ((choice(less(x, y), x, y) + x).text(), "(x < y ? x : y) + x");
}

TEST(CudaCode, KindsDoNotMix) {
    EXPECT_EQ((n + m).kind(), Kind::Long);
    EXPECT_NE(message_of([] { x + n; }), "no error");
    EXPECT_NE(message_of([] { both(x, y); }), "no error");
    EXPECT_EQ(as(Kind::Float, n).text(), "float(n)");
    EXPECT_EQ(as(Kind::Long, x + y).text(), "(long long)(x + y)");
    EXPECT_EQ(as(Kind::Truth, x).text(), "x != 0.0f");
}

TEST(CudaCode, NumbersReadBackAsThemselves) {
    EXPECT_EQ(number(Kind::Float, 0.1).text(), "0.1f");
    EXPECT_EQ(number(Kind::Double, 2).text(), "2.0");
    EXPECT_EQ(number(Kind::Float, 1e30).text(), "1e+30f");
    EXPECT_EQ(number(Kind::Double, -INFINITY).text(), "-infinity<double>()");
    EXPECT_EQ(number(Kind::Float, NAN).text(), "not_a_number<float>()");
    EXPECT_EQ(number(Kind::Long, 3).text(), "3LL");
    EXPECT_EQ(number(Kind::Long, -INFINITY).text(), "least_whole");
    EXPECT_EQ((x - number(Kind::Float, -1)).text(), "x - -1.0f");
}

TEST(CudaWriter, GivesEachScopeItsNames) {
    Writer writer;
    writer.function({"void", "f", {{"float", cuda::By::Value, "x"}}}, [&] {
        writer.let("x", y);
        writer.when(
            less(x, y), [&] { writer.let("x", y); },
            [&] { writer.let("x", y); });
        writer.let("x", y);
    });
    EXPECT_EQ(writer.take(), "static __device__ __forceinline__ void\n"
                             "f(float x) {\n"
                             "    const float x_2 = y;\n"
                             "    if (x < y) {\n"
                             "        const float x_3 = y;\n"
                             "    }\n"
                             "    else {\n"
                             "        const float x_3 = y;\n"
                             "    }\n"
                             "    const float x_3 = y;\n"
                             "}\n\n");
}

TEST(CudaWriter, MakesIdentifiersOfAnyName) {
    EXPECT_EQ(cuda::identifier("x_train"), "x_train");
    EXPECT_EQ(cuda::identifier("double"), "double_");
    EXPECT_EQ(cuda::identifier("3x"), "a3x");
    EXPECT_EQ(cuda::identifier("ж"), "a_");
    EXPECT_EQ(cuda::identifier("x__y"), "x_y");
}

TEST(CudaText, ReadsAsGoldenFilesSay) {
    const struct {
        const char *name, *formula, *arguments;
    } formulas[] = {
        {"gaussian", "sum_j exp(-|x_i - y_j|²/2l²) b_j",
         "x f32[3], y f32[3], b f32, l f64"},
        {"nearest", "argmin_j |x_i - y_j|²", "x f32[3], y f32[3]"},
        {"attention", "softmax_j(q_i·k_j/√64, v_j)",
         "q f16[64], k f16[64], v f16[64]"},
        {"causal", "sum_j where(j <= i and |x_i-y_j| < r, q_i·k_j, 0)",
         "x f32[3], y f32[3], q i8[4], k i8[4], r f64"},
        {"mean_of_parameters", "d_i + mean_j exp(-|A @ (x_i - y_j)|²) c_i",
         "A f64[2,3], x f64[3], y f64[3], c f64, d f64"},
        {"knn", "argkmin_j(|x_i - y_j|², 10)", "x f32[3], y f32[3]"},
        {"product", "sum_j exp(-|x_i - y_j|²/2l²) b_j",
         "x f32[64], y bf16[64], b f32, l f64"},
        {"kernel", "exp(-|x_i - y_j|²/2l²)", "x f32[3], y f32[3], l f64"},
        {"fold",
         "fold_j(a_i b_j, [0, inf], add, join) with add(s, f) = "
         "[s[0] + f, min(s[1], f)], join(s, t) = [s[0] + t[0], "
         "min(s[1], t[1])]",
         "a f32, b f32"},
    };
    for (const auto& each : formulas) {
        const CudaCase made =
            cuda_case(each.name, each.formula, each.arguments);
        const cuda::Plan plan = cuda::choose_plan(made.graph, 8);
        const std::string text = "// " + std::string(each.formula) + "\n// " +
                                 print(plan) + "\n" +
                                 cuda::emit(made.graph, plan).source.formula;
        expect_golden(std::string(each.name) + ".cu", text);
    }
}

/// What writes it is C++ that sanitizers see, unlike what it has written.
TEST(CudaText, IsWrittenForEveryCase) {
    for (const auto& cases :
         {formula_cases(), table_cases(), product_cases(), wide_cases(),
          chosen_cases(), edge_cases(), random_cases(1, 40)})
        for (CudaCase each : cases)
            for (const bool column_parallel : {false, true}) {
                each.column_parallel = column_parallel;
                const HostKernels kernels = small_kernels(each);
                EXPECT_FALSE(kernels.emitted.source.loops.empty()) << each.name;
            }
}

TEST(CudaText, HasNoInclude) {
    const CudaCase made = cuda_case("", "sum_j x_i·y_j", "x f32[3], y f32[3]");
    const std::string text =
        cuda::emit(made.graph, cuda::choose_plan(made.graph, 1)).source.text();
    EXPECT_EQ(text.find("#include"), std::string::npos);
}

std::string refusal(std::string_view formula, std::string_view arguments) {
    return message_of([&] {
        const CudaCase made = cuda_case("", formula, arguments);
        cuda::emit(made.graph, cuda::choose_plan(made.graph, 1));
    });
}

TEST(CudaRefusals, SayWhatToDoInstead) {
    EXPECT_EQ(refusal("sum_j x_i·y_j", "x f32[40000], y f32[40000]"),
              "the GPU backend has no code for columns of 160000 bytes, more "
              "than shared memory holds\n"
              "shorten the vectors of the reduced axis to 24320 float32 "
              "components");
}

} // namespace
} // namespace tilefold::tests
