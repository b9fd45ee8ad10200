// compiler/ir/scalar.cpp - elementwise operations on doubles.

#include "compiler/ir/scalar.h"

#include "compiler/ir/integer.h"
#include "compiler/ir/special.h"

#include <cmath>
#include <numbers>

namespace tilefold::ir {
namespace {
/// Returns what Python's // does, exact where the quotient rounds to a whole
/// number.
double floor_quotient(double a, double b) {
    const double quotient = a / b;
    if (std::isinf(a) && b != 0)
        return NAN;
    if (b == 0 || !std::isfinite(quotient))
        return quotient;
    if (std::isinf(b))
        return a * b < 0 ? -1 : quotient;
    const double exact = (a - special::floor_remainder(a, b)) / b;
    const double below = std::floor(exact);
    const double whole = exact - below > 0.5 ? below + 1 : below;
    return whole == 0 ? std::copysign(0.0, quotient) : whole;
}

/// Returns Rand or Randn of numbers that are whole.
double random(Op op, const double* x) {
    std::int64_t operands[3];
    for (int k = 0; k < 3; ++k) {
        const auto number = integer_of(x[k], DType::F64);
        if (!number)
            return NAN;
        operands[k] = *number;
    }
    return evaluate_random(op, operands);
}

double smaller(double a, double b) {
    if (std::isnan(a) || std::isnan(b))
        return a + b;
    return b < a ? b : a;
}

double larger(double a, double b) {
    if (std::isnan(a) || std::isnan(b))
        return a + b;
    return b > a ? b : a;
}

double sign(double a) {
    return std::isnan(a) ? a : double((a > 0) - (a < 0));
}

double sigmoid(double a) {
    return 1 / (1 + std::exp(-a));
}

double log_add_exp(double a, double b) {
    const double apart = a == b ? 0 : std::abs(a - b);
    return larger(a, b) + std::log1p(std::exp(-apart));
}

/// Returns the share of the normal distribution below `a`.
double normal_below(double a) {
    return std::erfc(-a / std::numbers::sqrt2) / 2;
}

/// It calls lgamma_r because std::lgamma writes a global.
double log_gamma(double a) {
    int sign_of_gamma = 0;
    return ::lgamma_r(a, &sign_of_gamma);
}

} // namespace

double evaluate_int_pow(double base, std::int64_t exponent) {
    return std::pow(base, double(exponent));
}

// clang-format off
double evaluate(Op op, const double* x) {
    switch (op) {
    case Op::Add: return x[0] + x[1];
    case Op::Sub: return x[0] - x[1];
    case Op::Neg: return -x[0];
    case Op::Mul: return x[0] * x[1];
    case Op::Div: return x[0] / x[1];
    case Op::Mod: return special::floor_remainder(x[0], x[1]);
    case Op::FloorDiv: return floor_quotient(x[0], x[1]);
    case Op::Pow: return std::pow(x[0], x[1]);
    case Op::Exp: return std::exp(x[0]);
    case Op::Exp2: return std::exp2(x[0]);
    case Op::Log: return std::log(x[0]);
    case Op::Log2: return std::log2(x[0]);
    case Op::Log10: return std::log10(x[0]);
    case Op::Log1p: return std::log1p(x[0]);
    case Op::Expm1: return std::expm1(x[0]);
    case Op::Sqrt: return std::sqrt(x[0]);
    case Op::Rsqrt: return 1 / std::sqrt(x[0]);
    case Op::Pinv: return x[0] == 0 ? 0 : 1 / x[0];
    case Op::Abs: return std::abs(x[0]);
    case Op::Sign: return sign(x[0]);
    case Op::Floor: return std::floor(x[0]);
    case Op::Ceil: return std::ceil(x[0]);
    case Op::Round: return std::nearbyint(x[0]);
    case Op::Trunc: return std::trunc(x[0]);
    case Op::Minimum: return smaller(x[0], x[1]);
    case Op::Maximum: return larger(x[0], x[1]);
    case Op::Where: return x[0] != 0 ? x[1] : x[2];
    case Op::Less: return x[0] < x[1];
    case Op::LessEqual: return x[0] <= x[1];
    case Op::Equal: return x[0] == x[1];
    case Op::NotEqual: return x[0] != x[1];
    case Op::And: return x[0] != 0 && x[1] != 0;
    case Op::Or: return x[0] != 0 || x[1] != 0;
    case Op::Not: return x[0] == 0;
    case Op::Rand: case Op::Randn: return random(op, x);
    case Op::Sin: return std::sin(x[0]);
    case Op::Cos: return std::cos(x[0]);
    case Op::Tan: return std::tan(x[0]);
    case Op::Asin: return std::asin(x[0]);
    case Op::Acos: return std::acos(x[0]);
    case Op::Atan: return std::atan(x[0]);
    case Op::Atan2: return std::atan2(x[0], x[1]);
    case Op::Sinh: return std::sinh(x[0]);
    case Op::Cosh: return std::cosh(x[0]);
    case Op::Tanh: return std::tanh(x[0]);
    case Op::Erf: return std::erf(x[0]);
    case Op::Erfc: return std::erfc(x[0]);
    case Op::Sigmoid: return sigmoid(x[0]);
    case Op::Softplus: return log_add_exp(x[0], 0);
    case Op::LogAddExp: return log_add_exp(x[0], x[1]);
    case Op::Silu: return x[0] < -1000 ? 0 : x[0] * sigmoid(x[0]);
    case Op::Gelu: return x[0] < -100 ? 0 : x[0] * normal_below(x[0]);
    case Op::Asinh: return std::asinh(x[0]);
    case Op::Acosh: return std::acosh(x[0]);
    case Op::Atanh: return std::atanh(x[0]);
    case Op::Hypot: return std::hypot(x[0], x[1]);
    case Op::Cbrt: return std::cbrt(x[0]);
    case Op::ErfInv: return special::inverse_error(x[0]);
    case Op::Gamma: return std::tgamma(x[0]);
    case Op::Lgamma: return log_gamma(x[0]);
    case Op::Polygamma: return special::polygamma(x[0], x[1]);
    case Op::BesselJ: return special::bessel_j(x[0], x[1]);
    case Op::BesselY: return special::bessel_y(x[0], x[1]);
    case Op::BesselI: return special::bessel_i(x[0], x[1]);
    case Op::BesselK: return special::bessel_k(x[0], x[1]);
    case Op::Argument: case Op::Literal: case Op::Constant: case Op::Index:
    case Op::IntPow: case Op::Slice: case Op::Submatrix:
    case Op::Concat: case Op::Broadcast:
    case Op::Complex:
    case Op::Unsigned:
    case Op::Reduce: case Op::Outer: case Op::Iota: case Op::Gather:
    case Op::GatherRow: case Op::GatherElement:
    case Op::Dot: case Op::SqDist: case Op::SqNorm: case Op::CompSum:
    case Op::CompMax: case Op::CompMin: case Op::Cross: case Op::MatVec:
    case Op::VecMat:
        break;
    }
    internal_error("no scalar meaning of " + std::string(mnemonic(op)));
}
// clang-format on

} // namespace tilefold::ir
