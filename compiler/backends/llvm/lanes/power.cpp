// compiler/backends/llvm/lanes/power.cpp - x^y of F32, in place.
//
// |x|^y = 2^(y log2 |x|) in double, two vectors for one: what y multiplies the
// error of a logarithm by is nothing there. log2(1 + m) is s q(s²) of s =
// m/(2 + m), for which a quotient of F32 is corrected once. All operations are
// those of any instruction set.

#include "compiler/backends/llvm/lanes/binary_exponent.h"
#include "compiler/backends/llvm/lanes/math.h"
#include "compiler/backends/llvm/lanes/polynomial.h"

#include <array>
#include <cmath>
#include <cstdint>

namespace tilefold::llvm_backend {
namespace {

using llvm::Value;

/// log2((1 + s)/(1 - s))/s by s²; minimax, relative error 2.7e-14.
constexpr std::array<double, 6> of_logarithm = {
    0x1.71547652b8250p+1, 0x1.ec709dc53e4b0p-1, 0x1.2776c290e7edbp-1,
    0x1.a61a30c5a707bp-2, 0x1.4794ffa2ad07dp-2, 0x1.21b604844d6b9p-2};
/// 2^f for |f| <= 1/2; minimax, relative error 4.1e-11.
constexpr std::array<double, 8> of_power = {
    0x1.ffffffffabbccp-1,  0x1.62e42ff11627ap-1, 0x1.ebfbe0a4be886p-3,
    0x1.c6b08aaf3156ep-5,  0x1.3b29dc40d2ec5p-7, 0x1.5d8a7085cddb8p-10,
    0x1.446a1fdd54f3ap-13, 0x1.fe1786b50da52p-17};

class Power {
public:
    explicit Power(Lanes& lanes) : lanes_(lanes) {}

    /// Emits a^y for a >= 0, or NaN, and a y that is not 0.
    Value* of_magnitude(Value* a, Value* y) {
        Value* t = b().CreateFMul(logarithm(a), doubled(y));
        constexpr double far = 1000; // beyond which F32 has infinity, or 0
        t = lanes_.larger(number(-far), lanes_.smaller(number(far), t));
        return lanes_.as(DType::F32, power_of_two(t));
    }

private:
    llvm::IRBuilder<>& b() { return lanes_.b; }
    Value* number(double value) { return lanes_.number(DType::F64, value); }
    Value* single(double value) { return lanes_.number(DType::F32, value); }
    Value* doubled(Value* value) { return lanes_.as(DType::F64, value); }

    Value* logarithm(Value* a) {
        auto [m, i] = split_exponent(lanes_, a);
        i = lanes_.select(b().CreateFCmpOEQ(a, single(0)), single(-INFINITY),
                          i);
        i = lanes_.select(b().CreateFCmpOLT(a, single(INFINITY)), i, a);
        Value* near = b().CreateFDiv(single(1), b().CreateFAdd(m, single(2)));
        Value* inverse = doubled(near);
        Value* numerator = doubled(m);
        Value* divisor = b().CreateFAdd(numerator, number(2));
        Value* correction =
            lanes_.fma(b().CreateFNeg(divisor), inverse, number(2));
        Value* s =
            b().CreateFMul(b().CreateFMul(numerator, inverse), correction);
        Value* square = b().CreateFMul(s, s);
        return lanes_.fma(s, horner_of_pairs(lanes_, of_logarithm, square),
                          doubled(i));
    }

    /// NaN for NaN: the power is multiplied in, not added to the bits.
    Value* power_of_two(Value* t) {
        constexpr double to_whole = 0x1.8p52;
        constexpr std::uint64_t mantissa_bits = 52, bias = 1023;
        llvm::Type* words = llvm::FixedVectorType::get(
            b().getInt64Ty(), unsigned(lanes_.width()));
        Value* shifted = b().CreateFAdd(t, number(to_whole));
        Value* rest =
            b().CreateFSub(t, b().CreateFSub(shifted, number(to_whole)));
        Value* exponent =
            b().CreateShl(b().CreateBitCast(shifted, words), mantissa_bits);
        exponent = b().CreateAdd(
            exponent, llvm::ConstantInt::get(words, bias << mantissa_bits));
        return b().CreateFMul(
            horner_of_pairs(lanes_, of_power, rest),
            b().CreateBitCast(exponent, lanes_.type(DType::F64)));
    }

    Lanes& lanes_;
};

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
    Value* a = b.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, x);
    Value* power = Power(lanes).of_magnitude(a, y);
    // 1 of anything, NaN included.
    Value* is_one = b.CreateOr(b.CreateFCmpOEQ(a, number(1)),
                               b.CreateFCmpOEQ(y, number(0)));
    power = lanes.select(is_one, number(1), power);
    return sign == ir::Sign::NonNegative ? power
                                         : with_sign(lanes, x, y, power);
}

} // namespace tilefold::llvm_backend
