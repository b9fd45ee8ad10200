// compiler/backends/llvm/lanes/binary_exponent.cpp - see binary_exponent.h.

#include "compiler/backends/llvm/lanes/binary_exponent.h"

#include <cstdint>
#include <limits>

namespace tilefold::llvm_backend {

using llvm::Value;

/// By the bits of x less those of sqrt(1/2). Subnormal numbers are multiplied
/// first, since their bits are no exponent.
BinaryExponent split_exponent(Lanes& lanes, Value* x) {
    constexpr std::uint32_t root_of_half = 0x3f3504f3;
    constexpr std::uint32_t exponent_bits = 0xff800000;
    auto& b = lanes.b;
    llvm::Type* words = lanes.type(DType::I32);
    const auto number = [&](double value) {
        return lanes.number(DType::F32, value);
    };
    const auto whole = [&](std::uint32_t value) {
        return llvm::ConstantInt::get(words, value);
    };
    Value* is_tiny =
        b.CreateFCmpOLT(x, number(double(std::numeric_limits<float>::min())));
    x = lanes.select(is_tiny, b.CreateFMul(x, number(0x1p23)), x);
    Value* bits = b.CreateBitCast(x, words);
    Value* exponent = b.CreateAnd(b.CreateSub(bits, whole(root_of_half)),
                                  whole(exponent_bits));
    Value* mantissa =
        b.CreateBitCast(b.CreateSub(bits, exponent), lanes.type(DType::F32));
    Value* m = b.CreateFSub(mantissa, number(1));
    Value* scaled = b.CreateSIToFP(exponent, lanes.type(DType::F32));
    Value* i = lanes.fma(scaled, number(0x1p-23),
                         lanes.select(is_tiny, number(-23), number(0)));
    return {m, i};
}

} // namespace tilefold::llvm_backend
