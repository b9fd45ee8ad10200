// compiler/backends/llvm/lanes/power.cpp - x^y, in place: what is the same in
// both dtypes, and signs.

#include "compiler/backends/llvm/lanes/avx512.h"
#include "compiler/backends/llvm/lanes/math.h"
#include "compiler/backends/llvm/lanes/power_of_magnitude.h"

#include <cmath>

namespace tilefold::llvm_backend {

using llvm::Value;

Value* PowerOfMagnitude::of(Value* a, Value* y) {
    Value* size = held(lanes_.absolute(y), range_.least_y, range_.most_y);
    Value* moderate =
        b().CreateBinaryIntrinsic(llvm::Intrinsic::copysign, size, y);
    y = lanes_.select(b().CreateFCmpOEQ(y, number(0)), y, moderate);
    const NumberPair log = log2(a);
    Value* high = held(b().CreateFMul(y, log.high), range_.least_power,
                       range_.most_power);
    Value* low = lanes_.fma(y, log.high, b().CreateFNeg(high));
    return power_of_two({high, held(lanes_.fma(y, log.low, low), -1, 2)});
}

Value* PowerOfMagnitude::exponent_of(Value* a, Value* e) {
    e = lanes_.select(b().CreateFCmpOEQ(a, number(0)), number(-range_.beyond),
                      e);
    return lanes_.select(b().CreateFCmpOLT(a, number(INFINITY)), e,
                         lanes_.smaller(number(range_.beyond), a));
}

Value* PowerOfMagnitude::held(Value* x, double least, double most) {
    return lanes_.larger(number(least), lanes_.smaller(number(most), x));
}

PowerOfMagnitude::Multiple
PowerOfMagnitude::multiple_of(const NumberPair& z, double magic, double most) {
    Value* shifted =
        b().CreateFAdd(b().CreateFAdd(z.high, z.low), number(magic));
    if (std::isfinite(most))
        shifted = lanes_.smaller(number(magic + most), shifted);
    Value* nearest = b().CreateFSub(shifted, number(magic));
    Value* f = b().CreateFAdd(b().CreateFSub(z.high, nearest), z.low);
    const DType words = range_.dtype == DType::F64 ? DType::I64 : DType::I32;
    return {b().CreateBitCast(shifted, lanes_.type(words)), nearest, f};
}

namespace {

/// x^y, where the power is not just that of |x|.
class SpecialPower {
public:
    SpecialPower(Lanes& lanes, Value* x, Value* y)
        : lanes_(lanes), x_(x), y_(y), y_is_whole_(is_whole(y)),
          y_decides_(b().CreateFCmpUEQ(y, number(0))) {}

    /// Whether value() is the power: x^0 and 1^y are 1, whatever the other
    /// number is, and finite numbers below 0 have whole powers only.
    Value* is_special(Value* a, ir::Sign sign) {
        Value* decided =
            b().CreateAnd(y_decides_, b().CreateFCmpUNE(a, number(1)));
        if (ir::is_nonnegative(sign))
            return decided;
        return b().CreateOr(decided,
                            b().CreateAnd(is_negative_number(lanes_, x_),
                                          b().CreateNot(y_is_whole_)));
    }

    Value* value() {
        return lanes_.select(b().CreateFCmpOEQ(y_, number(0)), number(1),
                             number(NAN));
    }

    /// y where it matters, else 0.
    Value* exponent() { return lanes_.select(y_decides_, number(0), y_); }

    /// The power of |x| with its sign: that of x where y is odd.
    Value* with_sign(Value* power) {
        Value* y_is_odd = b().CreateAnd(
            y_is_whole_,
            b().CreateNot(is_whole(b().CreateFMul(y_, number(0.5)))));
        Value* mask = bits(lanes_.select(y_is_odd, number(-0.0), number(0)));
        return b().CreateBitCast(
            b().CreateXor(bits(power), b().CreateAnd(bits(x_), mask)),
            power->getType());
    }

private:
    llvm::IRBuilder<>& b() { return lanes_.b; }
    Value* number(double value) {
        return lanes_.number(lanes_.dtype_of(x_), value);
    }
    Value* bits(Value* value) {
        const bool is_wide = lanes_.dtype_of(x_) == DType::F64;
        return b().CreateBitCast(
            value, lanes_.type(is_wide ? DType::I64 : DType::I32));
    }
    Value* is_whole(Value* value) {
        return b().CreateFCmpOEQ(
            b().CreateUnaryIntrinsic(llvm::Intrinsic::trunc, value), value);
    }

    Lanes& lanes_;
    Value *x_, *y_;
    Value* y_is_whole_;
    Value* y_decides_; ///< it is 0, or NaN
};

} // namespace

/// What is made of a uniform y alone is made once. Then special powers are put
/// in the place of |x|, so that only its sign waits for the power; else in the
/// place of the power, so that the logarithm depends on x alone.
Value* emit_power(Lanes& lanes, Value* x, Value* y, ir::Sign sign,
                  bool is_uniform) {
    const auto magnitude = lanes.dtype_of(x) == DType::F64
                               ? power_of_double(lanes)
                               : power_of_single(lanes);
    SpecialPower special(lanes, x, y);
    Value* a = lanes.absolute(x);
    Value* is_special = special.is_special(a, sign);
    if (is_uniform)
        a = lanes.select(is_special, special.value(), a);
    Value* power = magnitude->of(a, special.exponent());
    if (!is_uniform)
        power = lanes.select(is_special, special.value(), power);
    return ir::is_nonnegative(sign) ? power : special.with_sign(power);
}

} // namespace tilefold::llvm_backend
