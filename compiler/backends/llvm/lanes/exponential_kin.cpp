// compiler/backends/llvm/lanes/exponential_kin.cpp - expm1, sinh and cosh of
// F32, in place: by tables where a register's permutation reads them, else in
// double.
//
// e^x - 1 = p 2^n + (2^n - 1) keeps its digits near 0. Where E is that,
// e^-x - 1 = -E/(1 + E) = -E e^-x.

#include "compiler/backends/llvm/lanes/in_double.h"
#include "compiler/backends/llvm/lanes/math.h"
#include "compiler/backends/llvm/lanes/piece_choice.h"

#include <numbers>

namespace tilefold::llvm_backend {
namespace {

using llvm::Value;

class ExponentialKin {
public:
    ExponentialKin(Lanes& lanes, Value* x)
        : lanes_(lanes), real_(lanes),
          power_(real_.power_of_two(real_.held(lanes.b.CreateFMul(
              real_.doubled(x), real_.number(std::numbers::log2e))))) {
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

} // namespace

Value* emit_exponential_kin(Lanes& lanes, ir::Op op, Value* x) {
    if (PieceChoice::is_quick(lanes, DType::F32))
        return op == ir::Op::Expm1 ? expm1_by_table(lanes, x)
                                   : hyperbolic_by_table(lanes, op, x);
    ExponentialKin exponential(lanes, x);
    if (op == ir::Op::Cosh)
        return lanes.as(DType::F32, exponential.cosh());
    Value* result =
        op == ir::Op::Sinh ? exponential.sinh() : exponential.less_one();
    // -0 is its own.
    return lanes.with_sign_of(x, lanes.as(DType::F32, result));
}

} // namespace tilefold::llvm_backend
