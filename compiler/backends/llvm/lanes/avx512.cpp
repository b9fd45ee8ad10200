// compiler/backends/llvm/lanes/avx512.cpp - see avx512.h.

#include "compiler/backends/llvm/lanes/avx512.h"

#include "compiler/backends/llvm/lanes/registers.h"

#include <llvm/IR/IntrinsicsX86.h>

#include <cmath>
#include <initializer_list>
#include <vector>

namespace tilefold::llvm_backend {

using llvm::Value;
using llvm::Intrinsic::ID;

namespace {

constexpr int register_bytes = 64, usual_rounding = 4;

/// Emits an instruction of registers, all lanes of which count. Behind
/// `operands` come `more`, what lanes keep that do not count, the mask, and for
/// most of them the rounding.
Value* unmasked(const Lanes& lanes, ID single, ID wide,
                const std::vector<Value*>& operands,
                std::initializer_list<Value*> more = {}, bool rounds = true) {
    auto& b = lanes.b;
    const DType dtype = lanes.dtype_of(operands.front());
    const int width = register_bytes / int(size_of(dtype));
    return by_registers(b, operands, width, [&](std::vector<Value*> arguments) {
        llvm::Type* type = arguments.front()->getType();
        arguments.insert(arguments.end(), more);
        arguments.push_back(llvm::Constant::getNullValue(type));
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
                    llvm::Intrinsic::x86_avx512_mask_getexp_pd_512, {x});
}

namespace {

/// An interval of mantissas, with NaN for negative numbers.
enum class Mantissas { FromOne = 3 << 2, FromThreeQuarters = 3 << 2 | 3 };

Value* mantissa_in(const Lanes& lanes, Value* x, Mantissas mantissas) {
    return unmasked(lanes, llvm::Intrinsic::x86_avx512_mask_getmant_ps_512,
                    llvm::Intrinsic::x86_avx512_mask_getmant_pd_512, {x},
                    {lanes.b.getInt32(std::uint32_t(mantissas))});
}

} // namespace

Value* mantissa_of(const Lanes& lanes, Value* x) {
    return mantissa_in(lanes, x, Mantissas::FromThreeQuarters);
}

Value* mantissa_from_one(const Lanes& lanes, Value* x) {
    return mantissa_in(lanes, x, Mantissas::FromOne);
}

Value* inverse_estimate(const Lanes& lanes, Value* x) {
    return unmasked(lanes, llvm::Intrinsic::x86_avx512_rcp14_ps_512,
                    llvm::Intrinsic::x86_avx512_rcp14_pd_512, {x}, {}, false);
}

Value* inverse_root_estimate(const Lanes& lanes, Value* x) {
    return unmasked(lanes, llvm::Intrinsic::x86_avx512_rsqrt14_ps_512,
                    llvm::Intrinsic::x86_avx512_rsqrt14_pd_512, {x}, {}, false);
}

Value* times_power_of_two(const Lanes& lanes, Value* x, Value* n) {
    return unmasked(lanes, llvm::Intrinsic::x86_avx512_mask_scalef_ps_512,
                    llvm::Intrinsic::x86_avx512_mask_scalef_pd_512, {x, n});
}

/// By a step of Newton's.
Value* rough_inverse(const Lanes& lanes, Value* x) {
    Value* estimate = inverse_estimate(lanes, x);
    Value* one = lanes.number(lanes.dtype_of(x), 1);
    Value* error = lanes.fma(lanes.b.CreateFNeg(estimate), x, one);
    return lanes.fma(estimate, error, estimate);
}

Value* is_negative_number(const Lanes& lanes, Value* x) {
    auto& b = lanes.b;
    const DType dtype = lanes.dtype_of(x);
    if (!has_avx512(lanes))
        return b.CreateAnd(b.CreateFCmpOLT(x, lanes.number(dtype, 0)),
                           b.CreateFCmpOGT(x, lanes.number(dtype, -INFINITY)));
    constexpr int negative_and_finite = 1 << 6;
    const ID instruction = dtype == DType::F32
                               ? llvm::Intrinsic::x86_avx512_fpclass_ps_512
                               : llvm::Intrinsic::x86_avx512_fpclass_pd_512;
    return by_registers(
        b, x, register_bytes / int(size_of(dtype)), [&](Value* part) {
            return b.CreateIntrinsic(instruction, {},
                                     {part, b.getInt32(negative_and_finite)});
        });
}

} // namespace tilefold::llvm_backend
