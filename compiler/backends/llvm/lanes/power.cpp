// compiler/backends/llvm/lanes/power.cpp - x^y of F32, in place.
//
// |x|^y = 2^(y log2 |x|), the logarithm as a sum of two numbers, since y
// multiplies its error. With |x| = 2^e m, m from 3/4 to 3/2, one of eight
// inverses T makes m T - 1 = r small, and exact. Then
//   log2 |x| = (e + L) + c (r - r²/2) + r³ g(r),  L = -log2 T,  c = 1/ln 2,
// where e + L is exact and each other term has its rounding added. Of the
// product with y, the eighths give 2^(k/8) by a table, what is left a
// polynomial. Up to 0.6 ulp; 1.25 where the result is near the ends of F32 and
// r above 1/10. All operations are those of any instruction set.

#include "compiler/backends/llvm/lanes/binary_exponent.h"
#include "compiler/backends/llvm/lanes/math.h"
#include "compiler/backends/llvm/lanes/piece_choice.h"
#include "compiler/backends/llvm/lanes/polynomial.h"

#include <array>
#include <cmath>
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
/// What is more than any logarithm of F32, though its products are finite.
constexpr double beyond = 0x1p100;

/// A number as the sum of two, the second of which is small.
struct Sum {
    Value *high, *low;
};

/// Emits on lanes of F32.
class PowerOfMagnitude {
public:
    explicit PowerOfMagnitude(Lanes& lanes) : lanes_(lanes) {}

    /// Emits a^y for a >= 0, or NaN, and a y that is not 0.
    Value* of(Value* a, Value* y) {
        // A smaller y gives 1, a larger one what infinity does; their products
        // with 0 and with `beyond` are as they should be.
        Value* size = held(lanes_.absolute(y), 0x1p-60, 0x1p40);
        y = b().CreateBinaryIntrinsic(llvm::Intrinsic::copysign, size, y);
        const Sum log = log2(a);
        Value* high = held(b().CreateFMul(y, log.high), -126, 127);
        Value* low = lanes_.fma(y, log.high, b().CreateFNeg(high));
        return power_of_two({high, held(lanes_.fma(y, log.low, low), -1, 2)});
    }

private:
    llvm::IRBuilder<>& b() { return lanes_.b; }
    Value* number(double value) { return lanes_.number(DType::F32, value); }
    Value* whole(std::uint32_t value) {
        return llvm::ConstantInt::get(lanes_.type(DType::I32), value);
    }
    Value* held(Value* x, double least, double most) {
        return lanes_.larger(number(least), lanes_.smaller(number(most), x));
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
        e = lanes_.select(b().CreateFCmpOEQ(a, number(0)), number(-beyond), e);
        e = lanes_.select(b().CreateFCmpOLT(a, number(INFINITY)), e,
                          lanes_.smaller(number(beyond), a));
        return {m, e, bits};
    }

    Sum log2(Value* a) {
        const Parts of = parts_of(a);
        const PieceChoice choice(lanes_, b().CreateLShr(of.bits, 20));
        Value* r = lanes_.fma(of.m, choice.of(inverses), number(-1));
        // r - r²/2 = u + rest
        Value* half = b().CreateFNeg(b().CreateFMul(r, number(0.5)));
        Value* u = lanes_.fma(half, r, r);
        Value* rest = lanes_.fma(half, r, b().CreateFSub(r, u));
        Value* linear = b().CreateFMul(u, number(slope));
        Value* low = lanes_.fma(u, number(slope), b().CreateFNeg(linear));
        low = lanes_.fma(u, number(slope_low), low);
        low = lanes_.fma(rest, number(slope), low);
        low = b().CreateFAdd(low, choice.of(logarithms_low));
        Value* cube = b().CreateFMul(b().CreateFMul(r, r), r);
        low = lanes_.fma(cube, horner(lanes_, of_cube, r), low);
        // `base` is 0 or larger than `linear`, so that the rest is exact.
        Value* base = b().CreateFAdd(of.e, choice.of(logarithms));
        Value* high = b().CreateFAdd(base, linear);
        Value* lost = b().CreateFAdd(b().CreateFSub(base, high), linear);
        return {high, b().CreateFAdd(lost, low)};
    }

    /// The last eighth below 128 is for all above it, too: 2^128 is no number.
    Value* power_of_two(const Sum& z) {
        constexpr double to_eighths = 0x1.8p20, most = to_eighths + 127.875;
        Value* shifted = lanes_.smaller(
            number(most),
            b().CreateFAdd(b().CreateFAdd(z.high, z.low), number(to_eighths)));
        Value* eighth = b().CreateFSub(shifted, number(to_eighths));
        Value* f = b().CreateFAdd(b().CreateFSub(z.high, eighth), z.low);
        Value* bits = b().CreateBitCast(shifted, lanes_.type(DType::I32));
        const PieceChoice choice(lanes_, bits);
        Value* entry = choice.of(eighths);
        Value* less_one = b().CreateFMul(f, horner(lanes_, of_rest, f));
        Value* rest = lanes_.fma(entry, less_one, choice.of(eighths_low));
        return b().CreateFMul(
            b().CreateFAdd(entry, rest),
            power_of_two_of_bits(lanes_, b().CreateLShr(bits, 3)));
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
    Value* a = lanes.absolute(x);
    Value* power = PowerOfMagnitude(lanes).of(a, y);
    // 1 of anything, NaN included.
    Value* is_one = b.CreateOr(b.CreateFCmpOEQ(a, number(1)),
                               b.CreateFCmpOEQ(y, number(0)));
    power = lanes.select(is_one, number(1), power);
    return ir::is_nonnegative(sign) ? power : with_sign(lanes, x, y, power);
}

} // namespace tilefold::llvm_backend
