// compiler/backends/llvm/lanes/angle.cpp - atan2 of F32, in place, in double.
//
// The angle of the smaller by the larger of |x| and |y|, from 0 to π/4, is
// added to, or taken from, a multiple of π/2.

#include "compiler/backends/llvm/lanes/in_double.h"
#include "compiler/backends/llvm/lanes/math.h"
#include "compiler/backends/llvm/lanes/polynomial.h"

#include <array>
#include <cmath>

namespace tilefold::llvm_backend {
namespace {

using llvm::Value;

/// atan(t)/t by t², for t up to 1; minimax, relative error 5.9e-11.
constexpr std::array<double, 12> of_arctangent = {
    0x1.ffffffff7ecc3p-1,  -0x1.55555426a1ac4p-2, 0x1.99992390586e4p-3,
    -0x1.2489328664cc2p-3, 0x1.c66111e24bac0p-4,  -0x1.6fd4a6634a24fp-4,
    0x1.28c8e8e48960dp-4,  -0x1.bca7b195c4d29p-5, 0x1.183eea23fed1ap-5,
    -0x1.07f981ef34103p-6, 0x1.3de97ec246fe7p-8,  -0x1.6707b8b5c4abap-11};
constexpr double half_pi = 1.5707963267948966;

} // namespace

Value* emit_angle(Lanes& lanes, Value* y, Value* x) {
    auto& b = lanes.b;
    const InDouble real(lanes);
    const auto single = [&](double value) {
        return lanes.number(DType::F32, value);
    };
    Value* width = lanes.absolute(x);
    Value* height = lanes.absolute(y);
    Value* is_steep = b.CreateFCmpOGT(height, width);
    Value* smaller = lanes.select(is_steep, width, height);
    Value* larger = lanes.select(is_steep, height, width);
    // 0 by 0 is 0, infinity by infinity 1.
    larger =
        lanes.select(b.CreateFCmpOEQ(larger, single(0)), single(1), larger);
    Value* is_far = b.CreateAnd(b.CreateFCmpOEQ(smaller, single(INFINITY)),
                                b.CreateFCmpOEQ(larger, single(INFINITY)));
    smaller = lanes.select(is_far, single(1), smaller);
    larger = lanes.select(is_far, single(1), larger);
    // Of any two numbers of F32, so that it is a quotient of double.
    Value* t = b.CreateFDiv(real.doubled(smaller), real.doubled(larger));
    Value* angle = b.CreateFMul(
        t, horner_of_pairs(lanes, of_arctangent, b.CreateFMul(t, t)));
    llvm::Type* words = lanes.type(DType::I32);
    Value* is_left = b.CreateICmpSLT(b.CreateBitCast(x, words),
                                     llvm::Constant::getNullValue(words));
    Value* quarters = lanes.select(is_steep, single(1),
                                   lanes.select(is_left, single(2), single(0)));
    Value* sign =
        lanes.select(b.CreateXor(is_steep, is_left), single(-1), single(1));
    angle =
        lanes.fma(real.doubled(sign), angle,
                  b.CreateFMul(real.doubled(quarters), real.number(half_pi)));
    return b.CreateBinaryIntrinsic(llvm::Intrinsic::copysign,
                                   lanes.as(DType::F32, angle), y);
}

} // namespace tilefold::llvm_backend
