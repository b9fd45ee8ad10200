// compiler/backends/llvm/pipelining/software_pipeline.cpp - loops over columns
// as overlapping stages: modulo scheduling on the IR, stage by stage.
//
// The new loop runs twice from its outer header: over the first `last`
// columns to fill the stages, with what the accumulators take up thrown away,
// then over all of them:
//
//   outer: k from {first, first + last}, accumulators from their start
//   body:  stage s works on column k - s; a value that stage s makes and
//          stage s + d reads travels through d phis
//
// Lam: Software pipelining: an effective scheduling technique for VLIW
// machines (1988).

#include "compiler/backends/llvm/pipelining/software_pipeline.h"

#include "compiler/backends/llvm/pipelining/stages.h"

#include <llvm/IR/Constants.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/IntrinsicsX86.h>

#include <algorithm>
#include <map>
#include <set>
#include <vector>

namespace tilefold::llvm_backend {

using llvm::BasicBlock;
using llvm::Instruction;
using llvm::PHINode;
using llvm::Value;

namespace {

constexpr char metadata_name[] = "tilefold.stages";

/// It may be done of the zeros, too, that stages are filled with: a division
/// would trap.
bool is_pure(const Instruction& instruction) {
    if (llvm::isa<llvm::LoadInst>(instruction))
        return true;
    return !instruction.isIntDivRem() && !instruction.mayReadOrWriteMemory() &&
           !instruction.mayHaveSideEffects();
}

void take_request(const BasicBlock& block, Loop& loop) {
    const llvm::MDNode* node =
        block.getTerminator()->getMetadata(metadata_name);
    if (!node)
        return;
    const auto number = [&](unsigned k) {
        return llvm::mdconst::extract<llvm::ConstantInt>(node->getOperand(k))
            ->getSExtValue();
    };
    loop.cycles = int(number(0));
    loop.stays_inside = number(1) != 0;
}

/// Fills in `loop` from its block; returns false where a requirement fails.
bool take_apart(BasicBlock& block, Loop& loop) {
    loop.block = &block;
    take_request(block, loop);
    auto* branch = llvm::dyn_cast<llvm::BranchInst>(block.getTerminator());
    if (!loop.cycles || !branch || !branch->isConditional() ||
        branch->getSuccessor(0) != &block)
        return false;
    loop.exit = branch->getSuccessor(1);
    auto* compare = llvm::dyn_cast<llvm::ICmpInst>(branch->getCondition());
    if (!compare || compare->getPredicate() != llvm::CmpInst::ICMP_SLT)
        return false;
    loop.next = llvm::dyn_cast<Instruction>(compare->getOperand(0));
    loop.limit = compare->getOperand(1);
    for (PHINode& phi : block.phis()) {
        if (phi.getIncomingValueForBlock(&block) == loop.next)
            loop.index = &phi;
        else
            loop.carried.push_back(&phi);
        for (BasicBlock* from : phi.blocks())
            if (from != &block)
                loop.preheader = from;
    }
    return loop.index && loop.next && loop.preheader &&
           std::all_of(block.begin(), block.end(), [](Instruction& i) {
               return i.isTerminator() || llvm::isa<PHINode>(i) || is_pure(i);
           });
}

/// Writes the new loop beside the old one and takes its place.
class Cutter {
public:
    Cutter(const Loop& loop, const Stages& stages)
        : loop_(loop), stages_(stages), b_(loop.block->getContext()) {}

    void cut() {
        make_blocks();
        for (Instruction* instruction : stages_.order())
            clone(*instruction, stages_.of(instruction));
        close_body();
        replace();
    }

private:
    void make_blocks() {
        llvm::Function* function = loop_.block->getParent();
        auto& context = loop_.block->getContext();
        outer_ = BasicBlock::Create(context, "stages", function, loop_.block);
        body_ = BasicBlock::Create(context, "stage", function, loop_.block);
        latch_ = BasicBlock::Create(context, "filled", function, loop_.block);
        b_.SetInsertPoint(outer_);
        llvm::Type* integer = b_.getInt64Ty();
        filled_ = b_.CreatePHI(b_.getInt1Ty(), 2, "filled");
        first_ = b_.CreatePHI(integer, 2);
        b_.SetInsertPoint(body_);
        k_ = b_.CreatePHI(integer, 2, "k");
        for (PHINode* phi : loop_.carried) {
            PHINode* copy = b_.CreatePHI(phi->getType(), 2);
            copy->addIncoming(phi->getIncomingValueForBlock(loop_.preheader),
                              outer_);
            copies_[{phi, stages_.last()}] = copy;
        }
        last_phi_ = k_;
    }

    Value* step() const {
        return loop_.next->getOperand(0) == loop_.index
                   ? loop_.next->getOperand(1)
                   : loop_.next->getOperand(0);
    }

    /// Returns `value` as an instruction of stage `stage` reads it.
    Value* operand(Value* value, int stage) {
        auto* instruction = llvm::dyn_cast<Instruction>(value);
        if (!instruction || instruction->getParent() != loop_.block)
            return value;
        if (instruction == loop_.index)
            return column(stage);
        if (!stages_.has(instruction))
            return clone(*instruction, stage);
        return travelled(instruction, stage - stages_.of(instruction));
    }

    /// Returns the column that `stage` works on: k - stage * step. What keeps
    /// it inside cannot stand in the loop before: there, no column is outside.
    Value* column(int stage) {
        Value*& known = columns_[stage];
        if (!known) {
            llvm::IRBuilder<> at_start(body_, body_->getFirstInsertionPt());
            Value* behind = at_start.CreateMul(
                step(), at_start.getInt64(std::uint64_t(stage)));
            known = at_start.CreateSub(k_, behind);
            if (loop_.stays_inside)
                known = inside(at_start, known, stage);
        }
        return known;
    }

    Value* inside(llvm::IRBuilder<>& b, Value* column, int stage) {
        if (stage < stages_.last())
            column = b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, column,
                                             b.CreateSub(loop_.limit, step()));
        if (stage > 0)
            column =
                b.CreateBinaryIntrinsic(llvm::Intrinsic::smax, column, start());
        return column;
    }

    Value* start() const {
        return loop_.index->getIncomingValueForBlock(loop_.preheader);
    }

    Value* clone(Instruction& instruction, int stage) {
        Value*& known = copies_[{&instruction, stage}];
        if (known)
            return known;
        if (llvm::isa<PHINode>(instruction))
            return known; // carried: made with the blocks
        Instruction* copy = instruction.clone();
        for (llvm::Use& use : copy->operands())
            use.set(operand(use.get(), stage));
        b_.SetInsertPoint(body_);
        b_.Insert(copy);
        return copies_[{&instruction, stage}] = copy;
    }

    /// Returns what `instruction` made `distance` columns ago.
    Value* travelled(Instruction* instruction, int distance) {
        if (distance == 0)
            return clone(*instruction, stages_.of(instruction));
        Value*& known = travelled_[{instruction, distance}];
        if (!known) {
            PHINode* phi =
                PHINode::Create(instruction->getType(), 2, "", nullptr);
            phi->insertAfter(last_phi_->getIterator());
            last_phi_ = phi;
            known = phi;
            open_.push_back({phi, instruction, distance});
        }
        return known;
    }

    void close_body() {
        // Closing a phi may open another, one column earlier.
        for (std::size_t k = 0; k < open_.size(); ++k) {
            const auto [phi, instruction, distance] = open_[k];
            Value* latest = travelled(instruction, distance - 1);
            llvm::IRBuilder<> at_outer(outer_, outer_->begin());
            PHINode* start = at_outer.CreatePHI(phi->getType(), 2);
            start->addIncoming(llvm::Constant::getNullValue(phi->getType()),
                               loop_.preheader);
            start->addIncoming(latest, latch_);
            phi->addIncoming(start, outer_);
            phi->addIncoming(latest, body_);
        }
        close_control();
        for (PHINode* phi : loop_.carried)
            llvm::cast<PHINode>(copies_.at({phi, stages_.last()}))
                ->addIncoming(final_value(phi), body_);
    }

    /// Returns what a carried value becomes in one turn.
    Value* final_value(PHINode* phi) {
        return operand(phi->getIncomingValueForBlock(loop_.block),
                       stages_.last());
    }

    void close_control() {
        b_.SetInsertPoint(outer_);
        Value* depth =
            b_.CreateMul(step(), b_.getInt64(std::uint64_t(stages_.last())));
        llvm::IRBuilder<> before(loop_.preheader->getTerminator());
        first_->addIncoming(start(), loop_.preheader);
        first_->addIncoming(before.CreateAdd(start(), step_times(before)),
                            latch_);
        filled_->addIncoming(b_.getFalse(), loop_.preheader);
        filled_->addIncoming(b_.getTrue(), latch_);
        Value* end =
            b_.CreateAdd(b_.CreateSelect(filled_, loop_.limit, start()), depth);
        b_.CreateBr(body_);
        b_.SetInsertPoint(body_);
        k_->addIncoming(first_, outer_);
        Value* next = b_.CreateAdd(k_, step());
        k_->addIncoming(next, body_);
        b_.CreateCondBr(b_.CreateICmpSLT(next, end), body_, latch_);
        b_.SetInsertPoint(latch_);
        b_.CreateCondBr(filled_, loop_.exit, outer_);
    }

    Value* step_times(llvm::IRBuilder<>& b) {
        return b.CreateMul(step(), b.getInt64(std::uint64_t(stages_.last())));
    }

    void replace() {
        loop_.preheader->getTerminator()->replaceSuccessorWith(loop_.block,
                                                               outer_);
        for (PHINode& phi : loop_.exit->phis()) {
            const int place = phi.getBasicBlockIndex(loop_.block);
            if (place < 0)
                continue;
            Value* value = phi.getIncomingValue(unsigned(place));
            phi.setIncomingBlock(unsigned(place), latch_);
            phi.setIncomingValue(unsigned(place),
                                 operand(value, stages_.last()));
        }
        loop_.block->dropAllReferences();
        loop_.block->eraseFromParent();
    }

    struct Open {
        PHINode* phi;
        Instruction* instruction;
        int distance;
    };

    const Loop& loop_;
    const Stages& stages_;
    llvm::IRBuilder<> b_;
    BasicBlock* outer_ = nullptr;
    BasicBlock* body_ = nullptr;
    BasicBlock* latch_ = nullptr;
    PHINode* filled_ = nullptr;
    PHINode* first_ = nullptr;
    PHINode* k_ = nullptr;
    PHINode* last_phi_ = nullptr;
    std::map<std::pair<Instruction*, int>, Value*> copies_;
    std::map<std::pair<Instruction*, int>, Value*> travelled_;
    std::map<int, Value*> columns_;
    std::vector<Open> open_;
};

} // namespace

void request_stages(Instruction& branch, int cycles, bool stays_inside) {
    auto& context = branch.getContext();
    const auto number = [&](int value) {
        return llvm::ConstantAsMetadata::get(llvm::ConstantInt::get(
            llvm::Type::getInt64Ty(context), std::uint64_t(value)));
    };
    branch.setMetadata(
        metadata_name,
        llvm::MDNode::get(context, {number(cycles), number(stays_inside)}));
}

void cut_into_stages(llvm::Function& function, int registers) {
    std::vector<Loop> loops;
    for (BasicBlock& block : function) {
        Loop loop;
        if (take_apart(block, loop))
            loops.push_back(loop);
    }
    for (const Loop& loop : loops) {
        const Stages stages = choose_stages(loop, registers);
        if (stages.last() > 0)
            Cutter(loop, stages).cut();
    }
}

} // namespace tilefold::llvm_backend
