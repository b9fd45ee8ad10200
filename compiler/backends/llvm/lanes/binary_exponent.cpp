// compiler/backends/llvm/lanes/binary_exponent.cpp - see binary_exponent.h.

#include "compiler/backends/llvm/lanes/binary_exponent.h"

#include <cmath>
#include <cstdint>

namespace tilefold::llvm_backend {

using llvm::Value;

namespace {

/// How a dtype holds its numbers.
struct Format {
    DType words;
    int mantissa_bits, bias;
    std::uint64_t root_of_half, exponent_bits;
};
constexpr Format format_of_f32{DType::I32, 23, 127, 0x3f3504f3, 0xff800000};
constexpr Format format_of_f64{DType::I64, 52, 1023, 0x3fe6a09e667f3bcd,
                               0xfff0000000000000};

/// Returns the whole number that is in the exponent's place. AVX2 converts
/// none of 64 bits: those are the low bits of a sum with 2^52, then.
Value* exponent_as_number(Lanes& lanes, const Format& format, Value* exponent) {
    auto& b = lanes.b;
    llvm::Type* words = lanes.type(format.words);
    if (format.words == DType::I32)
        return b.CreateFMul(
            b.CreateSIToFP(exponent, lanes.type(DType::F32)),
            lanes.number(DType::F32, std::ldexp(1.0, -format.mantissa_bits)));
    const std::uint64_t bias = std::uint64_t(format.bias);
    Value* biased = b.CreateLShr(
        b.CreateAdd(exponent, llvm::ConstantInt::get(words, bias << 52)), 52);
    constexpr std::uint64_t bits_of_2_52 = 0x4330000000000000;
    Value* sum = b.CreateBitCast(
        b.CreateOr(biased, llvm::ConstantInt::get(words, bits_of_2_52)),
        lanes.type(DType::F64));
    return b.CreateFSub(sum, lanes.number(DType::F64, 0x1p52 + format.bias));
}

} // namespace

/// By the bits of x less those of sqrt(1/2). Subnormal numbers are multiplied
/// first, since their bits are no exponent.
BinaryExponent split_exponent(Lanes& lanes, Value* x) {
    auto& b = lanes.b;
    const DType dtype = lanes.dtype_of(x);
    const Format& format = dtype == DType::F32 ? format_of_f32 : format_of_f64;
    llvm::Type* words = lanes.type(format.words);
    const auto number = [&](double value) {
        return lanes.number(dtype, value);
    };
    const auto whole = [&](std::uint64_t value) {
        return llvm::ConstantInt::get(words, value);
    };
    const double least_normal = std::ldexp(1.0, 1 - format.bias);
    const double raise = std::ldexp(1.0, format.mantissa_bits);
    Value* is_tiny = b.CreateFCmpOLT(x, number(least_normal));
    x = lanes.select(is_tiny, b.CreateFMul(x, number(raise)), x);
    Value* bits = b.CreateBitCast(x, words);
    Value* exponent = b.CreateAnd(b.CreateSub(bits, whole(format.root_of_half)),
                                  whole(format.exponent_bits));
    Value* mantissa =
        b.CreateBitCast(b.CreateSub(bits, exponent), lanes.type(dtype));
    Value* m = b.CreateFSub(mantissa, number(1));
    Value* raised =
        lanes.select(is_tiny, number(-format.mantissa_bits), number(0));
    Value* i =
        b.CreateFAdd(exponent_as_number(lanes, format, exponent), raised);
    return {m, i};
}

/// The lowest bits of a sum with 2^23 (2^52) are the exponent's.
Value* power_of_two(Lanes& lanes, Value* n) {
    auto& b = lanes.b;
    const DType dtype = lanes.dtype_of(n);
    const Format& format = dtype == DType::F32 ? format_of_f32 : format_of_f64;
    Value* biased = b.CreateFAdd(
        n, lanes.number(dtype,
                        std::ldexp(1.0, format.mantissa_bits) + format.bias));
    Value* bits = b.CreateBitCast(biased, lanes.type(format.words));
    return b.CreateBitCast(
        b.CreateShl(bits, std::uint64_t(format.mantissa_bits)), n->getType());
}

Value* power_of_two_of_bits(Lanes& lanes, Value* bits, int more) {
    auto& b = lanes.b;
    const bool single = bits->getType()->getScalarSizeInBits() == 32;
    const Format& format = single ? format_of_f32 : format_of_f64;
    Value* of_one = llvm::ConstantInt::get(bits->getType(),
                                           std::uint64_t(format.bias + more)
                                               << format.mantissa_bits);
    Value* exponent = b.CreateShl(bits, std::uint64_t(format.mantissa_bits));
    return b.CreateBitCast(b.CreateAdd(exponent, of_one),
                           lanes.type(single ? DType::F32 : DType::F64));
}

Value* times_fractional_power(Lanes& lanes, Value* x, Value* bits,
                              int fraction) {
    auto& b = lanes.b;
    const Format& format =
        lanes.dtype_of(x) == DType::F32 ? format_of_f32 : format_of_f64;
    Value* whole = b.CreateAnd(
        bits, llvm::ConstantInt::getSigned(bits->getType(), -(1 << fraction)));
    Value* exponent =
        b.CreateShl(whole, std::uint64_t(format.mantissa_bits - fraction));
    return b.CreateBitCast(
        b.CreateAdd(b.CreateBitCast(x, bits->getType()), exponent),
        x->getType());
}

} // namespace tilefold::llvm_backend
