// compiler/backends/llvm/lanes/power.cpp - x^y, in place: what is the same in
// both dtypes, and signs.

#include "compiler/backends/llvm/lanes/math.h"
#include "compiler/backends/llvm/lanes/power_of_magnitude.h"

#include <cmath>

namespace tilefold::llvm_backend {

using llvm::Value;

Value* PowerOfMagnitude::of(Value* a, Value* y) {
    Value* size = held(lanes_.absolute(y), range_.least_y, range_.most_y);
    y = b().CreateBinaryIntrinsic(llvm::Intrinsic::copysign, size, y);
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

/// What the sign of x makes of |x|^y: NaN, but for whole numbers y.
Value* with_sign(Lanes& lanes, Value* x, Value* y, Value* power) {
    auto& b = lanes.b;
    const auto number = [&](double value) {
        return lanes.number(lanes.dtype_of(x), value);
    };
    const auto is_whole = [&](Value* value) {
        return b.CreateFCmpOEQ(
            b.CreateUnaryIntrinsic(llvm::Intrinsic::trunc, value), value);
    };
    Value* whole = is_whole(y);
    Value* odd =
        b.CreateAnd(whole, b.CreateNot(is_whole(b.CreateFMul(y, number(0.5)))));
    Value* signed_ =
        b.CreateBinaryIntrinsic(llvm::Intrinsic::copysign, power, x);
    power = lanes.select(odd, signed_, power);
    Value* is_negative = b.CreateAnd(b.CreateFCmpOLT(x, number(0)),
                                     b.CreateFCmpOGT(x, number(-INFINITY)));
    return lanes.select(b.CreateAnd(is_negative, b.CreateNot(whole)),
                        number(NAN), power);
}

} // namespace

Value* emit_power(Lanes& lanes, Value* x, Value* y, ir::Sign sign) {
    auto& b = lanes.b;
    const auto number = [&](double value) {
        return lanes.number(lanes.dtype_of(x), value);
    };
    Value* a = lanes.absolute(x);
    const auto magnitude = lanes.dtype_of(x) == DType::F64
                               ? power_of_double(lanes)
                               : power_of_single(lanes);
    Value* power = magnitude->of(a, y);
    // 1 of anything, NaN included.
    Value* is_one = b.CreateOr(b.CreateFCmpOEQ(a, number(1)),
                               b.CreateFCmpOEQ(y, number(0)));
    power = lanes.select(is_one, number(1), power);
    return ir::is_nonnegative(sign) ? power : with_sign(lanes, x, y, power);
}

} // namespace tilefold::llvm_backend
