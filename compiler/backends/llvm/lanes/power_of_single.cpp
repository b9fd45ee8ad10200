// compiler/backends/llvm/lanes/power_of_single.cpp - powers of F32.
//
// With a = 2^e m, m from 3/4 to 3/2, one of eight inverses T makes m T - 1 = r
// small, and exact. Then
//   log2 a = (e + L) + c (r - r²/2) + r³ g(r),  L = -log2 T,  c = 1/ln 2,
// where e + L is exact and each other term has its rounding added. Of the
// product with y, the eighths give 2^(k/8) by a table, what is left a
// polynomial. Up to 0.6 ulp; 1.13 where the result is near the ends of F32 and
// r above 1/10. All operations are those of any instruction set.

#include "compiler/backends/llvm/lanes/binary_exponent.h"
#include "compiler/backends/llvm/lanes/piece_choice.h"
#include "compiler/backends/llvm/lanes/polynomial.h"
#include "compiler/backends/llvm/lanes/power_of_magnitude.h"

#include <array>
#include <cstdint>

namespace tilefold::llvm_backend {
namespace {

using llvm::Value;

using Eight = std::array<double, 8>;

/// T of m in [1, 9/8), [9/8, 5/4) …, and from the fifth on of [3/4, 13/16) …:
/// of so few bits that m T - 1 is exact.
constexpr Eight inverses = {1,    0x1.bp-1, 0x1.8p-1, 0x1.6p-1,
                            1.25, 0x1.3p+0, 1.125,    1};
/// -log2 T, on a grid of 2^-14, and what is left.
constexpr Eight logarithms = {0,           0x1.f6p-3,   0x1.a9p-2,  0x1.14c8p-1,
                              -0x1.49ap-2, -0x1.fbcp-3, -0x1.5cp-3, 0};
constexpr Eight logarithms_low = {0,
                                  -0x1.3ab7cep-18,
                                  -0x1.a39fbep-20,
                                  -0x1.4f80ccp-16,
                                  -0x1.e12f34p-16,
                                  -0x1.6b9026p-19,
                                  -0x1.a39fbep-19,
                                  0};
/// (log2(1 + r) - c (r - r²/2))/r³ for r from -1/16 to 1/8, fitted at the nodes
/// of Chebyshev's polynomial: r³ times its error is 2^-37.
constexpr std::array<double, 6> of_cube = {0x1.ec709ep-2, -0x1.71546ap-2,
                                           0x1.277678p-2, -0x1.ecb7b4p-3,
                                           0x1.a72c22p-3, -0x1.4421fcp-3};
constexpr double slope = 0x1.715476p+0, slope_low = 0x1.4ae0cp-26; // c
/// 2^(k/8), and what F32 leaves of it.
constexpr Eight eighths = {1,
                           0x1.172b84p+0,
                           0x1.306fep+0,
                           0x1.4bfdaep+0,
                           0x1.6a09e6p+0,
                           0x1.8ace54p+0,
                           0x1.ae89fap+0,
                           0x1.d5818ep+0};
constexpr Eight eighths_low = {0,
                               -0x1.c15742p-27,
                               0x1.4636e2p-25,
                               -0x1.593abcp-25,
                               0x1.9fcef4p-26,
                               0x1.15506ep-27,
                               -0x1.a94b14p-26,
                               -0x1.822dbcp-27};
/// (2^f - 1)/f on [-1/16, 1/8]; f times its error is 8e-10.
constexpr std::array<double, 4> of_rest = {0x1.62e43p-1, 0x1.ebfb7ap-3,
                                           0x1.c6b464p-5, 0x1.41ac72p-7};
constexpr double least_normal = 0x1p-126;

class PowerOfSingle final : public PowerOfMagnitude {
public:
    explicit PowerOfSingle(Lanes& lanes) : PowerOfMagnitude(lanes, range) {}

private:
    static constexpr Range range = {DType::F32, 0x1p-60, 0x1p40,
                                    0x1p100,    -126,    127};

    Value* whole(std::uint32_t value) {
        return llvm::ConstantInt::get(lanes_.type(DType::I32), value);
    }

    /// a = 2^e m; `bits` has the number of m's eighth at bit 20.
    struct Parts {
        Value *m, *e, *bits;
    };
    Parts parts_of(Value* a) {
        constexpr std::uint32_t of_three_quarters = 0x3f400000,
                                exponent_bits = 0xff800000;
        Value* is_tiny = b().CreateFCmpOLT(a, number(least_normal));
        Value* ordinary =
            lanes_.select(is_tiny, b().CreateFMul(a, number(0x1p24)), a);
        Value* raised = lanes_.select(is_tiny, number(-24), number(0));
        Value* bits = b().CreateBitCast(ordinary, lanes_.type(DType::I32));
        Value* exponent =
            b().CreateAnd(b().CreateSub(bits, whole(of_three_quarters)),
                          whole(exponent_bits));
        Value* m = b().CreateBitCast(b().CreateSub(bits, exponent),
                                     lanes_.type(DType::F32));
        Value* e =
            lanes_.fma(b().CreateSIToFP(exponent, lanes_.type(DType::F32)),
                       number(0x1p-23), raised);
        return {m, exponent_of(a, e), bits};
    }

    NumberPair log2(Value* a) override {
        const Parts of = parts_of(a);
        const PieceChoice choice(lanes_, b().CreateLShr(of.bits, 20));
        Value* r = lanes_.fma(of.m, choice.of(inverses), number(-1));
        // r - r²/2 = u + rest
        Value* half = b().CreateFNeg(b().CreateFMul(r, number(0.5)));
        Value* u = lanes_.fma(half, r, r);
        Value* rest = lanes_.fma(half, r, b().CreateFSub(r, u));
        auto [linear, low] = product_of(lanes_, u, number(slope));
        low = lanes_.fma(u, number(slope_low), low);
        low = lanes_.fma(rest, number(slope), low);
        low = b().CreateFAdd(low, choice.of(logarithms_low));
        Value* cube = b().CreateFMul(b().CreateFMul(r, r), r);
        low = lanes_.fma(cube, horner(lanes_, of_cube, r), low);
        Value* base = b().CreateFAdd(of.e, choice.of(logarithms));
        const NumberPair both = sum_of(lanes_, base, linear);
        return {both.high, b().CreateFAdd(both.low, low)};
    }

    /// The last eighth below 128 is for all above it, too: 2^128 is no number.
    Value* power_of_two(const NumberPair& z) override {
        const auto [bits, f] = multiple_of(z, 0x1.8p20, 127.875);
        const PieceChoice choice(lanes_, bits);
        Value* entry = choice.of(eighths);
        Value* less_one = b().CreateFMul(f, horner(lanes_, of_rest, f));
        Value* rest = lanes_.fma(entry, less_one, choice.of(eighths_low));
        return b().CreateFMul(
            b().CreateFAdd(entry, rest),
            power_of_two_of_bits(lanes_, b().CreateLShr(bits, 3)));
    }
};

} // namespace

std::unique_ptr<PowerOfMagnitude> power_of_single(Lanes& lanes) {
    return std::make_unique<PowerOfSingle>(lanes);
}

} // namespace tilefold::llvm_backend
