// compiler/backends/llvm/lanes/exponential_of_double.cpp - expm1 and tanh of
// F64, in place.
//
// x = n log 2 + r, r in two parts, and e^x - 1 = (2^n - 1) + 2^n (r + r² q(r)):
// the first two terms are exact and added with their rounding. tanh u is
// N/(N + 2) with N = e^2u - 1, both in two parts, of which the quotient's
// remainder takes the lower ones. cosh u is (P + 1/P)/2, and sinh u (E +
// E/P)/2, with P = e^u and E = P - 1.

#include "compiler/backends/llvm/lanes/binary_exponent.h"
#include "compiler/backends/llvm/lanes/math.h"
#include "compiler/backends/llvm/lanes/number_pair.h"
#include "compiler/backends/llvm/lanes/polynomial.h"

namespace tilefold::llvm_backend {
namespace {

using llvm::Value;

constexpr double log2_e = 0x1.71547652b82fep0;
constexpr double ln_2 = 0x1.62e42fefa39efp-1, ln_2_low = 0x1.abc9e3b39803fp-56;
/// A sum with it is a whole number, which its low bits hold.
constexpr double magic = 0x1.8p52;

class ExponentialOfDouble {
public:
    /// Prepares e^x 2^shift; x lies where that has an exponent.
    ExponentialOfDouble(Lanes& lanes, Value* x, int shift) : lanes_(lanes) {
        Value* shifted = lanes.fma(x, number(log2_e), number(magic));
        Value* n = b().CreateFSub(shifted, number(magic));
        Value* first = lanes.fma(n, number(-ln_2), x);
        Value* second = b().CreateFMul(n, number(ln_2_low));
        Value* r = b().CreateFSub(first, second);
        Value* lost = b().CreateFSub(b().CreateFSub(first, r), second);
        Value* q = horner_of_pairs(lanes, rest_of_exponential, r);
        Value* rest = lanes.fma(b().CreateFMul(r, r), q, lost);
        scale_ = power_of_two_of_bits(
            lanes, b().CreateBitCast(shifted, lanes.type(DType::I64)), shift);
        exact_ = b().CreateFMul(scale_, r);
        rest_ = b().CreateFMul(scale_, rest);
    }

    /// Returns it with a number added that is -2^shift or above 0.
    NumberPair plus(double constant) {
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

/// Halves are computed and doubled, so that the largest results have
/// exponents. Beyond `least` it is -1, beyond `most` infinite.
Value* emit_expm1(Lanes& lanes, Value* x) {
    constexpr double least = -40, most = 710, tiny = 0x1p-54;
    auto& b = lanes.b;
    const auto number = [&](double value) {
        return lanes.number(DType::F64, value);
    };
    Value* held = lanes.larger(number(least), lanes.smaller(number(most), x));
    const NumberPair half = ExponentialOfDouble(lanes, held, -1).plus(-0.5);
    Value* sum = b.CreateFAdd(half.high, half.low);
    Value* is_tiny = b.CreateFCmpOLT(lanes.absolute(x), number(tiny));
    return lanes.select(is_tiny, x, b.CreateFAdd(sum, sum));
}

Value* emit_tanh(Lanes& lanes, Value* x) {
    constexpr double most = 20; // from 19.1 on it is 1
    auto& b = lanes.b;
    Value* u = lanes.smaller(lanes.number(DType::F64, most), lanes.absolute(x));
    ExponentialOfDouble power(lanes, b.CreateFAdd(u, u), 0);
    const NumberPair result = quotient_of(lanes, power.plus(-1), power.plus(1));
    return b.CreateBinaryIntrinsic(llvm::Intrinsic::copysign,
                                   b.CreateFAdd(result.high, result.low), x);
}

/// cosh, or sinh of |x| with the sign of x. Halves are computed and doubled, so
/// that the largest results have exponents.
Value* emit_hyperbolic(Lanes& lanes, ir::Op op, Value* x) {
    constexpr double most = 710.6; // from 710.5 on it is infinite
    constexpr double large = 300;  // e^-u is nothing beside e^u
    auto& b = lanes.b;
    const auto number = [&](double value) {
        return lanes.number(DType::F64, value);
    };
    Value* u = lanes.smaller(number(most), lanes.absolute(x));
    ExponentialOfDouble power(lanes, u, -2);
    const NumberPair quarter = power.plus(0);
    const NumberPair whole = {b.CreateFMul(quarter.high, number(4)),
                              b.CreateFMul(quarter.low, number(4))};
    const bool is_sinh = op == ir::Op::Sinh;
    const NumberPair first = is_sinh ? power.plus(-0.25) : quarter;
    const NumberPair above =
        is_sinh ? first : NumberPair{number(0.25), nullptr};
    const NumberPair second = quotient_of(lanes, above, whole);
    // The first is the larger one.
    auto [high, low] = sum_of(lanes, first.high, second.high);
    low = b.CreateFAdd(low, b.CreateFAdd(first.low, second.low));
    Value* is_large = b.CreateFCmpOGT(u, number(large));
    high = lanes.select(is_large, first.high, high);
    low = lanes.select(is_large, first.low, low);
    Value* half = b.CreateFAdd(high, low);
    Value* result = b.CreateFAdd(half, half);
    return is_sinh
               ? b.CreateBinaryIntrinsic(llvm::Intrinsic::copysign, result, x)
               : result;
}

} // namespace

Value* emit_exponential_of_double(Lanes& lanes, ir::Op op, Value* x) {
    if (op == ir::Op::Expm1)
        return emit_expm1(lanes, x);
    return op == ir::Op::Tanh ? emit_tanh(lanes, x)
                              : emit_hyperbolic(lanes, op, x);
}

} // namespace tilefold::llvm_backend
