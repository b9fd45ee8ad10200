// compiler/backends/llvm/stages.cpp - see stages.h.

#include "compiler/backends/llvm/stages.h"

#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/IntrinsicsX86.h>

#include <algorithm>
#include <set>

namespace tilefold::llvm_backend {

using llvm::Instruction;
using llvm::Value;

namespace {

/// Cycles until a result can be used (Zen 4 and 5, Golden Cove within one).
int latency_of(const Instruction& instruction) {
    if (const auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction))
        switch (call->getIntrinsicID()) {
        case llvm::Intrinsic::x86_avx512_mask_reduce_ps_512:
        case llvm::Intrinsic::x86_avx512_mask_reduce_pd_512:
            return 6;
        case llvm::Intrinsic::x86_avx512_permvar_sf_512:
        case llvm::Intrinsic::x86_avx512_vpermi2var_pd_512:
            return 5;
        case llvm::Intrinsic::sqrt:
            return 16;
        default:
            return 4;
        }
    switch (instruction.getOpcode()) {
    case Instruction::FDiv:
        return 13;
    case Instruction::FMul:
        return 4;
    case Instruction::BitCast:
        return 0;
    default:
        return 3;
    }
}

bool is_staged(const Instruction& instruction) {
    return !llvm::isa<llvm::PHINode>(instruction) &&
           instruction.getType()->isVectorTy() &&
           !llvm::isa<llvm::LoadInst>(instruction) &&
           !llvm::isa<llvm::ShuffleVectorInst>(instruction) &&
           !llvm::isa<llvm::InsertElementInst>(instruction);
}

/// Of a loop's chain, in the order of the block.
struct Operation {
    const Instruction* instruction;
    std::vector<std::size_t> users; ///< operations
    int start = 0; ///< cycle of the chain at which its operands are there
    bool is_last = false; ///< reads a value that is carried round the loop
    /// Is made in the stage that first reads it, since it becomes one
    /// instruction with what reads it, or reads nothing that travels, as the
    /// difference of coordinates.
    bool moves = false;
};

/// The operations of a loop, and what stages of them cost.
class Chain {
public:
    Chain(const Loop& loop, int registers) : loop_(loop) {
        for (const Instruction& instruction : *loop.block)
            if (is_staged(instruction))
                append(instruction);
        room_ = registers + from_memory - vectors_kept();
        stages_.resize(operations_.size());
    }

    Stages cut() {
        const int shortest = loop_.cycles, longest = 2 * shortest;
        int best = shortest;
        double least = cost(shortest);
        for (int cycles = shortest + 1; cycles <= longest && last_ > 0;
             ++cycles)
            if (const double found = cost(cycles); found < least) {
                least = found;
                best = cycles;
            }
        assign(best);
        std::map<const Instruction*, int> stages;
        for (std::size_t k = 0; k < operations_.size(); ++k)
            stages[operations_[k].instruction] = stages_[k];
        return {std::move(stages), last_};
    }

private:
    /// A register too many costs as much as if every operation waited for so
    /// many cycles; some operands come from memory for nothing. Where registers
    /// do not suffice, stages of one cycle less may take twice or four times as
    /// long: on a Zen 5, tiles of 2 x 1, a D = 5 Gaussian in f64 runs at 3.9 G
    /// pairs/s with stages of 18 cycles, at 2.5 with 11. Of 15 kernels of D = 1
    /// to 5 in such tiles, each of 22 lengths, what is chosen of 8 to 16 cycles
    /// takes 1.05 times the least.
    static constexpr double spill = 2;
    static constexpr int from_memory = 2;

    void append(const Instruction& instruction) {
        Operation operation{&instruction, {}};
        bool is_first = true;
        const std::size_t number = operations_.size();
        for (const Value* operand : instruction.operands()) {
            const auto* from = llvm::dyn_cast<Instruction>(operand);
            operation.is_last |= is_carried(from);
            const auto found = numbers_.find(from);
            if (found == numbers_.end())
                continue;
            Operation& of = operations_[found->second];
            of.users.push_back(number);
            operation.is_last |= of.is_last;
            operation.start =
                std::max(operation.start, of.start + cycles_of(*from));
            is_first = false;
        }
        operation.moves =
            fuses(instruction) || (is_first && !operation.is_last);
        numbers_[&instruction] = number;
        operations_.push_back(std::move(operation));
    }

    int cycles_of(const Instruction& instruction) const {
        return fuses(instruction) ? 0 : latency_of(instruction);
    }

    /// Whether it becomes one operation with the one that reads it: a product
    /// with a sum, a comparison with a choice (a largest value; and masks of
    /// lanes are no values of AVX2, to be kept for a later stage).
    bool fuses(const Instruction& instruction) const {
        if (!instruction.hasOneUse())
            return false;
        const auto* user =
            llvm::dyn_cast<Instruction>(*instruction.user_begin());
        if (!user || user->getParent() != loop_.block || !is_staged(*user))
            return false;
        if (instruction.getType()->getScalarType()->isIntegerTy(1))
            return true;
        return instruction.getOpcode() == Instruction::FMul &&
               (user->getOpcode() == Instruction::FAdd ||
                user->getOpcode() == Instruction::FSub);
    }

    bool is_carried(const Instruction* instruction) const {
        return std::ranges::find(loop_.carried, instruction) !=
               loop_.carried.end();
    }

    /// Vectors that the loop reads and does not make, and those it carries.
    int vectors_kept() const {
        std::set<const Value*> read;
        for (const Operation& operation : operations_)
            for (const Value* operand : operation.instruction->operands()) {
                const auto* from = llvm::dyn_cast<Instruction>(operand);
                if (operand->getType()->isVectorTy() &&
                    (!from || from->getParent() != loop_.block))
                    read.insert(operand);
            }
        return int(read.size() + loop_.carried.size());
    }

    /// Stages of so many cycles.
    void assign(int cycles) {
        last_ = 0;
        for (const Operation& operation : operations_)
            last_ = std::max(last_, operation.start / cycles);
        last_ = std::min(last_, int(margin));
        for (std::size_t k = operations_.size(); k-- > 0;) {
            const Operation& operation = operations_[k];
            int stage = operation.is_last
                            ? last_
                            : std::min(operation.start / cycles, last_);
            if (operation.moves && !operation.users.empty()) {
                stage = last_;
                for (std::size_t user : operation.users)
                    stage = std::min(stage, stages_[user]);
            }
            stages_[k] = stage;
        }
    }

    /// Cycles that operations wait after their stage has begun, on average, and
    /// what the registers cost that there are not.
    double cost(int cycles) {
        assign(cycles);
        int waiting = 0, travelling = 0;
        for (std::size_t k = 0; k < operations_.size(); ++k) {
            const Operation& operation = operations_[k];
            int last = stages_[k];
            for (std::size_t user : operation.users)
                last = std::max(last, stages_[user]);
            travelling += last - stages_[k];
            waiting += std::max(operation.start - stages_[k] * cycles, 0);
        }
        return double(waiting) / double(operations_.size()) +
               spill * std::max(travelling - room_, 0);
    }

    const Loop& loop_;
    std::vector<Operation> operations_;
    std::map<const Instruction*, std::size_t> numbers_;
    int room_ = 0;            ///< registers for what travels
    std::vector<int> stages_; ///< by operation, of the present length …
    int last_ = 0;            ///< … and the last of them
};

} // namespace

Stages choose_stages(const Loop& loop, int registers) {
    return Chain(loop, registers).cut();
}

} // namespace tilefold::llvm_backend
