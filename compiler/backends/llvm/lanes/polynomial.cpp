// compiler/backends/llvm/lanes/polynomial.cpp - see polynomial.h.

#include "compiler/backends/llvm/lanes/polynomial.h"

#include <cstddef>

namespace tilefold::llvm_backend {

using llvm::Value;

Value* horner(Lanes& lanes, std::span<const double> coefficients, Value* x) {
    const DType dtype = lanes.dtype_of(x);
    Value* sum = lanes.number(dtype, coefficients.back());
    for (std::size_t k = coefficients.size() - 1; k-- > 0;)
        sum = lanes.fma(sum, x, lanes.number(dtype, coefficients[k]));
    return sum;
}

Value* horner_of_pairs(Lanes& lanes, std::span<const double> coefficients,
                       Value* x) {
    const DType dtype = lanes.dtype_of(x);
    const auto pair = [&](std::size_t k) {
        Value* lower = lanes.number(dtype, coefficients[k]);
        return k + 1 == coefficients.size()
                   ? lower
                   : lanes.fma(lanes.number(dtype, coefficients[k + 1]), x,
                               lower);
    };
    Value* square = lanes.b.CreateFMul(x, x);
    std::size_t k = (coefficients.size() - 1) / 2 * 2;
    Value* sum = pair(k);
    while (k > 0) {
        k -= 2;
        sum = lanes.fma(sum, square, pair(k));
    }
    return sum;
}

} // namespace tilefold::llvm_backend
