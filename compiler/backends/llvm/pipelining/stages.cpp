// compiler/backends/llvm/pipelining/stages.cpp - see stages.h.

#include "compiler/backends/llvm/pipelining/stages.h"

#include "compiler/backends/cpu/lower/arena.h"

#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/IntrinsicsX86.h>

#include <algorithm>
#include <cstdlib>
#include <set>
#include <utility>

namespace tilefold::llvm_backend {

using llvm::Instruction;
using llvm::Value;

namespace {

/// Returns the cycles until a result can be used (Zen 4 and 5, Golden Cove
/// within one).
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

/// An operation of a loop's chain, in the order of the block.
struct Operation {
    Instruction* instruction;
    std::vector<std::size_t> users; ///< operations
    int start = 0; ///< cycle of the chain at which its operands are there
    bool is_first = true; ///< reads no operation
    bool is_last = false; ///< reads a value that is carried round the loop
    /// The operation is made when the first that reads it is, since it becomes
    /// one instruction with what reads it, or reads nothing that travels, as
    /// the difference of coordinates.
    bool moves = false;
    int last_use = 0; ///< the start of the last that reads it
    /// The last operation of its row of the tile, or of its reduction there.
    std::size_t row = 0;
};

/// The operations of a loop, and cuts of them into stages.
class Chain {
public:
    Chain(const Loop& loop, int registers) : loop_(loop) {
        for (Instruction& instruction : *loop.block)
            if (is_staged(instruction))
                append(instruction);
        for (const Operation& operation : operations_)
            end_ = std::max(end_, operation.start);
        for (std::size_t k = operations_.size(); k-- > 0;)
            look_at_users(k);
        room_ = registers - at_work -
                std::min(vectors_kept(), most_held(registers));
        least_cycles_ = least_cycles(registers);
        for (int cycle : starts())
            if (const int width = travelling(cycle); width > 0)
                least_ = least_ ? std::min(least_, width) : width;
    }

    Stages cut() {
        cut_at_waists();
        halve();
        return stages();
    }

private:
    /// Registers for what one stage does. Of what stays over all columns, at
    /// most five eighths of the registers are held free: the rest comes from
    /// memory; and so do some more where that makes room for a cut as narrow as
    /// any. One core of a Zen 5, tiles of 1 x 1 to 3 x 1, 12 kernels of D = 1
    /// to 5, with AVX-512: 3 registers fewer at work or 3 more from memory, a
    /// half or all of them held, take up to 1.4 times as long.
    static constexpr int at_work = 1, from_memory = 6;
    /// The 16 registers of AVX2 are too few for a function's coefficients,
    /// which come from memory anyway. One core of a Zen 3, cycles of a D = 3
    /// sum for 8 pairs with 10, 6 and 4 held: exp 10.3, 9.6, 9.6; log 19.5,
    /// 17.2, 23; expm1 29, 22, 22; erfc 44, 41, 42; of float64 exp 18, 17, 16;
    /// log 32, 30, 39. There a stage is a tenth of the operations long: x^a
    /// takes 47 so, else 62.
    static constexpr int few_registers = 16;
    static int most_held(int registers) {
        return registers * (registers > few_registers ? 5 : 3) / 8;
    }
    int least_cycles(int registers) const {
        return registers > few_registers
                   ? loop_.cycles
                   : std::max(loop_.cycles, int(operations_.size()) / 10);
    }

    void append(Instruction& instruction) {
        Operation operation{&instruction, {}};
        const std::size_t number = operations_.size();
        for (const Value* operand : instruction.operands())
            follow(operand, number, operation);
        operation.moves =
            fuses(instruction) || (operation.is_first && !operation.is_last);
        numbers_[&instruction] = number;
        operations_.push_back(std::move(operation));
    }

    /// Notes which operations make an operand. What is none itself, as a
    /// shuffle, is made anew in each stage that reads it: its operands count.
    void follow(const Value* operand, std::size_t number,
                Operation& operation) {
        const auto* from = llvm::dyn_cast<Instruction>(operand);
        if (!from)
            return;
        operation.is_last |= is_carried(from);
        if (from->getParent() != loop_.block || llvm::isa<llvm::PHINode>(from))
            return;
        const auto found = numbers_.find(from);
        if (found == numbers_.end()) {
            for (const Value* further : from->operands())
                follow(further, number, operation);
            return;
        }
        Operation& of = operations_[found->second];
        of.users.push_back(number);
        operation.is_last |= of.is_last;
        operation.start =
            std::max(operation.start, of.start + cycles_of(*from));
        operation.is_first = false;
    }

    /// Notes what the users of an operation decide, after they have been
    /// looked at themselves.
    void look_at_users(std::size_t number) {
        Operation& operation = operations_[number];
        operation.row = number;
        if (operation.is_last)
            operation.start = end_;
        operation.last_use = operation.start;
        if (operation.users.empty())
            return;
        int first_use = end_;
        for (std::size_t user : operation.users) {
            first_use = std::min(first_use, operations_[user].start);
            operation.last_use =
                std::max(operation.last_use, operations_[user].start);
        }
        operation.row = operations_[operation.users.front()].row;
        if (operation.moves)
            operation.start = first_use;
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

    /// Returns how many vectors the loop reads and does not make, and how many
    /// it carries.
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

    /// Returns how many values would travel across a cut at this cycle.
    int travelling(int cycle) const {
        return int(std::ranges::count_if(operations_, [&](const auto& of) {
            return of.start < cycle && cycle <= of.last_use;
        }));
    }

    /// Returns the cycles at which operations start, each once.
    std::vector<int> starts() const {
        std::set<int> all;
        for (const Operation& operation : operations_)
            all.insert(operation.start);
        return {all.begin(), all.end()};
    }

    /// Cuts where the chain is a single value wide for the last time before it
    /// is widest, as an exponential is within, and one operation before: what
    /// is wide begins at once, and with all of its operands there.
    void cut_at_waists() {
        const std::vector<int> cycles = starts();
        int most = 0, wide = 0, before = 0, waist = 0;
        for (int cycle : cycles)
            if (const int width = travelling(cycle); width > most) {
                most = width;
                wide = cycle;
            }
        for (int cycle : cycles)
            if (cycle < wide && travelling(cycle) == least_) {
                before = waist;
                waist = cycle;
            }
        for (int cycle : {waist, before})
            if (cycle > 0)
                static_cast<void>(try_cut(cycle));
    }

    /// Cuts stages in two, the longest first, as far as registers go.
    void halve() {
        std::set<int> done; ///< stages that begin there stay as they are
        for (;;) {
            std::vector<int> ends(cuts_.begin(), cuts_.end());
            ends.push_back(end_);
            int from = 0, longest_from = 0, longest_to = 0;
            for (int to : ends) {
                if (!done.count(from) &&
                    to - from > longest_to - longest_from) {
                    longest_from = from;
                    longest_to = to;
                }
                from = to;
            }
            if (longest_to - longest_from < 2 * least_cycles_)
                return;
            if (!try_cut(middle(longest_from, longest_to)))
                done.insert(longest_from);
        }
    }

    /// Returns where to cut a stage, at least so many cycles from both its
    /// ends: where the fewest values travel, and nearest to the middle; 0
    /// where there is no such place.
    int middle(int from, int to) const {
        int best = 0;
        std::pair least{0, 0};
        for (int cycle : starts()) {
            if (cycle < from + least_cycles_ || cycle > to - least_cycles_)
                continue;
            const std::pair cost{travelling(cycle),
                                 std::abs(2 * cycle - from - to)};
            if (!best || cost < least) {
                best = cycle;
                least = cost;
            }
        }
        return best;
    }

    /// Returns false if there are too few registers, or too many stages.
    bool try_cut(int cycle) {
        const int width = travelling(cycle);
        if (cycle == 0 || width > room_ + (width == least_ ? from_memory : 0) ||
            cuts_.size() == std::size_t(most_run_ahead))
            return false;
        room_ -= width;
        cuts_.insert(cycle);
        return true;
    }

    Stages stages() const {
        std::map<const Instruction*, int> stages;
        std::vector<std::size_t> order(operations_.size());
        const auto stage = [&](std::size_t k) {
            return int(std::distance(cuts_.begin(),
                                     cuts_.upper_bound(operations_[k].start)));
        };
        for (std::size_t k = 0; k < operations_.size(); ++k) {
            stages[operations_[k].instruction] = stage(k);
            order[k] = k;
        }
        std::ranges::stable_sort(order, {}, [&](std::size_t k) {
            return std::pair(operations_[k].row, -stage(k));
        });
        std::vector<Instruction*> instructions;
        for (std::size_t k : order)
            instructions.push_back(operations_[k].instruction);
        return {std::move(stages), std::move(instructions), int(cuts_.size())};
    }

    const Loop& loop_;
    std::vector<Operation> operations_;
    std::map<const Instruction*, std::size_t> numbers_;
    int end_ = 0;          ///< the last start
    int least_ = 0;        ///< values that travel across any cut, at least
    int room_ = 0;         ///< registers for what travels
    int least_cycles_ = 0; ///< of a stage
    std::set<int> cuts_;
};

} // namespace

Stages choose_stages(const Loop& loop, int registers) {
    return Chain(loop, registers).cut();
}

} // namespace tilefold::llvm_backend
