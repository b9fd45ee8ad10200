// compiler/backends/llvm/lanes/power.cpp - x^y of F32, in place.
//
// |x|^y = 2^(y log2 |x|) in double: what y multiplies the error of a logarithm
// by is nothing there.

#include "compiler/backends/llvm/lanes/in_double.h"
#include "compiler/backends/llvm/lanes/math.h"

#include <cmath>

namespace tilefold::llvm_backend {
namespace {

using llvm::Value;

/// Emits a^y for a >= 0, or NaN, and a y that is not 0.
Value* power_of_magnitude(Lanes& lanes, Value* a, Value* y) {
    const InDouble real(lanes);
    Value* t = lanes.b.CreateFMul(real.log2(a), real.doubled(y));
    return lanes.as(DType::F32, real.value_of(real.power_of_two(real.held(t))));
}

/// What the sign of x makes of |x|^y: NaN, but for whole numbers y.
Value* with_sign(Lanes& lanes, Value* x, Value* y, Value* power) {
    auto& b = lanes.b;
    const auto number = [&](double value) {
        return lanes.number(DType::F32, value);
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
        return lanes.number(DType::F32, value);
    };
    Value* a = lanes.absolute(x);
    Value* power = power_of_magnitude(lanes, a, y);
    // 1 of anything, NaN included.
    Value* is_one = b.CreateOr(b.CreateFCmpOEQ(a, number(1)),
                               b.CreateFCmpOEQ(y, number(0)));
    power = lanes.select(is_one, number(1), power);
    return ir::is_nonnegative(sign) ? power : with_sign(lanes, x, y, power);
}

} // namespace tilefold::llvm_backend
