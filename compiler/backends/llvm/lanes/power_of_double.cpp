// compiler/backends/llvm/lanes/power_of_double.cpp - powers of F64.
//
// With a = 2^i (1 + m), s = m/(2 + m) and z = s²,
//   log2(1 + m) = c s (1 + z/3 + z² R(z)),  c = 2/ln 2,
// where s, z/3 and the products with them are sums of two numbers: the error is
// 2^-64 of the logarithm. What the product with y has beside a whole number is
// the argument of a polynomial.
//
// AVX-512 has instructions that take a number apart, a subnormal one too, and
// put it together, out of range too.

#include "compiler/backends/llvm/lanes/avx512.h"
#include "compiler/backends/llvm/lanes/binary_exponent.h"
#include "compiler/backends/llvm/lanes/polynomial.h"
#include "compiler/backends/llvm/lanes/power_of_magnitude.h"

#include <array>
#include <cmath>

namespace tilefold::llvm_backend {
namespace {

using llvm::Value;

/// (atanh(s)/s - 1 - z/3)/z², fitted at the nodes of Chebyshev's polynomial: z²
/// times its error is 2^-69.
constexpr std::array<double, 8> of_fourth = {
    0x1.999999999999ap-3, 0x1.24924924922fdp-3, 0x1.c71c71c74ccd0p-4,
    0x1.745d173c97e37p-4, 0x1.3b13a9eb0b3e2p-4, 0x1.11154a93dc1bfp-4,
    0x1.e01ac5d0ee9a1p-5, 0x1.da97c9d54cbd6p-5,
};
constexpr double root_of_2 = 0x1.6a09e667f3bcdp+0;
constexpr double third = 0x1.5555555555555p-2,
                 third_low = 0x1.5555555555555p-56;
constexpr double slope = 0x1.71547652b82fep+1,
                 slope_low = 0x1.777d0ffda0d24p-55;

class PowerOfDouble final : public PowerOfMagnitude {
public:
    explicit PowerOfDouble(Lanes& lanes) : PowerOfMagnitude(lanes, range) {}

private:
    static constexpr Range range = {DType::F64, 0x1p-200, 0x1p100,
                                    0x1p300,    -1022,    1023};

    /// a = 2^i (1 + m)
    BinaryExponent parts_of(Value* a) {
        if (!has_avx512(lanes_)) {
            const auto [m, i] = split_exponent(lanes_, a);
            return {m, exponent_of(a, i)};
        }
        Value* mantissa = mantissa_from_one(lanes_, a);
        Value* i = llvm_backend::exponent_of(lanes_, a);
        Value* is_large = b().CreateFCmpOGT(mantissa, number(root_of_2));
        mantissa = lanes_.select(
            is_large, b().CreateFMul(mantissa, number(0.5)), mantissa);
        i = lanes_.select(is_large, b().CreateFAdd(i, number(1)), i);
        return {b().CreateFSub(mantissa, number(1)), held_exponent(i)};
    }

    /// s = m/(2 + m)
    NumberPair quotient(Value* m) {
        return quotient_of(lanes_, {m, nullptr}, sum_of(lanes_, number(2), m));
    }

    /// z/3 + z² R(z)
    NumberPair series(const NumberPair& s) {
        NumberPair z = product_of(lanes_, s.high, s.high);
        z.low = lanes_.fma(b().CreateFAdd(s.high, s.high), s.low, z.low);
        NumberPair all = product_of(lanes_, z.high, number(third));
        all.low = lanes_.fma(z.high, number(third_low), all.low);
        all.low = lanes_.fma(z.low, number(third), all.low);
        Value* square = b().CreateFMul(z.high, z.high);
        all.low = lanes_.fma(square, horner_of_pairs(lanes_, of_fourth, z.high),
                             all.low);
        return all;
    }

    NumberPair log2(Value* a) override {
        const auto [m, i] = parts_of(a);
        const NumberPair s = quotient(m);
        const NumberPair more = series(s);
        NumberPair added = product_of(lanes_, s.high, more.high);
        added.low = lanes_.fma(s.high, more.low, added.low);
        added.low = lanes_.fma(s.low, more.high, added.low);
        NumberPair whole = sum_of(lanes_, s.high, added.high);
        whole.low = b().CreateFAdd(whole.low, b().CreateFAdd(s.low, added.low));
        NumberPair log = product_of(lanes_, whole.high, number(slope));
        log.low = lanes_.fma(whole.high, number(slope_low), log.low);
        log.low = lanes_.fma(whole.low, number(slope), log.low);
        const NumberPair both = sum_of(lanes_, i, log.high);
        return {both.high, b().CreateFAdd(both.low, log.low)};
    }

    /// The last whole number below 1024 is for all above it, too: 2^1024 is no
    /// number.
    Value* power_of_two(const NumberPair& z) override {
        const bool by_exponent = has_avx512(lanes_);
        const auto [bits, nearest, f] =
            multiple_of(z, 0x1.8p52, by_exponent ? INFINITY : 1023);
        Value* q = horner_of_pairs(lanes_, rest_of_power_of_two, f);
        Value* power = lanes_.fma(f, q, number(1));
        return by_exponent
                   ? times_power_of_two(lanes_, power, nearest)
                   : b().CreateFMul(power, power_of_two_of_bits(lanes_, bits));
    }
};

} // namespace

std::unique_ptr<PowerOfMagnitude> power_of_double(Lanes& lanes) {
    return std::make_unique<PowerOfDouble>(lanes);
}

} // namespace tilefold::llvm_backend
