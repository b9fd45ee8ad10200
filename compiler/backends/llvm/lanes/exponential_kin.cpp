// compiler/backends/llvm/lanes/exponential_kin.cpp - expm1, sinh, cosh and erfc
// of F32, in place, in double.
//
// e^x - 1 = p 2^n + (2^n - 1) keeps its digits near 0. Where E is that,
// e^-x - 1 = -E/(1 + E) = -E e^-x. erfc(u) = t 2^(L(t) - u² log2 e) with
// t = 1/(1 + u/2), for u >= 0 (the form of Numerical Recipes, 6.2.2).

#include "compiler/backends/llvm/lanes/in_double.h"
#include "compiler/backends/llvm/lanes/math.h"
#include "compiler/backends/llvm/lanes/polynomial.h"

#include <array>

namespace tilefold::llvm_backend {
namespace {

using llvm::Value;

constexpr double log2_e = 1.4426950408889634;

/// log2(erfc(u) e^u² / t) by t, for u up to 9.5; minimax, error 2.3e-10.
constexpr std::array<double, 13> of_erfc = {
    -0x1.d363ac5b0241bp+0, 0x1.7140276929fccp+0,  0x1.1793ecdc7232dp-1,
    0x1.27ed51647bae9p-4,  0x1.6472dd5b31ddap-3,  -0x1.7aeb27c1d3b67p+0,
    0x1.d89bc2875347fp+1,  -0x1.01f258e1bb1abp+3, 0x1.818750f83a313p+3,
    -0x1.6511f8c95c990p+3, 0x1.8f16a335ac118p+2,  -0x1.f2fb363f3c51dp+0,
    0x1.0e22bdd62c161p-2};
/// Beyond which F32 has 0, flushed.
constexpr double last_of_erfc = 9.5;

class Exponential {
public:
    Exponential(Lanes& lanes, Value* x)
        : lanes_(lanes), real_(lanes),
          power_(real_.power_of_two(real_.held(
              lanes.b.CreateFMul(real_.doubled(x), real_.number(log2_e))))) {
        auto& b = lanes.b;
        less_one_ = lanes.fma(power_.less_one, power_.scale,
                              b.CreateFSub(power_.scale, real_.number(1)));
    }

    Value* less_one() { return less_one_; }
    Value* sinh() {
        auto& b = lanes_.b;
        return b.CreateFMul(b.CreateFAdd(less_one_, opposite()),
                            real_.number(0.5));
    }
    /// 1 + (E - E e^-x)/2
    Value* cosh() {
        auto& b = lanes_.b;
        return lanes_.fma(b.CreateFSub(less_one_, opposite()),
                          real_.number(0.5), real_.number(1));
    }

private:
    /// 1 - e^-x
    Value* opposite() {
        auto& b = lanes_.b;
        Value* ratio = real_.quotient(
            less_one_, b.CreateFAdd(power_.less_one, real_.number(1)));
        return b.CreateFMul(ratio, real_.inverse_scale(power_));
    }

    Lanes& lanes_;
    InDouble real_;
    InDouble::Power power_;
    Value* less_one_;
};

Value* erfc_of(Lanes& lanes, Value* x) {
    auto& b = lanes.b;
    const InDouble real(lanes);
    Value* u = b.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, x);
    u = real.doubled(lanes.smaller(lanes.number(DType::F32, last_of_erfc), u));
    Value* t = real.quotient(real.number(1),
                             lanes.fma(u, real.number(0.5), real.number(1)));
    Value* exponent = lanes.fma(b.CreateFMul(u, u), real.number(-log2_e),
                                horner_of_pairs(lanes, of_erfc, t));
    Value* result = b.CreateFMul(t, real.value_of(real.power_of_two(exponent)));
    Value* is_below = b.CreateFCmpOLT(x, lanes.number(DType::F32, 0));
    result =
        lanes.select(is_below, b.CreateFSub(real.number(2), result), result);
    return lanes.as(DType::F32, result);
}

} // namespace

Value* emit_exponential_kin(Lanes& lanes, ir::Op op, Value* x) {
    if (op == ir::Op::Erfc)
        return erfc_of(lanes, x);
    Exponential exponential(lanes, x);
    if (op == ir::Op::Cosh)
        return lanes.as(DType::F32, exponential.cosh());
    Value* result =
        op == ir::Op::Sinh ? exponential.sinh() : exponential.less_one();
    // -0 is its own.
    return lanes.b.CreateBinaryIntrinsic(llvm::Intrinsic::copysign,
                                         lanes.as(DType::F32, result), x);
}

} // namespace tilefold::llvm_backend
