// compiler/backends/llvm/lanes/number_pair.cpp - see number_pair.h.

#include "compiler/backends/llvm/lanes/number_pair.h"

namespace tilefold::llvm_backend {

using llvm::Value;

NumberPair sum_of(Lanes& lanes, Value* larger, Value* smaller) {
    auto& b = lanes.b;
    Value* high = b.CreateFAdd(larger, smaller);
    return {high, b.CreateFAdd(b.CreateFSub(larger, high), smaller)};
}

NumberPair product_of(Lanes& lanes, Value* x, Value* y) {
    Value* high = lanes.b.CreateFMul(x, y);
    return {high, lanes.fma(x, y, lanes.b.CreateFNeg(high))};
}

NumberPair quotient_of(Lanes& lanes, const NumberPair& numerator,
                       const NumberPair& divisor) {
    auto& b = lanes.b;
    Value* one = lanes.number(lanes.dtype_of(divisor.high), 1);
    Value* inverse = b.CreateFDiv(one, divisor.high);
    Value* high = b.CreateFMul(numerator.high, inverse);
    Value* opposite = b.CreateFNeg(high);
    Value* left = lanes.fma(opposite, divisor.high, numerator.high);
    left = lanes.fma(opposite, divisor.low, left);
    if (numerator.low)
        left = b.CreateFAdd(left, numerator.low);
    return {high, b.CreateFMul(left, inverse)};
}

} // namespace tilefold::llvm_backend
