// compiler/backends/llvm/lanes/exponential_pair.cpp - see exponential_pair.h.
//
// x = n log 2 + r, r in two parts, and e^x - 1 = (2^n - 1) + 2^n (r + r² q(r)):
// the first two terms are exact and added with their rounding.
//
// On AVX-512, x = n (log 2)/16 + D + r, and e^x = S (1 + p), p = r + r² q(r),
// with S = 2^((n - k)/16) T: k is the last four bits of n, T has the first 20
// bits of 2^(k/16), and D is what its logarithm is more than k (log 2)/16. The
// sum of S and a number is exact but where S is large or small, q is short, and
// p may be rounded, since it is small.

#include "compiler/backends/llvm/lanes/exponential_pair.h"

#include "compiler/backends/llvm/lanes/avx512.h"
#include "compiler/backends/llvm/lanes/binary_exponent.h"
#include "compiler/backends/llvm/lanes/numbers.h"
#include "compiler/backends/llvm/lanes/piece_choice.h"
#include "compiler/backends/llvm/lanes/polynomial.h"

#include <array>
#include <numbers>

namespace tilefold::llvm_backend {
namespace {

using llvm::Value;

/// (log 2)/16 in two parts, 2^(k/16) to 20 bits, and what its logarithm is more
/// than k (log 2)/16.
constexpr double sixteenth = 0x1.62e42fefp-5,
                 sixteenth_low = 0x1.473de6af278edp-38;
constexpr std::array<double, 16> sixteenths = {
    0x1p0,       0x1.0b558p0, 0x1.172b8p0, 0x1.2387ap0,
    0x1.306fep0, 0x1.3dea6p0, 0x1.4bfdap0, 0x1.5ab08p0,
    0x1.6a09ep0, 0x1.7a114p0, 0x1.8ace6p0, 0x1.9c492p0,
    0x1.ae8ap0,  0x1.c199cp0, 0x1.d5818p0, 0x1.ea4bp0};
constexpr std::array<double, 16> of_sixteenths = {0,
                                                  -0x1.a16b1b3ebe462p-22,
                                                  -0x1.bbc0ceba37fb1p-23,
                                                  -0x1.83fc73454cebfp-22,
                                                  -0x1.1250015761931p-25,
                                                  -0x1.ea0c14c2cd638p-23,
                                                  -0x1.48d13b22265efp-21,
                                                  0x1.9a2c5b6dd05f4p-24,
                                                  -0x1.21e7c52134643p-22,
                                                  -0x1.39f71838aa85fp-22,
                                                  0x1.ec5df56ee9fdcp-22,
                                                  0x1.375b8a3f064ccp-22,
                                                  0x1.e843fda5ced1ap-23,
                                                  0x1.3a1dc164964e4p-24,
                                                  -0x1.e1f7a7c12c7ddp-22,
                                                  0x1.85f6337862c14p-23};
/// (e^r - 1 - r)/r² for |r| <= 1/16: interpolated at the nodes of Chebyshev's
/// polynomial, relative error of e^r - 1 2^-56; below, r is x.
constexpr double small = 0x1p-4;
constexpr std::array<double, 7> short_rest = {
    0x1.0000000000000p-1, 0x1.55555555557e9p-3,  0x1.555555555565dp-5,
    0x1.111110fc94028p-7, 0x1.6c16c15bb2c03p-10, 0x1.a0242f6a3a31bp-13,
    0x1.a022263dd424fp-16};

class ByPolynomial : public ExponentialPair {
public:
    ByPolynomial(Lanes& lanes, Value* x, int shift) : lanes_(lanes) {
        Value* shifted =
            lanes.fma(x, number(std::numbers::log2e), number(whole_of_double));
        Value* n = b().CreateFSub(shifted, number(whole_of_double));
        Value* first = lanes.fma(n, number(-ln_2_of_double.high), x);
        Value* second = b().CreateFMul(n, number(ln_2_of_double.low));
        Value* r = b().CreateFSub(first, second);
        Value* lost = b().CreateFSub(b().CreateFSub(first, r), second);
        Value* q = horner_of_pairs(lanes, rest_of_exponential, r);
        Value* rest = lanes.fma(b().CreateFMul(r, r), q, lost);
        scale_ = power_of_two_of_bits(
            lanes, b().CreateBitCast(shifted, lanes.type(DType::I64)), shift);
        exact_ = b().CreateFMul(scale_, r);
        rest_ = b().CreateFMul(scale_, rest);
    }

    NumberPair plus(double constant) override {
        const auto [whole, lost] = sum_of(lanes_, scale_, number(constant));
        const auto [high, low] = sum_of(lanes_, whole, exact_);
        return sum_of(lanes_, high,
                      b().CreateFAdd(b().CreateFAdd(low, lost), rest_));
    }

private:
    llvm::IRBuilder<>& b() { return lanes_.b; }
    Value* number(double value) { return lanes_.number(DType::F64, value); }

    Lanes& lanes_;
    Value *scale_, *exact_, *rest_;
};

class ByTable : public ExponentialPair {
public:
    ByTable(Lanes& lanes, Value* x, int shift) : lanes_(lanes) {
        // The power's exponent is counted in sixteenths, too.
        Value* moved = number(whole_of_double + 16 * shift);
        // Digits of e^x - 1 are counted from its own first one: r is x where
        // rounding it would cost some.
        Value* is_small = b().CreateFCmpOLT(lanes.absolute(x), number(small));
        Value* shifted =
            lanes.select(is_small, moved,
                         lanes.fma(x, number(16 * std::numbers::log2e), moved));
        Value* n = b().CreateFSub(shifted, moved);
        Value* bits = b().CreateBitCast(shifted, lanes.type(DType::I64));
        const PieceChoice choice(lanes, bits);
        Value* first = lanes.fma(n, number(-sixteenth), x);
        Value* second =
            lanes.fma(n, number(sixteenth_low), choice.of(of_sixteenths));
        r_ = b().CreateFSub(first, second);
        Value* q = horner_of_pairs(lanes, short_rest, r_);
        rest_ = b().CreateFMul(b().CreateFMul(r_, r_), q);
        scale_ = times_fractional_power(lanes, choice.of(sixteenths), bits, 4);
    }

    NumberPair plus(double constant) override {
        if (constant == 0)
            return with_product(scale_);
        Value* whole = b().CreateFAdd(scale_, number(constant));
        Value* lost =
            b().CreateFSub(number(constant), b().CreateFSub(whole, scale_));
        const auto [high, low] = with_product(whole);
        return {high, b().CreateFAdd(low, lost)};
    }

private:
    llvm::IRBuilder<>& b() { return lanes_.b; }
    Value* number(double value) { return lanes_.number(DType::F64, value); }

    /// Returns whole + S (r + rest).
    NumberPair with_product(Value* whole) {
        Value* high = lanes_.fma(scale_, b().CreateFAdd(r_, rest_), whole);
        Value* low = lanes_.fma(scale_, r_, b().CreateFSub(whole, high));
        return {high, lanes_.fma(scale_, rest_, low)};
    }

    Lanes& lanes_;
    Value *scale_, *r_, *rest_;
};

} // namespace

std::unique_ptr<ExponentialPair> exponential_pair(Lanes& lanes, Value* x,
                                                  int shift) {
    if (has_avx512(lanes))
        return std::make_unique<ByTable>(lanes, x, shift);
    return std::make_unique<ByPolynomial>(lanes, x, shift);
}

} // namespace tilefold::llvm_backend
