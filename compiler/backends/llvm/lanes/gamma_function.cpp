// compiler/backends/llvm/lanes/gamma_function.cpp - lgamma and digamma of F32,
// in place, in double; lgamma on AVX-512 is in lgamma_by_pieces.cpp.
//
// From 2.5 on, by Stirling's series, with numbers that are best from there on:
//
//   lgamma(x)  = (x - 1/2) log x - x + log(2π)/2 + w(x^-2)/x
//   digamma(x) = log x - 1/(2x) - w(x^-2)/x²
//
// From 1 to 2.5 both are polynomials beside their zeros:
// lgamma(x) = (x - 1)(x - 2) q(x), digamma(x) = (x - r) q(x). Below 1,
// lgamma(x) = lgamma(x + 1) - log x, digamma(x) = digamma(x + 1) - 1/x. What is
// below 0 is seldom asked for, and the library's.

#include "compiler/backends/llvm/lanes/avx512.h"
#include "compiler/backends/llvm/lanes/gamma_of_double.h"
#include "compiler/backends/llvm/lanes/in_double.h"
#include "compiler/backends/llvm/lanes/lgamma_by_pieces.h"
#include "compiler/backends/llvm/lanes/math.h"
#include "compiler/backends/llvm/lanes/polynomial.h"

#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <numbers>
#include <span>

namespace tilefold::llvm_backend {
namespace {

using llvm::Value;

/// Where Stirling's series begins, and the middle of what is before it.
constexpr double series_of_single_from = 2.5, middle_of_single = 1.75;
constexpr double half_log_of_2_pi = 0.91893853320467274;
constexpr double root_of_digamma = 0x1.762d86356be3fp+0;

/// lgamma(y)/((y - 1)(y - 2)) by y - 1.75; minimax, relative error 5.4e-10.
constexpr std::array<double, 13> of_lgamma = {
    0x1.ccf151e17f63ap-2,   -0x1.e96585158e485p-4,  0x1.6cb6205bc3428p-5,
    -0x1.382eefc2e51a5p-6,  0x1.1f9796d193a81p-7,   -0x1.14c8ce2f56168p-8,
    0x1.1255085378e9cp-9,   -0x1.1a58050fac17bp-10, 0x1.243465fb2aeb9p-11,
    -0x1.f100ca57472dcp-13, 0x1.ef0166282dd2cp-14,  -0x1.1fcec361fad78p-13,
    0x1.418a5d363b7d3p-14,
};
/// digamma(y)/(y - r) by y - 1.75; minimax, relative error 8.2e-10.
constexpr std::array<double, 14> of_digamma = {
    0x1.b763ca6d1380bp-1,  -0x1.4e15b1993a42cp-2,  0x1.41c820778f0e2p-3,
    -0x1.510a865d29027p-4, 0x1.6f06c01501ea3p-5,   -0x1.97d9d9dd69841p-6,
    0x1.c923460930f4ep-7,  -0x1.024ca2671c561p-7,  0x1.319a681fda087p-8,
    -0x1.5ef59605ee4bcp-9, 0x1.104194e34982cp-10,  -0x1.25505826c33afp-11,
    0x1.f1f8a055e9f83p-11, -0x1.25d764cf5db6dp-11,
};
/// w(v) for v up to 2.5^-2, of lgamma; relative error of the sum 2.3e-10.
constexpr std::array<double, 4> lgamma_series = {
    0x1.55554bc7b6e67p-4,
    -0x1.6bdc5a2248e3dp-9,
    0x1.908ab02a30508p-11,
    -0x1.817fd8ca0747cp-12,
};
/// The same of digamma: 5.7e-10.
constexpr std::array<double, 4> digamma_series = {
    0x1.55551e6c20649p-4,
    -0x1.10b13f24f3c64p-7,
    0x1.ebd784696202fp-9,
    -0x1.33c85b56abfc5p-9,
};

/// The numbers that both functions are made of, of x > 0 as double.
class Gamma {
public:
    Gamma(Lanes& lanes, Value* single)
        : lanes_(lanes), real_(lanes),
          // No product of it with a logarithm is infinite.
          single_(lanes.smaller(
              lanes.number(DType::F32, std::numeric_limits<float>::max()),
              single)),
          x_(real_.doubled(single_)),
          log_(b().CreateFMul(real_.log2(single_), number(std::numbers::ln2))),
          inverse_(real_.quotient(number(1), x_)),
          is_below_1_(b().CreateFCmpOLT(x_, number(1))),
          is_in_series_(b().CreateFCmpUGE(x_, number(series_of_single_from))) {}

    Value* lgamma() {
        Value* y = below_series();
        Value* zeros = b().CreateFMul(b().CreateFSub(y, number(1)),
                                      b().CreateFSub(y, number(2)));
        Value* more =
            lanes_.select(is_below_1_, b().CreateFNeg(log_), number(0));
        Value* before = lanes_.fma(zeros, polynomial(of_lgamma, y), more);
        Value* series =
            lanes_.fma(b().CreateFSub(x_, number(0.5)), log_,
                       b().CreateFSub(number(half_log_of_2_pi), x_));
        series = lanes_.fma(in_series(lgamma_series), inverse_, series);
        return single(series, before);
    }

    Value* digamma() {
        Value* y = below_series();
        Value* less = lanes_.select(is_below_1_, inverse_, number(0));
        Value* apart = b().CreateFSub(y, number(root_of_digamma));
        Value* before =
            lanes_.fma(apart, polynomial(of_digamma, y), b().CreateFNeg(less));
        Value* series =
            lanes_.fma(in_series(digamma_series), inverse_, number(0.5));
        series = lanes_.fma(b().CreateFNeg(series), inverse_, log_);
        return single(series, before);
    }

private:
    llvm::IRBuilder<>& b() { return lanes_.b; }
    Value* number(double value) { return real_.number(value); }

    /// x or x + 1, from 1 to 2.5
    Value* below_series() {
        Value* above = b().CreateFAdd(x_, number(1));
        return lanes_.select(is_below_1_, above, x_);
    }
    Value* polynomial(std::span<const double> coefficients, Value* y) {
        return horner_of_pairs(lanes_, coefficients,
                               b().CreateFSub(y, number(middle_of_single)));
    }
    Value* in_series(std::span<const double> coefficients) {
        return horner(lanes_, coefficients, b().CreateFMul(inverse_, inverse_));
    }
    Value* single(Value* series, Value* before) {
        return lanes_.as(DType::F32,
                         lanes_.select(is_in_series_, series, before));
    }

    Lanes& lanes_;
    InDouble real_;
    Value *single_, *x_, *log_, *inverse_, *is_below_1_, *is_in_series_;
};

/// Emits near(x) where x is not below 0, and what the library has elsewhere.
Value* by_sign(Lanes& lanes, Value* x, ir::Sign sign,
               const std::function<Value*(Value*)>& near,
               const std::function<Value*()>& by_library) {
    if (ir::is_nonnegative(sign))
        return near(x);
    Value* is_near =
        lanes.b.CreateFCmpUGE(x, lanes.number(lanes.dtype_of(x), 0));
    return lanes.mostly(is_near, x, near, by_library);
}

Value* digamma_of_single(Lanes& lanes, Value* x) {
    auto& b = lanes.b;
    const auto number = [&](double value) {
        return lanes.number(DType::F32, value);
    };
    // The digamma of subnormal numbers is -1/x.
    Value* inverse = b.CreateFDiv(number(-1), x);
    Value* is_tiny = b.CreateFCmpOLT(
        lanes.absolute(x), number(double(std::numeric_limits<float>::min())));
    Value* near = lanes.select(is_tiny, inverse, Gamma(lanes, x).digamma());
    // Infinity is its own.
    return lanes.select(b.CreateFCmpOLT(x, number(INFINITY)), near, x);
}

} // namespace

Value* emit_lgamma(Lanes& lanes, const FunctionTable& functions, Value* x,
                   ir::Sign sign) {
    const DType dtype = lanes.dtype_of(x);
    const auto near = [&](Value* of) {
        if (dtype == DType::F64)
            return lgamma_of_double(lanes, of);
        return has_avx512(lanes) ? lgamma_by_pieces(lanes, of)
                                 : Gamma(lanes, of).lgamma();
    };
    return by_sign(lanes, x, sign, near, [&] {
        return call_external(lanes, functions, External::Lgamma, dtype,
                             {&x, 1});
    });
}

Value* emit_digamma(Lanes& lanes, const FunctionTable& functions, Value* x,
                    ir::Sign sign) {
    const DType dtype = lanes.dtype_of(x);
    const auto near = [&](Value* of) {
        return dtype == DType::F64 ? digamma_of_double(lanes, of)
                                   : digamma_of_single(lanes, of);
    };
    return by_sign(lanes, x, sign, near, [&] {
        Value* operands[] = {lanes.number(dtype, 0), x};
        return call_external(lanes, functions, External::Polygamma, dtype,
                             operands);
    });
}

} // namespace tilefold::llvm_backend
