// compiler/backends/llvm/lanes/expm1_by_table.cpp - expm1 of F32 on AVX-512 and
// AVX2, in single precision.
//
// x = n (log 2)/c + D + r, c = 16 or 8, and e^x = 2^((n - k)/c) T (1 + p), with
// p = e^r - 1: k is the last bits of n, T has the first 12 bits of 2^(k/c), and
// D is what its logarithm is more than k (log 2)/c. Halves are computed and
// doubled, so that the largest results have exponents.

#include "compiler/backends/llvm/lanes/math.h"
#include "compiler/backends/llvm/lanes/numbers.h"
#include "compiler/backends/llvm/lanes/octave_parts.h"
#include "compiler/backends/llvm/lanes/polynomial.h"

#include <array>
#include <numbers>

namespace tilefold::llvm_backend {

using llvm::Value;

namespace {

/// Halves of T, for c = 16.
constexpr std::array<double, 16> halves = {
    0x1p-1,     0x1.0b6p-1, 0x1.172p-1, 0x1.238p-1, 0x1.306p-1, 0x1.3dep-1,
    0x1.4cp-1,  0x1.5acp-1, 0x1.6ap-1,  0x1.7a2p-1, 0x1.8acp-1, 0x1.9c4p-1,
    0x1.ae8p-1, 0x1.c1ap-1, 0x1.d58p-1, 0x1.ea4p-1};
constexpr std::array<double, 16> of_halves = {0,
                                              0x1.40ea356256d8p-13,
                                              -0x1.51eb063a2cb58p-13,
                                              -0x1.ae102a48d814cp-14,
                                              -0x1.ab492f25db1c9p-13,
                                              -0x1.0bd6498636df6p-13,
                                              0x1.ca8cdf95bfdd6p-16,
                                              0x1.6e6bd08f32a46p-13,
                                              -0x1.c00c40725a061p-14,
                                              0x1.3ef782b14d8f9p-13,
                                              -0x1.295520044c5e9p-13,
                                              -0x1.696bfbdb0a901p-14,
                                              -0x1.7b9c1c91c385fp-14,
                                              0x1.c81dd6fc72936p-15,
                                              -0x1.b1d1ba7aa7ff9p-17,
                                              -0x1.6ed6b9901151p-14};
/// (e^r - 1 - r)/r² for |r| <= 1/16, minimax.
constexpr std::array<double, 4> rest_of_p = {0x1p-1, 0x1.5555a6p-3,
                                             0x1.555e78p-5, 0x1.0d0a36p-7};

} // namespace

Value* expm1_by_table(Lanes& lanes, Value* x) {
    constexpr double least = -20, most = 89; // -1 and infinity from there on
    constexpr double small = 0x1p-4, tiny = 0x1p-25;
    auto& b = lanes.b;
    const OctaveParts parts(lanes);
    const auto number = [&](double value) {
        return lanes.number(DType::F32, value);
    };
    Value* size = lanes.absolute(x);
    Value* held = lanes.larger(number(least), lanes.smaller(number(most), x));
    // r is x where rounding it would cost digits of the result.
    Value* shifted = lanes.select(
        b.CreateFCmpOLT(size, number(small)), number(whole_of_single),
        lanes.fma(held, number(std::numbers::log2e * parts.count),
                  number(whole_of_single)));
    Value* n = b.CreateFSub(shifted, number(whole_of_single));
    Value* bits = b.CreateBitCast(shifted, lanes.type(DType::I32));
    const PieceChoice choice(lanes, bits);
    Value* first =
        lanes.fma(n, number(-ln_2_of_single.high / parts.count), held);
    Value* r = b.CreateFSub(
        first, lanes.fma(n, number(ln_2_of_single.low / parts.count),
                         parts.choose(choice, of_halves)));
    Value* p =
        lanes.fma(b.CreateFMul(r, r), horner_of_pairs(lanes, rest_of_p, r), r);
    Value* power = parts.times_power(lanes, parts.choose(choice, halves), bits);
    Value* half = lanes.fma(power, p, b.CreateFSub(power, number(0.5)));
    // Halves of the smallest numbers would be flushed.
    return lanes.select(b.CreateFCmpOLT(size, number(tiny)), x,
                        b.CreateFAdd(half, half));
}

} // namespace tilefold::llvm_backend
