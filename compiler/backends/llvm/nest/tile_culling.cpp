// compiler/backends/llvm/nest/tile_culling.cpp - interval arithmetic as scalar
// code.

#include "compiler/backends/llvm/nest/tile_culling.h"

#include "compiler/passes/bounds.h"

namespace tilefold::llvm_backend {

using ir::ValueId;
using llvm::Value;

namespace {

/// Computes bounds in the kernel, in f64.
class EmittedArithmetic {
public:
    using Number = Value*;
    using Truth = Value*;

    EmittedArithmetic(Entry& entry, Value* i0, Value* i1, Value* j0, Value* j1)
        : b_(entry.b), entry_(entry), i0_(i0), i1_(i1), j0_(j0), j1_(j1) {}

    Number number(double value) const {
        return llvm::ConstantFP::get(b_.getDoubleTy(), value);
    }
    Number lowest(Axes axis) const { return real(axis == Axes::I ? i0_ : j0_); }
    Number highest(Axes axis) const {
        return real(b_.CreateSub(axis == Axes::I ? i1_ : j1_, b_.getInt64(1)));
    }
    /// Reads a value as prepare left it: integers as such, all else unrounded.
    Number read(ValueId id) const {
        const Placement& placement = entry_.writer.kernel.placement;
        Value* base = entry_.writer.field(
            b_, entry_.call, offsetof(tilefold_kernel_call, constants), true);
        Value* place =
            entry_.lanes.byte_offset(base, placement.constants.at(id) * 8);
        if (entry_.writer.graph[id].type.dtype == DType::I64)
            return real(b_.CreateLoad(b_.getInt64Ty(), place));
        return b_.CreateLoad(b_.getDoubleTy(), place);
    }
    Number add(Number x, Number y) const { return b_.CreateFAdd(x, y); }
    Number sub(Number x, Number y) const { return b_.CreateFSub(x, y); }
    Number mul(Number x, Number y) const { return b_.CreateFMul(x, y); }
    Number div(Number x, Number y) const { return b_.CreateFDiv(x, y); }
    Number neg(Number x) const { return b_.CreateFNeg(x); }
    Number floor(Number x) const {
        return b_.CreateUnaryIntrinsic(llvm::Intrinsic::floor, x);
    }
    Number abs(Number x) const {
        return b_.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, x);
    }
    Number min(Number x, Number y) const { return b_.CreateMinimum(x, y); }
    Number max(Number x, Number y) const { return b_.CreateMaximum(x, y); }
    Truth less(Number x, Number y) const { return b_.CreateFCmpOLT(x, y); }
    Truth less_equal(Number x, Number y) const {
        return b_.CreateFCmpOLE(x, y);
    }
    Truth both(Truth x, Truth y) const { return b_.CreateAnd(x, y); }
    Truth either(Truth x, Truth y) const { return b_.CreateOr(x, y); }
    Truth not_(Truth x) const { return b_.CreateNot(x); }
    Truth truth(bool value) const { return b_.getInt1(value); }

private:
    Number real(Value* number) const {
        return b_.CreateSIToFP(number, b_.getDoubleTy());
    }

    llvm::IRBuilder<>& b_;
    Entry& entry_;
    Value *i0_, *i1_, *j0_, *j1_;
};

} // namespace

TileGuard::TileGuard(Entry& entry) : entry_(entry) {
    const ModuleWriter& writer = entry.writer;
    for (ValueId id : writer.kernel.placement.reductions) {
        masks_.push_back(masks_of(writer.graph, writer.graph[id]));
        if (!masks_.back().empty())
            continue;
        masks_.clear();
        return;
    }
    auto& b = entry.b;
    const auto given = [&](std::size_t offset) {
        return b.CreateIsNotNull(writer.field(b, entry.call, offset, true));
    };
    listed_ = b.CreateOr(given(offsetof(tilefold_kernel_call, row_index)),
                         given(offsetof(tilefold_kernel_call, column_index)));
}

Value* TileGuard::may_count(Value* i0, Value* i1, Value* j0, Value* j1) {
    EmittedArithmetic arithmetic(entry_, i0, i1, j0, j1);
    Bounds bounds(entry_.writer.graph, arithmetic);
    Value* any = listed_;
    for (const auto& masks : masks_)
        any = entry_.b.CreateOr(any, bounds.may_hold(masks));
    return any;
}

void TileGuard::note(bool met, Value* number) {
    auto& b = entry_.b;
    Value* tiles = entry_.writer.field(
        b, entry_.call, offsetof(tilefold_kernel_call, tiles), true);
    Value* place = entry_.lanes.byte_offset(tiles, met ? 0 : 8);
    b.CreateStore(b.CreateAdd(b.CreateLoad(b.getInt64Ty(), place), number),
                  place);
}

} // namespace tilefold::llvm_backend
