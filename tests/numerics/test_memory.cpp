// tests/numerics/test_memory.cpp - what memory held before a run changes no
// bit of its results: lanes that fill up the last vector are zero, or computed
// from zeros.

#include "tests/numerics/kernel_case.h"

#include <gtest/gtest.h>

namespace tilefold::test {
namespace {

struct Padded {
    const char* text;
    Mode mode = Mode::Reduce;
};

/// Functions that take another way where some lane is large, infinite or NaN:
/// of numbers of points and what is made of them, of long vectors, of pairs and
/// of what has been reduced.
constexpr Padded padded[] = {
    {"sum_j h_j*sin(j*0.03125)"},
    {"sum_j cos(i*h_j)*tan(j*0.0625)*g_i"},
    {"sum_j sin(z_j·z_j)*h_j"},
    {"sum_j (sin(g_i)*cos(h_j) - tan(g_i)*h_j)"},
    {"max_j sin(cos(tan(sin(cos(tan(sin(g_i)*3)*3)*3)*3)*3)*h_j)"},
    {"sin(9*(sum_j h_j*g_i))"},
    {"cos(sum_ij 1e5*h_j*g_i)"},
    {"sin(j*0.03125)*cos(z_j·z_j*g_i)", Mode::Values},
    {"sin(i*0.03125)*tan(g_i)", Mode::Values},
};

TestFormula formula_of(const Padded& padded, DType dtype) {
    TestFormula formula{padded.text, {}, padded.mode, 0};
    const auto add = [&](const char* name, const char* spelling, Axes axes,
                         std::int32_t rows) {
        if (formula.text.find(spelling) != std::string::npos)
            formula.arguments.push_back(
                {name, axes, dtype, std::uint8_t(rows > 1), rows, 1});
    };
    add("g", "g_i", Axes::I, 1);
    add("h", "h_j", Axes::J, 1);
    add("z", "z_j", Axes::J, 20);
    return formula;
}

class Memory : public testing::TestWithParam<std::size_t> {};

TEST_P(Memory, ChangesNoBit) {
    for (const IsaRow& row : isa_rows())
        for (const DType dtype : {DType::F32, DType::F64}) {
            if (!can_run(row.isa) || row.ports != Ports::Shared)
                continue;
            const TestFormula formula = formula_of(padded[GetParam()], dtype);
            for (const Plan& plan : plans_of(formula, row.isa))
                for (const std::int64_t n : {1, 21, 131})
                    for (const std::int64_t m : {1, 13, 255}) {
                        const auto run = [&](unsigned char poison) {
                            return run_bytes(formula, row.isa, &plan, n, m,
                                             poison);
                        };
                        const std::string bytes = run(0);
                        // NaN; 3e38 or 1e306; 1e37 or 1e288.
                        for (const unsigned char poison : {0xff, 0x7f, 0x7d})
                            EXPECT_TRUE(run(poison) == bytes)
                                << formula.text << "  [" << print(plan)
                                << "]  N=" << n << " M=" << m
                                << " poison=" << int(poison);
                    }
        }
}

INSTANTIATE_TEST_SUITE_P(Formulas, Memory,
                         testing::Range<std::size_t>(0, std::size(padded)));

} // namespace
} // namespace tilefold::test
