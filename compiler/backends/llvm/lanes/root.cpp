// compiler/backends/llvm/lanes/root.cpp - see root.h.
//
// A processor has one unit for roots and divisions, and no more than half of it
// at once for vectors of 64 bytes: on an Emerald Rapids, of f64 a root takes 24
// cycles and a division 16, where products take half a one. AVX-512's estimate
// of 1/√x has 14 bits; from there on steps of Newton's double or triple them
// (Markstein, "IA-64 and Elementary Functions", 2000, chapter 9).

#include "compiler/backends/llvm/lanes/root.h"

#include "compiler/backends/llvm/lanes/avx512.h"

#include <llvm/ADT/FloatingPointMode.h>

namespace tilefold::llvm_backend {

using llvm::Value;

namespace {

bool has_estimate(const Lanes& lanes) {
    return has_avx512(lanes) && lanes.width() > 1;
}

/// A step leaves e² of a residual e, or e³.
enum class Order : std::uint8_t { Second, Third };

/// Returns 1/√x from y, whose residual is e = 1 - x y².
Value* corrected(const Lanes& lanes, Value* y, Value* e, Order order) {
    const DType dtype = lanes.dtype_of(y);
    Value* slope = lanes.number(dtype, 0.5);
    if (order == Order::Third)
        slope = lanes.fma(e, lanes.number(dtype, 0.375), slope);
    return lanes.fma(lanes.b.CreateFMul(y, slope), e, y);
}

/// Returns 1/√x to 40 bits; NaN of 0 and infinity.
Value* to_40_bits(const Lanes& lanes, Value* x, Value* estimate) {
    auto& b = lanes.b;
    Value* root = b.CreateFMul(x, estimate);
    Value* e = lanes.fma(b.CreateFNeg(root), estimate,
                         lanes.number(lanes.dtype_of(x), 1));
    return corrected(lanes, estimate, e, Order::Third);
}

/// x y in two parts, and 1 - x y² of both.
struct Residual {
    Value *root, *lost, *rest;
};

Residual residual_of(const Lanes& lanes, Value* x, Value* y) {
    auto& b = lanes.b;
    Value* root = b.CreateFMul(x, y);
    Value* lost = lanes.fma(x, y, b.CreateFNeg(root));
    Value* rest =
        lanes.fma(b.CreateFNeg(root), y, lanes.number(lanes.dtype_of(x), 1));
    return {root, lost, lanes.fma(b.CreateFNeg(lost), y, rest)};
}

} // namespace

Value* emit_root(const Lanes& lanes, Value* x) {
    auto& b = lanes.b;
    const bool is_slow = lanes.dtype_of(x) == DType::F64 &&
                         row_of(lanes.isa()).ports == Ports::Shared;
    if (!has_estimate(lanes) || !is_slow)
        return b.CreateUnaryIntrinsic(llvm::Intrinsic::sqrt, x);
    Value* y = to_40_bits(lanes, x, inverse_root_estimate(lanes, x));
    const Residual r = residual_of(lanes, x, y);
    Value* half = b.CreateFMul(r.root, lanes.number(DType::F64, 0.5));
    Value* root = b.CreateFAdd(r.root, lanes.fma(half, r.rest, r.lost));
    Value* is_own = b.createIsFPClass(x, llvm::fcZero | llvm::fcPosInf);
    return lanes.select(is_own, x, root);
}

/// Where y is right as it is, the residual is NaN.
Value* emit_inverse_root(const Lanes& lanes, Value* x) {
    auto& b = lanes.b;
    const DType dtype = lanes.dtype_of(x);
    const auto step = [&](Value* y, Order order) {
        return corrected(lanes, y, residual_of(lanes, x, y).rest, order);
    };
    const auto unless_nan = [&](Value* y, Value* right) {
        return lanes.select(b.CreateFCmpUNO(y, y), right, y);
    };
    if (!has_estimate(lanes)) {
        Value* y =
            b.CreateFDiv(lanes.number(dtype, 1),
                         b.CreateUnaryIntrinsic(llvm::Intrinsic::sqrt, x));
        return unless_nan(step(y, Order::Second), y);
    }
    Value* estimate = inverse_root_estimate(lanes, x);
    Value* y = dtype == DType::F32
                   ? step(estimate, Order::Third)
                   : step(to_40_bits(lanes, x, estimate), Order::Second);
    return unless_nan(y, estimate);
}

} // namespace tilefold::llvm_backend
