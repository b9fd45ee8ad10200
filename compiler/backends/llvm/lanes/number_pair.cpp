// compiler/backends/llvm/lanes/number_pair.cpp - see number_pair.h.

#include "compiler/backends/llvm/lanes/number_pair.h"

#include "compiler/backends/llvm/lanes/avx512.h"

namespace tilefold::llvm_backend {

using llvm::Value;

NumberPair sum_of(Lanes& lanes, Value* larger, Value* smaller) {
    auto& b = lanes.b;
    Value* high = b.CreateFAdd(larger, smaller);
    return {high, b.CreateFAdd(b.CreateFSub(larger, high), smaller)};
}

NumberPair sum_of_any(Lanes& lanes, Value* x, Value* y) {
    auto& b = lanes.b;
    Value* high = b.CreateFAdd(x, y);
    Value* of_y = b.CreateFSub(high, x);
    Value* of_x = b.CreateFSub(high, of_y);
    return {high, b.CreateFAdd(b.CreateFSub(x, of_x), b.CreateFSub(y, of_y))};
}

NumberPair product_of(Lanes& lanes, Value* x, Value* y) {
    Value* high = lanes.b.CreateFMul(x, y);
    return {high, lanes.fma(x, y, lanes.b.CreateFNeg(high))};
}

namespace {

NumberPair by_inverse(Lanes& lanes, const NumberPair& numerator,
                      const NumberPair& divisor, Value* inverse) {
    auto& b = lanes.b;
    Value* high = b.CreateFMul(numerator.high, inverse);
    Value* opposite = b.CreateFNeg(high);
    Value* left = lanes.fma(opposite, divisor.high, numerator.high);
    left = lanes.fma(opposite, divisor.low, left);
    if (numerator.low)
        left = b.CreateFAdd(left, numerator.low);
    return {high, b.CreateFMul(left, inverse)};
}

} // namespace

NumberPair quotient_of(Lanes& lanes, const NumberPair& numerator,
                       const NumberPair& divisor) {
    Value* one = lanes.number(lanes.dtype_of(divisor.high), 1);
    return by_inverse(lanes, numerator, divisor,
                      lanes.b.CreateFDiv(one, divisor.high));
}

NumberPair rough_quotient_of(Lanes& lanes, const NumberPair& numerator,
                             const NumberPair& divisor) {
    if (!has_avx512(lanes))
        return quotient_of(lanes, numerator, divisor);
    return by_inverse(lanes, numerator, divisor,
                      rough_inverse(lanes, divisor.high));
}

} // namespace tilefold::llvm_backend
