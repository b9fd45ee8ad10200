// compiler/backends/llvm/lanes/power_of_single.cpp - powers of F32.
//
// With a = 2^e m, m from 3/4 to 3/2, one of a few inverses T makes m T - 1 = r
// small, and exact. Then
//   log2 a = (e + L) + c (r - r²/2) + r³ g(r),  L = -log2 T,  c = 1/ln 2,
// where e + L is exact and each other term has its rounding added. Of the
// product with y, the eighths give 2^(k/8) by a table, what is left a
// polynomial. Up to 0.6 ulp for |y| <= 4; 1.4 where the result is near the ends
// of F32 and a near 1.
//
// Registers of AVX-512 hold tables of 16, which are for sixteenths, and its
// instructions take a number apart, subnormal ones too, and put it together.

#include "compiler/backends/llvm/lanes/avx512.h"
#include "compiler/backends/llvm/lanes/binary_exponent.h"
#include "compiler/backends/llvm/lanes/piece_choice.h"
#include "compiler/backends/llvm/lanes/polynomial.h"
#include "compiler/backends/llvm/lanes/power_of_magnitude.h"
#include "compiler/backends/llvm/lanes/power_tables.h"

#include <cmath>
#include <cstdint>

namespace tilefold::llvm_backend {
namespace {

using llvm::Value;

constexpr double log2_e_high = 0x1.715476p+0, log2_e_low = 0x1.4ae0cp-26; // c
constexpr double least_normal = 0x1p-126;
constexpr int mantissa_bits_of_single = 23;

class PowerOfSingle final : public PowerOfMagnitude {
public:
    explicit PowerOfSingle(Lanes& lanes)
        : PowerOfMagnitude(lanes, range),
          table_(has_avx512(lanes) ? by_sixteenths::table : by_eighths::table) {
    }

private:
    static constexpr Range range = {DType::F32, 0x1p-60, 0x1p40,
                                    0x1p100,    -126,    127};

    Value* whole(std::uint32_t value) {
        return llvm::ConstantInt::get(lanes_.type(DType::I32), value);
    }

    Value* bits_of(Value* x) {
        return b().CreateBitCast(x, lanes_.type(DType::I32));
    }

    /// a = 2^e m
    struct Parts {
        Value *m, *e;
    };
    Parts parts_of(Value* a) {
        if (!has_avx512(lanes_))
            return parts_by_bits(a);
        Value* m = mantissa_of(lanes_, a);
        return {m, held_exponent(
                       b().CreateFSub(llvm_backend::exponent_of(lanes_, a),
                                      llvm_backend::exponent_of(lanes_, m)))};
    }
    Parts parts_by_bits(Value* a) {
        constexpr std::uint32_t of_three_quarters = 0x3f400000,
                                exponent_bits = 0xff800000;
        Value* is_tiny = b().CreateFCmpOLT(a, number(least_normal));
        Value* ordinary =
            lanes_.select(is_tiny, b().CreateFMul(a, number(0x1p24)), a);
        Value* raised = lanes_.select(is_tiny, number(-24), number(0));
        Value* bits = bits_of(ordinary);
        Value* exponent =
            b().CreateAnd(b().CreateSub(bits, whole(of_three_quarters)),
                          whole(exponent_bits));
        Value* m = b().CreateBitCast(b().CreateSub(bits, exponent),
                                     lanes_.type(DType::F32));
        Value* e =
            lanes_.fma(b().CreateSIToFP(exponent, lanes_.type(DType::F32)),
                       number(0x1p-23), raised);
        return {m, exponent_of(a, e)};
    }

    NumberPair log2(Value* a) override {
        const Parts of = parts_of(a);
        const PieceChoice choice(
            lanes_, b().CreateLShr(
                        bits_of(of.m),
                        std::uint64_t(mantissa_bits_of_single - table_.bits)));
        Value* r = lanes_.fma(of.m, choice.of(table_.inverses), number(-1));
        // r - r²/2 = u + rest
        Value* half = b().CreateFNeg(b().CreateFMul(r, number(0.5)));
        Value* u = lanes_.fma(half, r, r);
        Value* rest = lanes_.fma(half, r, b().CreateFSub(r, u));
        auto [linear, low] = product_of(lanes_, u, number(log2_e_high));
        low = lanes_.fma(u, number(log2_e_low), low);
        low = lanes_.fma(rest, number(log2_e_high), low);
        low = b().CreateFAdd(low, choice.of(table_.logarithms_low));
        Value* cube = b().CreateFMul(b().CreateFMul(r, r), r);
        low = lanes_.fma(cube, horner(lanes_, table_.of_cube, r), low);
        Value* base = b().CreateFAdd(of.e, choice.of(table_.logarithms));
        const NumberPair both = sum_of(lanes_, base, linear);
        return {both.high, b().CreateFAdd(both.low, low)};
    }

    /// The last eighth below 128 is for all above it, too: 2^128 is no number.
    /// AVX-512's own powers of two are infinite there, and 0 below.
    Value* power_of_two(const NumberPair& z) override {
        const bool by_exponent = has_avx512(lanes_);
        const auto [bits, nearest, f] = multiple_of(
            z, std::ldexp(1.5, mantissa_bits_of_single - table_.bits),
            by_exponent ? INFINITY : 127.875);
        const PieceChoice choice(lanes_, bits);
        Value* entry = choice.of(table_.powers);
        Value* less_one = b().CreateFMul(f, horner(lanes_, table_.of_rest, f));
        Value* rest = lanes_.fma(entry, less_one, choice.of(table_.powers_low));
        Value* power = b().CreateFAdd(entry, rest);
        if (by_exponent)
            return times_power_of_two(lanes_, power, nearest);
        return b().CreateFMul(
            power,
            power_of_two_of_bits(
                lanes_, b().CreateLShr(bits, std::uint64_t(table_.bits))));
    }

    const PowerTable& table_;
};

} // namespace

std::unique_ptr<PowerOfMagnitude> power_of_single(Lanes& lanes) {
    return std::make_unique<PowerOfSingle>(lanes);
}

} // namespace tilefold::llvm_backend
