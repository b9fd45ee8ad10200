// compiler/backends/llvm/lanes/exponential_of_double.cpp - expm1 and tanh of
// F64, in place.
//
// x = n log 2 + r, r in two parts, and e^x - 1 = (2^n - 1) + 2^n (r + r² q(r)):
// the first two terms are exact and added with their rounding. tanh u is
// N/(N + 2) with N = e^2u - 1, both in two parts, of which the quotient's
// remainder takes the lower ones.

#include "compiler/backends/llvm/lanes/math.h"
#include "compiler/backends/llvm/lanes/polynomial.h"

#include <array>
#include <cmath>
#include <cstdint>

namespace tilefold::llvm_backend {
namespace {

using llvm::Value;

constexpr double log2_e = 0x1.71547652b82fep0;
constexpr double ln_2 = 0x1.62e42fefa39efp-1, ln_2_low = 0x1.abc9e3b39803fp-56;
/// A sum with it is a whole number, which its low bits hold.
constexpr double magic = 0x1.8p52;
constexpr std::uint64_t mantissa_bits = 52, bias = 1023;

/// (e^r - 1 - r)/r² for |r| <= log(2)/2: interpolated at the nodes of
/// Chebyshev's polynomial, relative error of e^r - 1 2^-59.
constexpr std::array<double, 12> of_rest = {
    0x1.0000000000000p-1,  0x1.5555555555555p-3,  0x1.5555555555557p-5,
    0x1.1111111111111p-7,  0x1.6c16c16c15a0ap-10, 0x1.a01a01a01967ap-13,
    0x1.a01a01aa109bbp-16, 0x1.71de3a5abc8c6p-19, 0x1.27e4d3b13855fp-22,
    0x1.ae642c13c8d5fp-26, 0x1.1f7fe7ae52b10p-29, 0x1.61c0771ef2dc6p-33,
};

/// A number as a sum: `low` is not half a unit of `high`.
struct Sum {
    Value *high, *low;
};

class ExponentialOfDouble {
public:
    /// Of e^x 2^shift; x lies where that has an exponent.
    ExponentialOfDouble(Lanes& lanes, Value* x, int shift) : lanes_(lanes) {
        Value* shifted = lanes.fma(x, number(log2_e), number(magic));
        Value* n = b().CreateFSub(shifted, number(magic));
        Value* first = lanes.fma(n, number(-ln_2), x);
        Value* second = b().CreateFMul(n, number(ln_2_low));
        Value* r = b().CreateFSub(first, second);
        Value* lost = b().CreateFSub(b().CreateFSub(first, r), second);
        Value* q = horner_of_pairs(lanes, of_rest, r);
        Value* rest = lanes.fma(b().CreateFMul(r, r), q, lost);
        llvm::Type* words = lanes.type(DType::I64);
        Value* exponent =
            b().CreateShl(b().CreateBitCast(shifted, words), mantissa_bits);
        const std::uint64_t one = (bias + std::uint64_t(std::int64_t(shift)))
                                  << mantissa_bits;
        scale_ = b().CreateBitCast(
            b().CreateAdd(exponent, llvm::ConstantInt::get(words, one)),
            lanes.type(DType::F64));
        exact_ = b().CreateFMul(scale_, r);
        rest_ = b().CreateFMul(scale_, rest);
    }

    /// Returns it with a number added that is -2^shift or above 0.
    Sum plus(double constant) {
        const auto [whole, lost] = sum(scale_, number(constant));
        const auto [high, low] = sum(whole, exact_);
        return sum(high, b().CreateFAdd(b().CreateFAdd(low, lost), rest_));
    }

private:
    llvm::IRBuilder<>& b() { return lanes_.b; }
    Value* number(double value) { return lanes_.number(DType::F64, value); }
    /// Of two numbers, of which the first is the larger one, or 0. (Dekker,
    /// 1971.)
    Sum sum(Value* larger, Value* smaller) {
        Value* high = b().CreateFAdd(larger, smaller);
        return {high, b().CreateFSub(smaller, b().CreateFSub(high, larger))};
    }

    Lanes& lanes_;
    Value *scale_, *exact_, *rest_;
};

Value* absolute(Lanes& lanes, Value* x) {
    return lanes.b.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, x);
}

/// Halves are computed and doubled, so that the largest results have
/// exponents. Beyond `least` it is -1, beyond `most` infinite.
Value* emit_expm1(Lanes& lanes, Value* x) {
    constexpr double least = -40, most = 710, tiny = 0x1p-54;
    auto& b = lanes.b;
    const auto number = [&](double value) {
        return lanes.number(DType::F64, value);
    };
    Value* held = lanes.larger(number(least), lanes.smaller(number(most), x));
    const Sum half = ExponentialOfDouble(lanes, held, -1).plus(-0.5);
    Value* sum = b.CreateFAdd(half.high, half.low);
    Value* is_tiny = b.CreateFCmpOLT(absolute(lanes, x), number(tiny));
    return lanes.select(is_tiny, x, b.CreateFAdd(sum, sum));
}

Value* emit_tanh(Lanes& lanes, Value* x) {
    constexpr double most = 20; // from 19.1 on it is 1
    auto& b = lanes.b;
    const auto number = [&](double value) {
        return lanes.number(DType::F64, value);
    };
    Value* u = lanes.smaller(number(most), absolute(lanes, x));
    ExponentialOfDouble power(lanes, b.CreateFAdd(u, u), 0);
    const Sum above = power.plus(-1), below = power.plus(1);
    Value* inverse = b.CreateFDiv(number(1), below.high);
    Value* quotient = b.CreateFMul(above.high, inverse);
    Value* opposite = b.CreateFNeg(quotient);
    Value* left = b.CreateFAdd(lanes.fma(opposite, below.high, above.high),
                               lanes.fma(opposite, below.low, above.low));
    Value* result = lanes.fma(left, inverse, quotient);
    return b.CreateBinaryIntrinsic(llvm::Intrinsic::copysign, result, x);
}

} // namespace

Value* emit_exponential_of_double(Lanes& lanes, ir::Op op, Value* x) {
    return op == ir::Op::Tanh ? emit_tanh(lanes, x) : emit_expm1(lanes, x);
}

} // namespace tilefold::llvm_backend
