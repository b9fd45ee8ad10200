// tests/numerics/ulp_reference.cpp - operations in double precision, many at
// once: loops that the compiler writes with libmvec, glibc's vector functions,
// where they have the operation, else libm and Boost one by one.
//
// Compiled with -O3 -ffast-math, which libmvec wants. Its functions are right
// for infinities and NaN all the same (they go to libm for them); nothing else
// is computed here.

#include "tests/numerics/ulp_reference.h"

#include "compiler/ir/scalar.h"
#include TILEFOLD_CLONES_HEADER // of this architecture

#include <cmath>

namespace tilefold::test {
namespace {

#define VECTORISED TILEFOLD_CLONES __attribute__((noinline))

#define UNARY(name, expression)                                                \
    VECTORISED void name(const float* from, double* to, std::size_t count) {   \
        for (std::size_t k = 0; k < count; ++k) {                              \
            const double x = from[k];                                          \
            to[k] = expression;                                                \
        }                                                                      \
    }
#define BINARY(name, expression)                                               \
    VECTORISED void name(const float* left, const float* right, double* to,    \
                         std::size_t count) {                                  \
        for (std::size_t k = 0; k < count; ++k) {                              \
            const double x = left[k], y = right[k];                            \
            to[k] = expression;                                                \
        }                                                                      \
    }
// clang-format off
#define UNARY_FUNCTIONS(DO)                                                    \
    DO(Exp, std::exp(x)) DO(Exp2, std::exp2(x)) DO(Log, std::log(x))           \
    DO(Log2, std::log2(x)) DO(Log10, std::log10(x)) DO(Log1p, std::log1p(x))   \
    DO(Expm1, std::expm1(x)) DO(Sin, std::sin(x)) DO(Cos, std::cos(x))         \
    DO(Tan, std::tan(x)) DO(Asin, std::asin(x)) DO(Acos, std::acos(x))         \
    DO(Atan, std::atan(x)) DO(Sinh, std::sinh(x)) DO(Cosh, std::cosh(x))       \
    DO(Tanh, std::tanh(x)) DO(Erf, std::erf(x)) DO(Erfc, std::erfc(x))
#define BINARY_FUNCTIONS(DO)                                                   \
    DO(Pow, std::pow(x, y)) DO(Atan2, std::atan2(x, y))
// clang-format on

namespace loops {
UNARY_FUNCTIONS(UNARY)
BINARY_FUNCTIONS(BINARY)
} // namespace loops

} // namespace

void evaluate_in_double(ir::Op op, std::span<const float> x,
                        std::span<const float> y, std::span<double> wanted) {
#define CALL_UNARY(name, expression)                                           \
    if (op == ir::Op::name)                                                    \
        return loops::name(x.data(), wanted.data(), x.size());
#define CALL_BINARY(name, expression)                                          \
    if (op == ir::Op::name)                                                    \
        return loops::name(x.data(), y.data(), wanted.data(), x.size());
    UNARY_FUNCTIONS(CALL_UNARY)
    BINARY_FUNCTIONS(CALL_BINARY)
    for (std::size_t k = 0; k < x.size(); ++k) {
        const double operands[] = {x[k], y.empty() ? 0.0 : double(y[k])};
        wanted[k] = ir::evaluate(op, operands);
    }
}

} // namespace tilefold::test
