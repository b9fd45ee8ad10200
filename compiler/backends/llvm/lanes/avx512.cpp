// compiler/backends/llvm/lanes/avx512.cpp - see avx512.h.

#include "compiler/backends/llvm/lanes/avx512.h"

#include "compiler/backends/llvm/lanes/registers.h"

#include <llvm/IR/IntrinsicsX86.h>

#include <initializer_list>
#include <vector>

namespace tilefold::llvm_backend {

using llvm::Value;
using llvm::Intrinsic::ID;

namespace {

constexpr int register_bytes = 64, usual_rounding = 4;

/// Emits an instruction of one register, all lanes of which count. Behind x
/// come `more`, what lanes keep that do not count, the mask, and for most of
/// them the rounding.
Value* unmasked(const Lanes& lanes, ID single, ID wide, Value* x,
                std::initializer_list<Value*> more = {}, bool rounds = true) {
    auto& b = lanes.b;
    const DType dtype = lanes.dtype_of(x);
    const int width = register_bytes / int(size_of(dtype));
    return by_registers(b, x, width, [&](Value* part) {
        std::vector<Value*> arguments = {part};
        arguments.insert(arguments.end(), more);
        arguments.push_back(llvm::Constant::getNullValue(part->getType()));
        arguments.push_back(
            llvm::ConstantInt::getAllOnesValue(b.getIntNTy(unsigned(width))));
        if (rounds)
            arguments.push_back(b.getInt32(usual_rounding));
        return b.CreateIntrinsic(dtype == DType::F32 ? single : wide, {},
                                 arguments);
    });
}

} // namespace

Value* exponent_of(const Lanes& lanes, Value* x) {
    return unmasked(lanes, llvm::Intrinsic::x86_avx512_mask_getexp_ps_512,
                    llvm::Intrinsic::x86_avx512_mask_getexp_pd_512, x);
}

Value* mantissa_of(const Lanes& lanes, Value* x) {
    constexpr int from_three_quarters = 3, nan_of_negative = 3 << 2;
    return unmasked(lanes, llvm::Intrinsic::x86_avx512_mask_getmant_ps_512,
                    llvm::Intrinsic::x86_avx512_mask_getmant_pd_512, x,
                    {lanes.b.getInt32(from_three_quarters | nan_of_negative)});
}

Value* inverse_estimate(const Lanes& lanes, Value* x) {
    return unmasked(lanes, llvm::Intrinsic::x86_avx512_rcp14_ps_512,
                    llvm::Intrinsic::x86_avx512_rcp14_pd_512, x, {}, false);
}

Value* inverse_root_estimate(const Lanes& lanes, Value* x) {
    return unmasked(lanes, llvm::Intrinsic::x86_avx512_rsqrt14_ps_512,
                    llvm::Intrinsic::x86_avx512_rsqrt14_pd_512, x, {}, false);
}

/// By a step of Newton's.
Value* rough_inverse(const Lanes& lanes, Value* x) {
    Value* estimate = inverse_estimate(lanes, x);
    Value* one = lanes.number(lanes.dtype_of(x), 1);
    Value* error = lanes.fma(lanes.b.CreateFNeg(estimate), x, one);
    return lanes.fma(estimate, error, estimate);
}

} // namespace tilefold::llvm_backend
