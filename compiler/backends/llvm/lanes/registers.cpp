// compiler/backends/llvm/lanes/registers.cpp - see registers.h.

#include "compiler/backends/llvm/lanes/registers.h"

#include <cstdint>

namespace tilefold::llvm_backend {

using llvm::Value;

namespace {

/// Returns `size` elements from `first` on, of which `modulus` differ.
Value* taken(llvm::IRBuilder<>& b, Value* from, int first, int size,
             int modulus) {
    llvm::SmallVector<int, 64> elements;
    for (int k = 0; k < size; ++k)
        elements.push_back(first + k % modulus);
    return b.CreateShuffleVector(from, elements);
}

Value* joined(llvm::IRBuilder<>& b, Value* low, Value* high, int size) {
    llvm::SmallVector<int, 64> elements;
    for (int k = 0; k < size; ++k)
        elements.push_back(k);
    return b.CreateShuffleVector(low, high, elements);
}

} // namespace

Value* by_registers(llvm::IRBuilder<>& b, Value* x, int width,
                    const std::function<Value*(Value*)>& of_register) {
    const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(x->getType());
    if (!vector)
        return b.CreateExtractElement(
            of_register(b.CreateVectorSplat(unsigned(width), x)),
            std::uint64_t(0));
    const int count = int(vector->getNumElements());
    if (count == width)
        return of_register(x);
    if (count < width)
        return taken(b, of_register(taken(b, x, 0, width, count)), 0, count,
                     count);
    const int half = count / 2;
    Value* low =
        by_registers(b, taken(b, x, 0, half, half), width, of_register);
    Value* high =
        by_registers(b, taken(b, x, half, half, half), width, of_register);
    return joined(b, low, high, count);
}

} // namespace tilefold::llvm_backend
