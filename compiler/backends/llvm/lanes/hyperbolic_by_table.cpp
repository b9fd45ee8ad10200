// compiler/backends/llvm/lanes/hyperbolic_by_table.cpp - sinh and cosh of F32
// on AVX-512 and AVX2, in single precision.
//
// |x| = n (log 2)/c + D + r, c = 16 or 8; k is the last bits of n, and m is
// (n - k)/c, from k = c/2 on one more. P = 4^-1 e^(n (log 2)/c + D) and
// M = 4^-1/e^… are both next to numbers of F32 that stand in tables but for
// 2^m, and
//
//   cosh x = 2 (P + M) cosh r + 2 (P - M) sinh r,
//   sinh x = 2 (P - M) cosh r + 2 (P + M) sinh r.

#include "compiler/backends/llvm/lanes/math.h"
#include "compiler/backends/llvm/lanes/number_pair.h"
#include "compiler/backends/llvm/lanes/numbers.h"
#include "compiler/backends/llvm/lanes/octave_parts.h"
#include "compiler/backends/llvm/lanes/polynomial.h"

#include <array>
#include <numbers>

namespace tilefold::llvm_backend {
namespace {

using llvm::Value;

/// For c = 16.
constexpr std::array<double, 16> quarters_of_power = {
    0x1p-2,        0x1.0b53a6p-2, 0x1.173bfap-2, 0x1.23934ep-2,
    0x1.307b9ep-2, 0x1.3de2cp-2,  0x1.4c146ap-2, 0x1.5ab56p-2,
    0x1.6a1ea4p-3, 0x1.7a0bf4p-3, 0x1.8addccp-3, 0x1.9c5302p-3,
    0x1.ae796p-3,  0x1.c187c6p-3, 0x1.d584f8p-3, 0x1.ea4e6cp-3};
constexpr std::array<double, 16> quarters_of_inverse = {
    0x1p-2,        0x1.ea4e6cp-3, 0x1.d565ep-3,  0x1.c187c6p-3,
    0x1.ae796p-3,  0x1.9c5302p-3, 0x1.8ab34cp-3, 0x1.7a0bf4p-3,
    0x1.69f52ap-2, 0x1.5ab56p-2,  0x1.4bf0acp-2, 0x1.3de2cp-2,
    0x1.307b9ep-2, 0x1.23934ep-2, 0x1.17297cp-2, 0x1.0b53a6p-2};
constexpr std::array<double, 16> of_quarters = {0,
                                                -0x1.cc6eb3fee6cb6p-16,
                                                0x1.e3005c050a331p-13,
                                                0x1.476a9121f6fcbp-13,
                                                0x1.3be045efdb4e7p-13,
                                                -0x1.89ef6d6914b4ep-14,
                                                0x1.187c0cfbc849bp-12,
                                                0x1.cd8ee4d2e5adp-15,
                                                0x1.d540f4892d07fp-13,
                                                -0x1.cd8ee4f2e5adp-15,
                                                0x1.40eea863779dep-13,
                                                0x1.89ef6e1914b4ep-14,
                                                -0x1.3be0455bdb4e7p-13,
                                                -0x1.476a901cb6fcbp-13,
                                                0x1.dca5de4e398b4p-16,
                                                0x1.cc6ea302e6cb6p-16};
/// (cosh r - 1)/r² and (sinh r - r)/r³ in r², |r| <= 1/16; up to 1/8 they are
/// within 2^-28 of the results.
constexpr std::array<double, 2> of_cosh = {0x1p-1, 0x1.556056p-5};
constexpr std::array<double, 2> of_sinh = {0x1.555556p-3, 0x1.110b8cp-7};
/// Results are infinite from here on, and powers are not.
constexpr double cosh_infinite_from = 89.43;
/// Sinh x is x.
constexpr double sinh_is_x = 0x1p-13;

/// Sinh or cosh of one vector.
class Hyperbolic {
public:
    Hyperbolic(Lanes& lanes, Value* x)
        : lanes_(lanes), parts_(lanes), size_(lanes.absolute(x)) {
        Value* held = lanes.smaller(number(cosh_infinite_from), size_);
        // There rounding r would cost digits of sinh x.
        Value* is_small = b().CreateFCmpOLT(size_, number(1.0 / parts_.count));
        Value* shifted = lanes.select(
            is_small, number(whole_of_single),
            lanes.fma(held, number(std::numbers::log2e * parts_.count),
                      number(whole_of_single)));
        Value* bits = b().CreateBitCast(shifted, words());
        Value* n = b().CreateFSub(shifted, number(whole_of_single));
        const PieceChoice choice(lanes, bits);
        Value* first =
            lanes.fma(n, number(-ln_2_of_single.high / parts_.count), held);
        r_ = b().CreateFSub(
            first, lanes.fma(n, number(ln_2_of_single.low / parts_.count),
                             parts_.choose(choice, of_quarters)));
        square_ = b().CreateFMul(r_, r_);
        scale(choice, bits);
    }

    Value* cosh() {
        const auto [whole, lost] = sum_of(lanes_, power_, inverse_);
        return doubled(whole, lost, b().CreateFSub(power_, inverse_));
    }
    Value* sinh(Value* x) {
        const auto [whole, lost] =
            sum_of(lanes_, power_, b().CreateFNeg(inverse_));
        Value* size = doubled(whole, lost, b().CreateFAdd(power_, inverse_));
        size = lanes_.select(b().CreateFCmpOLT(size_, number(sinh_is_x)), size_,
                             size);
        return lanes_.with_sign_of(x, size);
    }

private:
    llvm::IRBuilder<>& b() const { return lanes_.b; }
    Value* number(double value) const {
        return lanes_.number(DType::F32, value);
    }
    llvm::Type* words() const { return lanes_.type(DType::I32); }
    Value* word(int value) const {
        return llvm::ConstantInt::getSigned(words(), value);
    }

    /// Sets P and M.
    void scale(const PieceChoice& choice, Value* bits) {
        // What stands above a number of 22 bits is the magic number's.
        Value* n = b().CreateSub(bits, word(int(0x4b400000)));
        Value* m = b().CreateAShr(b().CreateAdd(n, word(parts_.count / 2)),
                                  std::uint64_t(parts_.bits));
        power_ = moved(parts_.choose(choice, quarters_of_power), m);
        // Far out it is nothing beside the power.
        Value* little =
            b().CreateBinaryIntrinsic(llvm::Intrinsic::smin, m, word(64));
        inverse_ = moved(parts_.choose(choice, quarters_of_inverse),
                         b().CreateNeg(little));
    }
    Value* moved(Value* x, Value* exponent) const {
        return b().CreateBitCast(b().CreateAdd(b().CreateBitCast(x, words()),
                                               b().CreateShl(exponent, 23)),
                                 lanes_.type(DType::F32));
    }
    /// Returns 2 ((whole + lost) cosh r + other sinh r).
    Value* doubled(Value* whole, Value* lost, Value* other) {
        Value* of_r = lanes_.fma(b().CreateFMul(square_, r_),
                                 horner(lanes_, of_sinh, square_), r_);
        Value* of_square =
            b().CreateFMul(square_, horner(lanes_, of_cosh, square_));
        Value* rest = lanes_.fma(whole, of_square, lost);
        rest = lanes_.fma(other, of_r, rest);
        Value* half = b().CreateFAdd(whole, rest);
        return b().CreateFAdd(half, half);
    }

    Lanes& lanes_;
    const OctaveParts parts_;
    Value* size_;
    Value *r_, *square_, *power_, *inverse_;
};

} // namespace

Value* hyperbolic_by_table(Lanes& lanes, ir::Op op, Value* x) {
    Hyperbolic of(lanes, x);
    return op == ir::Op::Sinh ? of.sinh(x) : of.cosh();
}

} // namespace tilefold::llvm_backend
