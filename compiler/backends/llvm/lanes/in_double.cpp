// compiler/backends/llvm/lanes/in_double.cpp - see in_double.h.

#include "compiler/backends/llvm/lanes/in_double.h"

#include "compiler/backends/llvm/lanes/binary_exponent.h"
#include "compiler/backends/llvm/lanes/numbers.h"
#include "compiler/backends/llvm/lanes/polynomial.h"

#include <array>
#include <cmath>
#include <cstdint>

namespace tilefold::llvm_backend {
namespace {

/// (2^f - 1)/f for |f| <= 1/2; minimax, relative error 2.4e-10.
constexpr std::array<double, 7> of_power = {
    0x1.62e42fefd32f8p-1, 0x1.ebfbe0452f80ep-3,  0x1.c6b08cb15a1d4p-5,
    0x1.3b2a1c36ec6f4p-7, 0x1.5d88bdc2d85cbp-10, 0x1.443f61a641188p-13,
    0x1.ffcbc7a035308p-17};
/// log2((1 + s)/(1 - s))/s by s²; minimax, relative error 2.7e-14.
constexpr std::array<double, 6> of_logarithm = {
    0x1.71547652b8250p+1, 0x1.ec709dc53e4b0p-1, 0x1.2776c290e7edbp-1,
    0x1.a61a30c5a707bp-2, 0x1.4794ffa2ad07dp-2, 0x1.21b604844d6b9p-2};
constexpr double farthest_power = 1000;
constexpr std::uint64_t mantissa_bits_of_double = 52, bias_of_double = 1023;

} // namespace

using llvm::Value;

Value* InDouble::number(double value) const {
    return lanes_.number(DType::F64, value);
}

Value* InDouble::doubled(Value* single) const {
    return lanes_.as(DType::F64, single);
}

/// By a quotient of F32, which is several times as fast, and one step of
/// Newton's method.
Value* InDouble::quotient(Value* numerator, Value* divisor) const {
    Value* one = lanes_.number(DType::F32, 1);
    Value* inverse =
        doubled(b().CreateFDiv(one, lanes_.as(DType::F32, divisor)));
    Value* correction = lanes_.fma(b().CreateFNeg(divisor), inverse, number(2));
    return b().CreateFMul(b().CreateFMul(numerator, inverse), correction);
}

Value* InDouble::held(Value* t) const {
    return lanes_.larger(number(-farthest_power),
                         lanes_.smaller(number(farthest_power), t));
}

/// log2(1 + m) is s q(s²) of s = m/(2 + m).
Value* InDouble::log2(Value* a) const {
    const auto single = [&](double value) {
        return lanes_.number(DType::F32, value);
    };
    auto [m, i] = split_exponent(lanes_, a);
    i = lanes_.select(b().CreateFCmpOEQ(a, single(0)), single(-INFINITY), i);
    i = lanes_.select(b().CreateFCmpOLT(a, single(INFINITY)), i, a);
    Value* numerator = doubled(m);
    Value* s = quotient(numerator, b().CreateFAdd(numerator, number(2)));
    Value* q = horner_of_pairs(lanes_, of_logarithm, b().CreateFMul(s, s));
    return lanes_.fma(s, q, doubled(i));
}

InDouble::Power InDouble::power_of_two(Value* t) const {
    Value* shifted = b().CreateFAdd(t, number(whole_of_double));
    Value* rest =
        b().CreateFSub(t, b().CreateFSub(shifted, number(whole_of_double)));
    Value* bits = b().CreateBitCast(shifted, lanes_.type(DType::I64));
    return {b().CreateFMul(rest, horner_of_pairs(lanes_, of_power, rest)),
            power_of_two_of_bits(lanes_, bits)};
}

Value* InDouble::value_of(const Power& power) const {
    return lanes_.fma(power.less_one, power.scale, power.scale);
}

Value* InDouble::inverse_scale(const Power& power) const {
    Value* bits = b().CreateBitCast(power.scale, lanes_.type(DType::I64));
    Value* of_one = llvm::ConstantInt::get(
        lanes_.type(DType::I64), bias_of_double << mantissa_bits_of_double);
    return b().CreateBitCast(b().CreateSub(b().CreateAdd(of_one, of_one), bits),
                             lanes_.type(DType::F64));
}

} // namespace tilefold::llvm_backend
