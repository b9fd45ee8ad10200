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
    return by_registers(b, std::vector{x}, width,
                        [&](const std::vector<Value*>& registers) {
                            return of_register(registers.front());
                        });
}

Value* by_registers(
    llvm::IRBuilder<>& b, const std::vector<Value*>& operands, int width,
    const std::function<Value*(const std::vector<Value*>&)>& of_registers) {
    const auto each = [&](const auto& change) {
        std::vector<Value*> changed;
        for (Value* x : operands)
            changed.push_back(change(x));
        return changed;
    };
    const auto* vector =
        llvm::dyn_cast<llvm::FixedVectorType>(operands.front()->getType());
    if (!vector)
        return b.CreateExtractElement(of_registers(each([&](Value* x) {
                                          return b.CreateVectorSplat(
                                              unsigned(width), x);
                                      })),
                                      std::uint64_t(0));
    const int count = int(vector->getNumElements());
    if (count == width)
        return of_registers(operands);
    const auto part = [&](int first, int size, int modulus) {
        return each(
            [&](Value* x) { return taken(b, x, first, size, modulus); });
    };
    if (count < width)
        return taken(b, of_registers(part(0, width, count)), 0, count, count);
    const int half = count / 2;
    Value* low = by_registers(b, part(0, half, half), width, of_registers);
    Value* high = by_registers(b, part(half, half, half), width, of_registers);
    return joined(b, low, high, count);
}

} // namespace tilefold::llvm_backend
