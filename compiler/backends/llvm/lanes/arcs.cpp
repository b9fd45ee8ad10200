// compiler/backends/llvm/lanes/arcs.cpp - atan, atan2, asin and acos, in place.
//
// All are n π/2 ± v, where v is a series of an argument up to 1:
//   atan2(y, x): v = atan t of t, the smaller by the larger of |x| and |y|,
//   asin x:      v = asin |x| up to 1/2, and 2 asin sqrt((1 - |x|)/2) beyond.
// What a quotient or a root was rounded by is a second part of the argument, so
// that results are within 1.05 ulp.

#include "compiler/backends/llvm/lanes/avx512.h"
#include "compiler/backends/llvm/lanes/math.h"
#include "compiler/backends/llvm/lanes/number_pair.h"
#include "compiler/backends/llvm/lanes/polynomial.h"

#include <array>
#include <cmath>
#include <cstddef>
#include <span>

namespace tilefold::llvm_backend {
namespace {

using llvm::Value;

struct OfDtype {
    /// (atan(t)/t - 1)/z by z = t² up to 1; (asin(s)/s - 1)/t by t = s² up to
    /// 1/4. Fitted at the nodes of Chebyshev's polynomial.
    std::span<const double> arctangent, arcsine;
    double half_pi, half_pi_low;
    /// A sum with it has half the bits of a number up to 1.
    double halving;
    double large; ///< atan of more is π/2
    double least; ///< no number that is divided by is smaller
    /// What is lost of quotients of less is no normal number.
    double small;
};

// The relative error of atan and asin is 2^-30.8 and 2^-27.6 of F32, 2^-57.5
// and 2^-59.8 of F64.
constexpr std::array<double, 10> single_arctangent = {
    -0x1.555550p-2, 0x1.9997a0p-3, -0x1.24707ep-3, 0x1.c4ce16p-4,
    -0x1.686920p-4, 0x1.131292p-4, -0x1.6b3b0ap-5, 0x1.6c9586p-6,
    -0x1.d6fd2ap-8, 0x1.1d4516p-10};
constexpr std::array<double, 5> single_arcsine = {
    0x1.5555cap-3, 0x1.3301acp-4, 0x1.74808cp-5, 0x1.8c2538p-6, 0x1.59652cp-5};
constexpr std::array<double, 20> double_arctangent = {
    -0x1.5555555555522p-2,  0x1.9999999995164p-3,  -0x1.2492492371733p-3,
    0x1.c71c717cddaf8p-4,   -0x1.745d117d84af6p-4, 0x1.3b13647ab07fcp-4,
    -0x1.110e4080760efp-4,  0x1.e1bae6ec3e99ep-5,  -0x1.ae5b36241ef7bp-5,
    0x1.82d01d9146ac1p-5,   -0x1.5988753a420fdp-5, 0x1.2bf74338df2d6p-5,
    -0x1.e94e0fe7be15fp-6,  0x1.676c587f5ad2fp-6,  -0x1.c60bc9d0a1defp-7,
    0x1.d59962d2ad472p-8,   -0x1.780ee16770454p-9, 0x1.b0f185fa67115p-11,
    -0x1.3c99bdf631f79p-13, 0x1.b7c55a6d9bcd4p-17};
constexpr std::array<double, 13> double_arcsine = {
    0x1.5555555555577p-3, 0x1.333333332e1d7p-4, 0x1.6db6db72067c3p-5,
    0x1.f1c71a9a612bcp-6, 0x1.6e8bde357e3ffp-6, 0x1.1c49fd309612cp-6,
    0x1.ca1e4bde65f16p-7, 0x1.759020e3f57d1p-7, 0x1.60fff6c6f49f2p-7,
    0x1.e995aa7ea282cp-9, 0x1.627f8e45fcf05p-6, -0x1.5667f5d274d99p-6,
    0x1.0ac783d4e1577p-5};

constexpr OfDtype of_single = {single_arctangent, single_arcsine, 0x1.921fb6p+0,
                               -0x1.777a5cp-25,   0x1.8p11,       0x1p30,
                               0x1p-100,          0x1p-64};
constexpr OfDtype of_double = {double_arctangent,
                               double_arcsine,
                               0x1.921fb54442d18p+0,
                               0x1.1a62633145c07p-54,
                               0x1.8p26,
                               0x1p60,
                               0x1p-1000,
                               0x1p-500};

class Arcs {
public:
    Arcs(Lanes& lanes, DType dtype)
        : lanes_(lanes), dtype_(dtype),
          of_(dtype == DType::F64 ? of_double : of_single) {}

    Value* atan(Value* x) {
        Value* u = lanes_.smaller(number(of_.large), lanes_.absolute(x));
        Value* is_steep = b().CreateFCmpOGT(u, number(1));
        const NumberPair inverse = divided(number(1), u);
        const NumberPair arc =
            arctangent({lanes_.select(is_steep, inverse.high, u),
                        lanes_.select(is_steep, inverse.low, number(0))});
        Value* quarters = lanes_.select(is_steep, number(1), number(0));
        return with_sign(beside(quarters, is_steep, arc), x);
    }

    /// The angle of the point (x, y).
    Value* atan2(Value* y, Value* x) {
        Value* width = lanes_.absolute(x);
        Value* height = lanes_.absolute(y);
        Value* is_steep = b().CreateFCmpOGT(height, width);
        Value* is_left = is_negative(x);
        const NumberPair arc =
            arctangent(quotient(lanes_.select(is_steep, width, height),
                                lanes_.select(is_steep, height, width)));
        Value* quarters = lanes_.select(
            is_steep, number(1), lanes_.select(is_left, number(2), number(0)));
        return with_sign(
            beside(quarters, b().CreateXor(is_steep, is_left), arc), y);
    }

    Value* asin(Value* x) {
        const auto [is_large, arc] = arcsine(lanes_.absolute(x));
        Value* quarters = lanes_.select(is_large, number(1), number(0));
        return with_sign(beside(quarters, is_large, arc), x);
    }

    Value* acos(Value* x) {
        const auto [is_large, arc] = arcsine(lanes_.absolute(x));
        Value* is_left = is_negative(x);
        Value* quarters = lanes_.select(
            is_large, lanes_.select(is_left, number(2), number(0)), number(1));
        Value* is_before = b().CreateNot(b().CreateXor(is_large, is_left));
        return beside(quarters, is_before, arc);
    }

private:
    llvm::IRBuilder<>& b() { return lanes_.b; }
    Value* number(double value) { return lanes_.number(dtype_, value); }
    Value* with_sign(Value* size, Value* x) {
        return lanes_.with_sign_of(x, size);
    }
    /// By its sign bit, as that of -0.
    Value* is_negative(Value* x) {
        llvm::Type* words =
            lanes_.type(dtype_ == DType::F64 ? DType::I64 : DType::I32);
        return b().CreateICmpSLT(b().CreateBitCast(x, words),
                                 llvm::Constant::getNullValue(words));
    }

    /// The smaller of two numbers by the larger one: 0 by 0 is 0, infinity by
    /// infinity 1.
    NumberPair quotient(Value* smaller, Value* larger) {
        Value* is_infinite = b().CreateFCmpOEQ(larger, number(INFINITY));
        Value* is_one = b().CreateFCmpOEQ(smaller, number(INFINITY));
        Value* none = b().CreateFMul(smaller, number(0)); // or NaN
        smaller = lanes_.select(
            is_infinite, lanes_.select(is_one, number(1), none), smaller);
        Value* is_unit =
            b().CreateOr(is_infinite, b().CreateFCmpOEQ(larger, number(0)));
        larger = lanes_.select(is_unit, number(1), larger);
        // A product with 1 would flush a subnormal number.
        Value* is_small = b().CreateFCmpOLT(larger, number(of_.small));
        const auto raised = [&](Value* x) {
            Value* product = b().CreateFMul(x, number(1 / of_.small));
            return lanes_.select(is_small, product, x);
        };
        return divided(raised(smaller), raised(larger));
    }
    /// x/y; of the low part, few digits count.
    NumberPair divided(Value* x, Value* y) {
        Value* t = b().CreateFDiv(x, y);
        Value* lost = lanes_.fma(b().CreateFNeg(t), y, x);
        return {t, has_avx512(lanes_)
                       ? b().CreateFMul(lost, inverse_estimate(lanes_, y))
                       : b().CreateFDiv(lost, y)};
    }

    /// atan of t from 0 to 1. That of its low part is multiplied by the
    /// derivative 1/(1 + t²), nearly.
    NumberPair arctangent(const NumberPair& t) {
        Value* z = b().CreateFMul(t.high, t.high);
        Value* slope = lanes_.fma(z, number(-0.5), number(1));
        // Most of the error is that of the last terms, which are added one by
        // one.
        constexpr std::size_t last = 3;
        Value* series =
            horner_of_pairs(lanes_, of_.arctangent.subspan(last), z);
        for (std::size_t k = last; k-- > 0;)
            series = lanes_.fma(series, z, number(of_.arctangent[k]));
        return {t.high, lanes_.fma(b().CreateFMul(t.high, z), series,
                                   b().CreateFMul(t.low, slope))};
    }

    struct Arcsine {
        Value* is_large; ///< the arc is 2 asin sqrt((1 - u)/2)
        NumberPair arc;
    };
    /// For u >= 0; NaN beyond 1.
    Arcsine arcsine(Value* u) {
        Value* is_large = b().CreateFCmpOGT(u, number(0.5));
        Value* t =
            lanes_.select(is_large, lanes_.fma(u, number(-0.5), number(0.5)),
                          b().CreateFMul(u, u));
        Value* root = b().CreateUnaryIntrinsic(llvm::Intrinsic::sqrt, t);
        Value* series =
            b().CreateFMul(t, horner_of_pairs(lanes_, of_.arcsine, t));
        // The square of half the bits is exact.
        Value* halved = b().CreateFSub(
            b().CreateFAdd(root, number(of_.halving)), number(of_.halving));
        Value* square_left = lanes_.fma(b().CreateFNeg(halved), halved, t);
        Value* divisor =
            lanes_.larger(number(of_.least), b().CreateFAdd(root, halved));
        Value* left =
            lanes_.fma(root, series, b().CreateFDiv(square_left, divisor));
        const auto twice = [&](Value* x) { return b().CreateFAdd(x, x); };
        return {
            is_large,
            {lanes_.select(is_large, twice(halved), u),
             lanes_.select(is_large, twice(left), b().CreateFMul(u, series))}};
    }

    /// Emits n π/2 + arc, or n π/2 - arc; n is 0, or the arc is smaller.
    Value* beside(Value* n, Value* is_before, const NumberPair& arc) {
        const auto part = [&](Value* x) {
            return lanes_.select(is_before, b().CreateFNeg(x), x);
        };
        const NumberPair sum = sum_of(
            lanes_, b().CreateFMul(n, number(of_.half_pi)), part(arc.high));
        Value* low = lanes_.fma(n, number(of_.half_pi_low), part(arc.low));
        return b().CreateFAdd(sum.high, b().CreateFAdd(sum.low, low));
    }

    Lanes& lanes_;
    DType dtype_;
    const OfDtype& of_;
};

} // namespace

Value* emit_arc(Lanes& lanes, ir::Op op, Value* x) {
    Arcs arcs(lanes, lanes.dtype_of(x));
    if (op == ir::Op::Atan)
        return arcs.atan(x);
    return op == ir::Op::Asin ? arcs.asin(x) : arcs.acos(x);
}

Value* emit_angle(Lanes& lanes, Value* y, Value* x) {
    return Arcs(lanes, lanes.dtype_of(x)).atan2(y, x);
}

} // namespace tilefold::llvm_backend
