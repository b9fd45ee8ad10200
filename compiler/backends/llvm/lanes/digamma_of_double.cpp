// compiler/backends/llvm/lanes/digamma_of_double.cpp - digamma of F64 in place,
// of numbers that are not negative.
//
// Below 8, x is a whole number apart from z, which is from 1 to 9/4:
//
//   x < 1:   digamma(x) = digamma(z) - 1/x                          z = x + 1
//   x < 8:   digamma(x) = digamma(z) + 1/(x - 1) + … + 1/(x - n)    z = x - n
//
// where digamma(z) is (z - r) p(z), r its root in two parts, and the sum of
// inverses one fraction, whose division is the only one. From 8 on
//
//   digamma(x) = log x - 1/(2x) - w(x^-2)/x²
//
// with numbers that are best from there on. (DLMF 5.5.2, 5.11.2.)

#include "compiler/backends/llvm/lanes/gamma_of_double.h"

#include "compiler/backends/llvm/lanes/math.h"
#include "compiler/backends/llvm/lanes/polynomial.h"

#include <array>
#include <cstddef>
#include <span>

namespace tilefold::llvm_backend {
namespace {

using llvm::Value;

constexpr double digamma_series_from = 8, middle_of_double = 1.625;
constexpr int most_inverses = 6; ///< of x below 8
constexpr double root_high = 0x1.762d86356be3fp+0,
                 root_low = 0x1.b86a722197829p-54;

/// digamma(z)/(z - r) by z - 13/8, interpolated at the nodes of Chebyshev's
/// polynomial; relative error 2^-54.
constexpr std::array<double, 25> beside_root = {
    0x1.cd9d88c399e19p-1,   -0x1.7aa649cce5856p-2,  0x1.8ab0d9438dfacp-3,
    -0x1.bf4556b33bd2fp-4,  0x1.0738222bc672bp-4,   -0x1.3bdd9fa2ad6c5p-5,
    0x1.7f10ac38cfc9ep-6,   -0x1.d35ab38a09027p-7,  0x1.1e17d3b9cb0abp-7,
    -0x1.5efe395101419p-8,  0x1.af26ee9a83cefp-9,   -0x1.0902f1f417704p-9,
    0x1.45edf49cf5f4ep-10,  -0x1.90ddab48eca7ep-11, 0x1.ed3c881030509p-12,
    -0x1.30900d0c808c5p-12, 0x1.76ce8ec2c5bfbp-13,  -0x1.bcf02b4f97d91p-14,
    0x1.11cbf20be6476p-14,  -0x1.a3209529c4628p-15, 0x1.01ebcfc85d32cp-15,
    -0x1.a85002c1c4615p-19, 0x1.051bb7e7e0c6fp-19,  -0x1.0a3792b4873d9p-16,
    0x1.47a6c1aeafa7bp-17};
/// w(v) for v up to 1/64; relative error of the sum 2^-63.
constexpr std::array<double, 7> series_of_digamma = {
    0x1.5555555555555p-4,  -0x1.11111111095e6p-7, 0x1.041040c62923cp-8,
    -0x1.1110b33fc17d6p-8, 0x1.f037df4b69ba2p-8,  -0x1.531da6b6dedbfp-6,
    0x1.0497fbf0fa8abp-4};

class Digamma {
public:
    Digamma(Lanes& lanes, Value* x) : lanes_(lanes), x_(x) {}

    Value* value() {
        Value* is_large = b().CreateFCmpUGE(x_, number(digamma_series_from));
        const Shifted near = shifted();
        Value* quotient =
            b().CreateFDiv(lanes_.select(is_large, number(1), near.numerator),
                           lanes_.select(is_large, x_, near.divisor));
        Value* before =
            lanes_.fma(near.from_root, by_polynomial(near.from_root), quotient);
        return lanes_.select(is_large, by_series(quotient), before);
    }

private:
    /// digamma(x) = digamma(r + from_root) + numerator/divisor
    struct Shifted {
        Value *from_root, *numerator, *divisor;
    };

    llvm::IRBuilder<>& b() { return lanes_.b; }
    Value* number(double value) { return lanes_.number(DType::F64, value); }

    Shifted shifted() {
        Value* is_below = b().CreateFCmpOLT(x_, number(1));
        Value* numerator = lanes_.select(is_below, number(-1), number(0));
        Value* divisor = lanes_.select(is_below, x_, number(1));
        Value* whole =
            lanes_.select(is_below, number(root_high - 1), number(root_high));
        for (int k = 1; k <= most_inverses; ++k) {
            Value* is_in = b().CreateFCmpOGE(x_, number(k + 1.25));
            Value* factor = b().CreateFSub(x_, number(k));
            numerator = lanes_.select(
                is_in, lanes_.fma(numerator, factor, divisor), numerator);
            divisor =
                lanes_.select(is_in, b().CreateFMul(divisor, factor), divisor);
            whole = lanes_.select(is_in, number(k), whole);
        }
        // x less n, then less the root, each exact.
        Value* is_above = b().CreateFCmpOGE(x_, number(2.25));
        Value* first = b().CreateFSub(x_, whole);
        Value* from_root = lanes_.select(
            is_above, b().CreateFSub(first, number(root_high)), first);
        return {b().CreateFSub(from_root, number(root_low)), numerator,
                divisor};
    }

    /// digamma(z)/(z - r). Most of the error is that of the last terms, which
    /// are added one by one.
    Value* by_polynomial(Value* from_root) {
        constexpr std::size_t last = 3;
        Value* s =
            b().CreateFAdd(from_root, number(root_high - middle_of_double));
        const std::span<const double> all = beside_root;
        Value* sum = horner_of_pairs(lanes_, all.subspan(last), s);
        for (std::size_t k = last; k-- > 0;)
            sum = lanes_.fma(sum, s, number(all[k]));
        return sum;
    }

    Value* by_series(Value* inverse) {
        Value* square = b().CreateFMul(inverse, inverse);
        Value* rest =
            lanes_.fma(square, horner(lanes_, series_of_digamma, square),
                       b().CreateFMul(inverse, number(0.5)));
        Value* log =
            emit_logarithm(lanes_, ir::Op::Log, x_, ir::Sign::NonNegative);
        return b().CreateFSub(log, rest);
    }

    Lanes& lanes_;
    Value* x_;
};

} // namespace

Value* digamma_of_double(Lanes& lanes, Value* x) {
    return Digamma(lanes, x).value();
}

} // namespace tilefold::llvm_backend
