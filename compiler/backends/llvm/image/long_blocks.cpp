// compiler/backends/llvm/image/long_blocks.cpp - see long_blocks.h.

#include "compiler/backends/llvm/image/long_blocks.h"

#include <llvm/IR/BasicBlock.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/Instructions.h>

#include <cstddef>
#include <iterator>
#include <vector>

namespace tilefold::llvm_backend {
namespace {

using llvm::BasicBlock;
using llvm::Instruction;

constexpr std::ptrdiff_t most_instructions = 1000;

bool is_sum(const Instruction& instruction) {
    return instruction.getOpcode() == Instruction::FAdd ||
           instruction.getOpcode() == Instruction::FSub;
}

/// Products of `before` move to the sums of `after` that alone take them: the
/// two are one rounding only within a block.
void move_products(const BasicBlock& before, BasicBlock& after) {
    for (Instruction& sum : after)
        for (llvm::Value* operand : sum.operands()) {
            auto* product = llvm::dyn_cast<Instruction>(operand);
            if (is_sum(sum) && product && product->hasOneUse() &&
                product->getOpcode() == Instruction::FMul &&
                product->getParent() == &before)
                product->moveBefore(sum.getIterator());
        }
}

/// From the end on, so that few instructions move.
void cut(BasicBlock& block) {
    for (auto left = std::ptrdiff_t(block.size()); left > 2 * most_instructions;
         left -= most_instructions) {
        const auto place = std::prev(block.end(), most_instructions);
        if (llvm::isa<llvm::PHINode>(*place))
            return;
        BasicBlock& rest = *block.splitBasicBlock(place);
        // LLVM would join the two again, but for a block that something may
        // refer to.
        llvm::BlockAddress::get(&rest);
        move_products(block, rest);
    }
}

} // namespace

void cut_long_blocks(llvm::Function& function) {
    std::vector<BasicBlock*> blocks;
    for (BasicBlock& block : function)
        blocks.push_back(&block);
    for (BasicBlock* block : blocks)
        cut(*block);
}

} // namespace tilefold::llvm_backend
