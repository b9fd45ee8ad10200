// compiler/backends/llvm/pipelining/stages.h - where the chain of operations of
// a loop over columns is cut into stages.
//
// An operation that waits for its operands holds a place in the processor's
// scheduler, and when places run out, ports stand idle. A stage reads what the
// stage before it has made a turn of the loop earlier, so that short stages
// make operations wait less. What travels from stage to stage is a value in a
// register, though, until there are none left and it goes through memory.
#pragma once

#include <llvm/IR/Instructions.h>

#include <cstdint>
#include <map>
#include <vector>

namespace tilefold::llvm_backend {

/// A loop of one block, taken apart into its operations.
struct Loop {
    llvm::BasicBlock* block = nullptr;
    llvm::BasicBlock* preheader = nullptr;
    llvm::BasicBlock* exit = nullptr;
    llvm::PHINode* index = nullptr;
    std::vector<llvm::PHINode*> carried;
    llvm::Instruction* next = nullptr; ///< index + step
    llvm::Value* limit = nullptr;      ///< while next < limit
    int cycles = 0;                    ///< of a stage, at least
    bool stays_inside = false;         ///< reads nothing beyond either end
};

/// The stage of each operation. Loads, broadcasts and addresses have none: they
/// are remade wherever they are used, and cost nothing as operands.
class Stages {
public:
    Stages(std::map<const llvm::Instruction*, int> stages,
           std::vector<llvm::Instruction*> order, int last)
        : stages_(std::move(stages)), order_(std::move(order)), last_(last) {}

    int last() const { return last_; }
    /// The order in which operations are best done: row by row and, within a
    /// row, the last stage first, so that it has read what travels to it
    /// before the next takes that one's register.
    const std::vector<llvm::Instruction*>& order() const { return order_; }
    bool has(const llvm::Instruction* instruction) const {
        return stages_.count(instruction) != 0;
    }
    int of(const llvm::Instruction* instruction) const {
        return stages_.at(instruction);
    }

private:
    std::map<const llvm::Instruction*, int> stages_;
    std::vector<llvm::Instruction*> order_;
    int last_;
};

/// Returns as many stages as `registers` (of vectors) suffice for. They have
/// the length asked for or are longer, but for a last operation before an
/// exponential.
Stages choose_stages(const Loop& loop, int registers);

} // namespace tilefold::llvm_backend
