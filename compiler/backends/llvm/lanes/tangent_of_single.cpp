// compiler/backends/llvm/lanes/tangent_of_single.cpp - tan x of F32, in single
// precision.
//
// x = n pi/2 + r + l, and tan(r + l) in two parts: r and all the rest. An odd n
// takes -1 over that, whose rounding a step of Newton's takes back.

#include "compiler/backends/llvm/lanes/avx512.h"
#include "compiler/backends/llvm/lanes/math.h"
#include "compiler/backends/llvm/lanes/numbers.h"
#include "compiler/backends/llvm/lanes/polynomial.h"
#include "compiler/backends/llvm/lanes/sine.h"

#include <array>

namespace tilefold::llvm_backend {
namespace {

using llvm::Value;

constexpr QuarterTurn quarter_of_single = {0x1.921fb6p0, -0x1.777a5cp-25,
                                           -0x1.ee59dap-50, 0x1.45f306p-1,
                                           whole_of_single};
/// (tan r - r)/r³ in r², |r| <= pi/4: minimax.
constexpr std::array<double, 7> rest_of_tangent = {
    0x1.55556p-2,  0x1.110d9cp-3,  0x1.bada54p-5, 0x1.5cb95ep-6,
    0x1.62f7ecp-7, 0x1.7cd726p-14, 0x1.1ed38ap-8};
/// A tangent is its argument below.
constexpr double tangent_is_x = 0x1p-13;

Value* negative_inverse(Lanes& lanes, Value* t) {
    auto& b = lanes.b;
    if (has_avx512(lanes))
        return rough_inverse(lanes, b.CreateFNeg(t));
    return b.CreateFDiv(lanes.number(DType::F32, -1), t);
}

} // namespace

Value* near_tangent_of_single(Lanes& lanes, Value* x) {
    auto& b = lanes.b;
    const auto number = [&](double value) {
        return lanes.number(DType::F32, value);
    };
    const auto [turns, r, l] = in_turns(lanes, quarter_of_single, x);
    Value* square = b.CreateFMul(r, r);
    Value* rest = lanes.fma(b.CreateFMul(square, r),
                            horner(lanes, rest_of_tangent, square),
                            lanes.fma(square, l, l));
    Value* t = b.CreateFAdd(r, rest);
    Value* low = b.CreateFAdd(b.CreateFSub(r, t), rest);
    Value* inverse = negative_inverse(lanes, t);
    Value* error = lanes.fma(inverse, low, lanes.fma(inverse, t, number(1)));
    inverse = lanes.fma(inverse, error, inverse);
    llvm::Type* words = lanes.type(DType::I32);
    Value* is_odd =
        b.CreateICmpNE(b.CreateAnd(b.CreateBitCast(turns, words),
                                   llvm::ConstantInt::get(words, 1)),
                       llvm::Constant::getNullValue(words));
    return lanes.select(
        b.CreateFCmpOLT(lanes.absolute(x), number(tangent_is_x)), x,
        lanes.select(is_odd, inverse, t));
}

} // namespace tilefold::llvm_backend
