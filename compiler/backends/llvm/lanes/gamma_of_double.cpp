// compiler/backends/llvm/lanes/gamma_of_double.cpp - lgamma of F64 in place, of
// numbers that are not negative.
//
// Below 8, x is a whole number apart from 2 + t, and t from -3/4 to 1/2:
//
//   x < 1/2:    lgamma(x) = t p(t) - log(x (x + 1))      t = x
//   x < 5/4:    lgamma(x) = t p(t) - log x               t = x - 1
//   x < 8:      lgamma(x) = t p(t) + log((x - 1) … (x - n))  t = x - n - 2
//
// t is exact everywhere. Above 5/4 the logarithm would cancel much of the rest.
// From 8 on it is Stirling's series
//
//   lgamma(x) = (x - 1/2) (log x - 1) + (log(2π) - 1)/2 + w(x^-2)/x
//
// of the same logarithm, with numbers that are best from there on.

#include "compiler/backends/llvm/lanes/gamma_of_double.h"

#include "compiler/backends/llvm/lanes/math.h"
#include "compiler/backends/llvm/lanes/polynomial.h"

#include <array>

namespace tilefold::llvm_backend {
namespace {

using llvm::Value;

constexpr double lgamma_series_from = 8;
constexpr int most_factors = 6; ///< of x below 8

/// lgamma(2 + t)/t by t + 1/8, interpolated at the nodes of Chebyshev's
/// polynomial; relative error 6.8e-17.
constexpr std::array<double, 22> beside_2 = {
    0x1.8688de1676deap-2,   0x1.5c7fce9890fd2p-2,   -0x1.3692e2d40cc13p-4,
    0x1.95f08c2098d42p-6,   -0x1.37a5efd4c485bp-7,  0x1.04d810e257cbep-8,
    -0x1.cc23a5d880448p-10, 0x1.a410c7bd8c9c0p-11,  -0x1.88c6e5f3bd69bp-12,
    0x1.75b8912878336p-13,  -0x1.684e16ddd5921p-14, 0x1.5ef61c30cdb79p-15,
    -0x1.58bbdcbbb31edp-16, 0x1.54de3bb2bfc8fp-17,  -0x1.5212d01c2ed39p-18,
    0x1.51c62c3380ab8p-19,  -0x1.5db77199a6b0ep-20, 0x1.60526b3543fd6p-21,
    -0x1.11621b81a9579p-22, 0x1.14310a88e2402p-23,  -0x1.3e27bf8a4691fp-23,
    0x1.44a2494351c70p-24,
};
/// w(v) for v up to 1/64; relative error of the sum 6.4e-19.
constexpr std::array<double, 6> series_of_lgamma = {
    0x1.5555555555552p-4,   -0x1.6c16c16bb62ffp-9, 0x1.a019fd3406ec1p-11,
    -0x1.380ebd7243e1ap-11, 0x1.b6fa4852c5e16p-11, -0x1.b1382377d765dp-10,
};
constexpr double half_log_of_2_pi_less_1 = 0x1.acfe390c97d69p-2;

class GammaOfDouble {
public:
    GammaOfDouble(Lanes& lanes, Value* x) : lanes_(lanes), x_(x) {}

    Value* lgamma() {
        Value* is_large = b().CreateFCmpUGE(x_, number(lgamma_series_from));
        const Shifted near = shifted();
        Value* log = emit_logarithm(lanes_, ir::Op::Log,
                                    lanes_.select(is_large, x_, near.product),
                                    ir::Sign::NonNegative);
        Value* signed_log =
            lanes_.select(near.is_above, log, b().CreateFNeg(log));
        Value* from_middle = b().CreateFAdd(near.t, number(0.125));
        Value* before = lanes_.fma(
            near.t, horner_of_pairs(lanes_, beside_2, from_middle), signed_log);
        return lanes_.select(is_large, by_series(log), before);
    }

private:
    /// lgamma(x) = lgamma(2 + t) ± log(product)
    struct Shifted {
        Value *t, *product, *is_above;
    };

    llvm::IRBuilder<>& b() { return lanes_.b; }
    Value* number(double value) { return lanes_.number(DType::F64, value); }
    Value* less(Value* x, double by) { return b().CreateFSub(x, number(by)); }

    Shifted shifted() {
        Value* is_least = b().CreateFCmpOLT(x_, number(0.5));
        Value* is_above = b().CreateFCmpOGE(x_, number(1.25));
        Value* product = lanes_.select(is_least, lanes_.fma(x_, x_, x_),
                                       lanes_.select(is_above, number(1), x_));
        Value* t = lanes_.select(is_least, x_, less(x_, 1));
        t = lanes_.select(is_above, less(x_, 2), t);
        for (int k = 1; k <= most_factors; ++k) {
            Value* is_in = b().CreateFCmpOGE(x_, number(k + 1.5));
            Value* factor = less(x_, k);
            product =
                lanes_.select(is_in, b().CreateFMul(product, factor), product);
            t = lanes_.select(is_in, less(x_, k + 2.0), t);
        }
        return {t, product, is_above};
    }

    Value* by_series(Value* log) {
        Value* inverse = b().CreateFDiv(number(1), x_);
        Value* rest = lanes_.fma(
            inverse,
            horner(lanes_, series_of_lgamma, b().CreateFMul(inverse, inverse)),
            number(half_log_of_2_pi_less_1));
        return lanes_.fma(less(x_, 0.5), less(log, 1), rest);
    }

    Lanes& lanes_;
    Value* x_;
};

} // namespace

Value* lgamma_of_double(Lanes& lanes, Value* x) {
    return GammaOfDouble(lanes, x).lgamma();
}

} // namespace tilefold::llvm_backend
