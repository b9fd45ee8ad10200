// tests/runtime/test_math_library.cpp - each table holds the functions of
// externals.def, in its order, vector and scalar.

#include "compiler/ir/special.h"
#include "runtime/cpu/isa.h"
#include "runtime/cpu/math_library.h"
#include TILEFOLD_LANES_HEADER

#include "formulas/diagnostic.h"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <string_view>

namespace tilefold::test {
namespace {

struct External {
    std::string_view stem;
    int arity;
};
constexpr External externals[] = {
#define STEM_Sleef10(symbol) symbol
#define STEM_Sleef15(symbol) symbol
#define STEM_Sleef10InDouble(symbol) symbol
#define STEM_Sleef10InRanges(symbol) symbol
#define STEM_Sleef15InDouble(symbol) symbol
#define STEM_Special(symbol) #symbol
#define EXTERNAL(name, arity, library, symbol) {STEM_##library(symbol), arity},
#include "compiler/ir/externals.def"
#undef EXTERNAL
};

double reference(std::string_view stem, double x, double y) {
    using Function = double (*)(double);
    constexpr std::pair<std::string_view, Function> unary[] = {
        {"exp", std::exp},       {"exp2", std::exp2},     {"log", std::log},
        {"sin", std::sin},       {"cos", std::cos},       {"tan", std::tan},
        {"asin", std::asin},     {"acos", std::acos},     {"atan", std::atan},
        {"sinh", std::sinh},     {"cosh", std::cosh},     {"tanh", std::tanh},
        {"log1p", std::log1p},   {"expm1", std::expm1},   {"erf", std::erf},
        {"log2", std::log2},     {"log10", std::log10},   {"erfc", std::erfc},
        {"lgamma", std::lgamma}, {"tgamma", std::tgamma},
    };
    using Special = double (*)(double, double);
    constexpr std::pair<std::string_view, Special> binary[] = {
        {"polygamma", special::polygamma}, {"bessel_j", special::bessel_j},
        {"bessel_y", special::bessel_y},   {"bessel_i", special::bessel_i},
        {"bessel_k", special::bessel_k},   {"floor_remainder", std::fmod},
    };
    for (auto& [name, function] : binary)
        if (name == stem)
            return function(x, y);
    for (auto& [name, function] : unary)
        if (name == stem)
            return function(x);
    return stem == "pow" ? std::pow(x, y) : std::atan2(x, y);
}

/// Calls `function` on whole vectors, in code for the instruction set that
/// passes them in registers.
using Call = void(const void* function, int arity, const void* x, const void* y,
                  void* result);
#define VECTOR_CALL(name, Vector, isa)                                         \
    __attribute__((target(isa))) void name(const void* function, int arity,    \
                                           const void* x, const void* y,       \
                                           void* result) {                     \
        Vector a, b, c;                                                        \
        __builtin_memcpy(&a, x, sizeof a);                                     \
        __builtin_memcpy(&b, y, sizeof b);                                     \
        c = arity == 1 ? reinterpret_cast<Vector (*)(Vector)>(function)(a)     \
                       : reinterpret_cast<Vector (*)(Vector, Vector)>(         \
                             function)(a, b);                                  \
        __builtin_memcpy(result, &c, sizeof c);                                \
    }
#define OF_REGISTER(bytes, floats, doubles, suffix, target)                    \
    using F##floats = float __attribute__((vector_size(bytes)));               \
    using D##doubles = double __attribute__((vector_size(bytes)));             \
    VECTOR_CALL(call_f##floats, F##floats, target)                             \
    VECTOR_CALL(call_d##doubles, D##doubles, target)
TILEFOLD_LANES(OF_REGISTER)
#undef OF_REGISTER
#undef VECTOR_CALL

void call_scalar(const void* function, int arity, const void* x, const void* y,
                 void* result) {
    double a, b, c;
    __builtin_memcpy(&a, x, sizeof a);
    __builtin_memcpy(&b, y, sizeof b);
    c = arity == 1
            ? reinterpret_cast<double (*)(double)>(function)(a)
            : reinterpret_cast<double (*)(double, double)>(function)(a, b);
    __builtin_memcpy(result, &c, sizeof c);
}

template <class Element, int lanes>
void expect_lanes(Call* call, const void* function, const External& external) {
    Element x[lanes], y[lanes], result[lanes];
    for (int k = 0; k < lanes; ++k) {
        const bool is_order = std::string_view(external.stem) == "polygamma";
        x[k] = Element(is_order ? k : 0.05 + 0.9 * k / lanes);
        y[k] = Element(0.5 + 0.1 * k);
    }
    call(function, external.arity, x, y, result);
    double tolerance = sizeof(Element) == 4 ? 2e-7 : 4e-16;
    for (int k = 0; k < lanes; ++k) {
        double expected = reference(external.stem, double(x[k]), double(y[k]));
        EXPECT_NEAR(double(result[k]), expected,
                    tolerance * std::max(1.0, std::abs(expected)))
            << external.stem << " of " << x[k];
    }
}

/// Every row of a table: its vector function, then its scalar one.
template <class Element, int lanes> void expect_table(DType real, Call* call) {
    const void* const* table = math_functions(real, lanes);
    for (const External& external : externals) {
        expect_lanes<Element, lanes>(call, *table++, external);
        expect_lanes<double, 1>(call_scalar, *table++, external);
    }
}

TEST(MathLibrary, HasEveryFunctionForEveryVector) {
    const auto runs = [](std::int32_t bytes) {
        return std::ranges::any_of(isa_rows(), [&](const IsaRow& row) {
            return row.vector_bytes == bytes && cpu::runs(row.isa);
        });
    };
    EXPECT_TRUE(runs(row_of(cpu::least_isa()).vector_bytes));
#define EXPECT_TABLES(bytes, floats, doubles, ...)                             \
    if (runs(bytes)) {                                                         \
        expect_table<float, floats>(DType::F32, call_f##floats);               \
        expect_table<double, doubles>(DType::F64, call_d##doubles);            \
    }
    TILEFOLD_LANES(EXPECT_TABLES)
#undef EXPECT_TABLES
}

TEST(MathLibrary, RefusesOtherLaneCounts) {
    EXPECT_THROW(math_functions(DType::F32, 5), Error);
    EXPECT_THROW(math_functions(DType::F32, 2), Error);
    EXPECT_THROW(math_functions(DType::F64, 16), Error);
}

} // namespace
} // namespace tilefold::test
