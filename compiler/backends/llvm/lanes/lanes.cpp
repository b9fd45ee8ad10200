// compiler/backends/llvm/lanes/lanes.cpp - IRBuilder with lanes.

#include "compiler/backends/llvm/lanes/lanes.h"

#include "compiler/ir/integer.h"

#include <llvm/IR/MDBuilder.h>

namespace tilefold::llvm_backend {

using llvm::Value;

llvm::Type* Lanes::element(DType dtype) const {
    switch (dtype) {
    case DType::F64:
        return b.getDoubleTy();
    case DType::F32:
        return b.getFloatTy();
    case DType::F16:
        return b.getHalfTy();
    case DType::BF16:
        return b.getBFloatTy();
    case DType::I64:
    case DType::U64:
        return b.getInt64Ty();
    case DType::I32:
    case DType::U32:
        return b.getInt32Ty();
    case DType::I16:
    case DType::U16:
        return b.getInt16Ty();
    case DType::I8:
    case DType::U8:
        return b.getInt8Ty();
    case DType::Bool:
        return b.getInt1Ty();
    }
    __builtin_unreachable();
}

llvm::Type* Lanes::stored(DType dtype) const {
    return dtype == DType::Bool ? b.getInt8Ty() : element(dtype);
}

llvm::Type* Lanes::type(DType dtype) const {
    if (width_ == 1)
        return element(dtype);
    return llvm::FixedVectorType::get(element(dtype), unsigned(width_));
}

DType Lanes::dtype_of(Value* value) const {
    llvm::Type* element = value->getType()->getScalarType();
    if (element->isDoubleTy())
        return DType::F64;
    if (element->isFloatTy())
        return DType::F32;
    return element->isIntegerTy(1) ? DType::Bool : DType::I64;
}

Value* Lanes::number(DType dtype, double value) const {
    llvm::Type* lanes = type(dtype);
    if (kind_of(dtype) == DTypeKind::Float)
        return llvm::ConstantFP::get(lanes, value);
    return llvm::ConstantInt::get(lanes, std::uint64_t(ir::saturated(value)));
}

Value* Lanes::splat(Value* scalar) const {
    return width_ == 1 ? scalar : b.CreateVectorSplat(unsigned(width_), scalar);
}

Value* Lanes::as(DType to, Value* value) const {
    const DType from = dtype_of(value);
    if (from == to)
        return value;
    llvm::Type* target = element(to);
    if (auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(value->getType()))
        target = llvm::FixedVectorType::get(target, vector->getNumElements());
    if (to == DType::Bool)
        return kind_of(from) == DTypeKind::Float
                   ? b.CreateFCmpUNE(
                         value, llvm::Constant::getNullValue(value->getType()))
                   : b.CreateICmpNE(
                         value, llvm::Constant::getNullValue(value->getType()));
    if (from == DType::Bool && to == DType::I64)
        return b.CreateZExt(value, target);
    // A choice is one operation on a comparison's mask; a conversion of truth
    // values to double makes integers of them first, four operations more.
    if (from == DType::Bool)
        return b.CreateSelect(value, llvm::ConstantFP::get(target, 1.0),
                              llvm::Constant::getNullValue(target));
    if (from == DType::I64)
        return b.CreateSIToFP(value, target);
    if (to == DType::I64)
        return b.CreateFPToSI(value, target);
    return to == DType::F64 ? b.CreateFPExt(value, target)
                            : b.CreateFPTrunc(value, target);
}

Value* Lanes::count_from(Value* first) const {
    if (width_ == 1)
        return first;
    llvm::SmallVector<std::uint64_t, 64> steps;
    for (int lane = 0; lane < width_; ++lane)
        steps.push_back(std::uint64_t(lane));
    return b.CreateAdd(splat(first),
                       llvm::ConstantDataVector::get(context(), steps));
}

Value* Lanes::first_lanes(Value* count) const {
    if (width_ == 1)
        return b.CreateICmpSLT(constant(0), count);
    // The numbers have 32 bits a lane: those of an I64 would fill two
    // registers.
    llvm::SmallVector<std::uint32_t, 64> numbers;
    for (int lane = 0; lane < width_; ++lane)
        numbers.push_back(std::uint32_t(lane));
    Value* most =
        b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, count, constant(width_));
    return b.CreateICmpSLT(llvm::ConstantDataVector::get(context(), numbers),
                           splat(b.CreateTrunc(most, b.getInt32Ty())));
}

Value* Lanes::rotated(Value* value, int by) const {
    llvm::SmallVector<int, 64> from;
    for (int lane = 0; lane < width_; ++lane)
        from.push_back((lane + by) % width_);
    return b.CreateShuffleVector(value, from);
}

Value* Lanes::load(DType dtype, Value* pointer) const {
    const auto size = std::uint64_t(width_) * size_of(dtype);
    if (dtype != DType::Bool)
        return b.CreateAlignedLoad(type(dtype), pointer, llvm::Align(size));
    llvm::Type* bytes =
        llvm::FixedVectorType::get(b.getInt8Ty(), unsigned(width_));
    Value* raw = b.CreateAlignedLoad(bytes, pointer, llvm::Align(size));
    return b.CreateICmpNE(raw, llvm::Constant::getNullValue(bytes));
}

void Lanes::store(Value* value, Value* pointer) const {
    const DType dtype = dtype_of(value);
    if (dtype == DType::Bool)
        value = b.CreateZExt(
            value, llvm::FixedVectorType::get(b.getInt8Ty(), unsigned(width_)));
    const auto size = std::uint64_t(width_) * size_of(dtype);
    b.CreateAlignedStore(value, pointer, llvm::Align(size));
}

void Lanes::prefetch(Value* pointer) const {
    constexpr unsigned reads = 0, second_cache = 2, data = 1;
    b.CreateIntrinsic(llvm::Intrinsic::prefetch, {pointer->getType()},
                      {pointer, b.getInt32(reads), b.getInt32(second_cache),
                       b.getInt32(data)});
}

Value* Lanes::broadcast(DType dtype, Value* pointer) const {
    Value* scalar = b.CreateAlignedLoad(stored(dtype), pointer,
                                        llvm::Align(size_of(dtype)));
    if (dtype == DType::Bool)
        scalar = b.CreateICmpNE(scalar, b.getInt8(0));
    return splat(scalar);
}

Value* Lanes::at(Value* pointer, Value* index, std::int64_t offset,
                 std::int64_t size) const {
    Value* bytes = b.CreateMul(index, constant(size));
    return byte_offset(byte_offset(pointer, bytes), offset * size);
}

Value* Lanes::fma(Value* a, Value* b_, Value* c) const {
    return b.CreateIntrinsic(a->getType(), llvm::Intrinsic::fma, {a, b_, c});
}

Value* Lanes::larger(Value* bound, Value* x) const {
    return select(b.CreateFCmpOGT(bound, x), bound, x);
}

Value* Lanes::smaller(Value* bound, Value* x) const {
    return select(b.CreateFCmpOLT(bound, x), bound, x);
}

/// Pairs of rows that lie `distance` apart exchange every other run of so many
/// lanes.
void Lanes::transpose(std::vector<Value*>& rows) const {
    for (int distance = 1; distance < width_; distance *= 2)
        for (int upper = 0; upper < width_; ++upper) {
            if (upper & distance)
                continue;
            llvm::SmallVector<int, 16> left, right;
            for (int lane = 0; lane < width_; ++lane) {
                const bool other = (lane & distance) != 0;
                left.push_back(other ? width_ + lane - distance : lane);
                right.push_back(other ? width_ + lane : lane + distance);
            }
            Value*& a = rows[std::size_t(upper)];
            Value*& c = rows[std::size_t(upper + distance)];
            Value* exchanged = b.CreateShuffleVector(a, c, left);
            c = b.CreateShuffleVector(a, c, right);
            a = exchanged;
        }
}

llvm::Instruction* Lanes::loop(Value* from, Value* to, Value* step,
                               const std::function<void(Value*)>& body) const {
    llvm::Function* function = b.GetInsertBlock()->getParent();
    auto* before = b.GetInsertBlock();
    auto* head = llvm::BasicBlock::Create(context(), "loop", function);
    auto* after = llvm::BasicBlock::Create(context(), "after", function);
    b.CreateCondBr(b.CreateICmpSLT(from, to), head, after);
    b.SetInsertPoint(head);
    llvm::PHINode* index = b.CreatePHI(b.getInt64Ty(), 2);
    index->addIncoming(from, before);
    body(index);
    Value* next = b.CreateAdd(index, step, "", true, true);
    index->addIncoming(next, b.GetInsertBlock());
    llvm::Instruction* branch =
        b.CreateCondBr(b.CreateICmpSLT(next, to), head, after);
    b.SetInsertPoint(after);
    return branch;
}

Value* Lanes::bits(Value* truth) const {
    const auto count = unsigned(truth->getType()->getPrimitiveSizeInBits());
    return b.CreateZExt(b.CreateBitCast(truth, b.getIntNTy(count)),
                        b.getInt64Ty());
}

void Lanes::each_bit(Value* bits,
                     const std::function<void(Value*)>& body) const {
    Value* left_at = variable(bits->getType());
    b.CreateStore(bits, left_at);
    Value* count = b.CreateUnaryIntrinsic(llvm::Intrinsic::ctpop, bits);
    loop(constant(0), count, constant(1), [&](Value*) {
        Value* left = b.CreateLoad(bits->getType(), left_at);
        body(b.CreateBinaryIntrinsic(llvm::Intrinsic::cttz, left, b.getTrue()));
        b.CreateStore(b.CreateAnd(left, b.CreateSub(left, constant(1))),
                      left_at);
    });
}

llvm::Instruction* Lanes::when(Value* condition,
                               const std::function<void()>& then) const {
    llvm::Function* function = b.GetInsertBlock()->getParent();
    auto* inside = llvm::BasicBlock::Create(context(), "then", function);
    auto* after = llvm::BasicBlock::Create(context(), "after", function);
    llvm::Instruction* branch = b.CreateCondBr(condition, inside, after);
    b.SetInsertPoint(inside);
    then();
    b.CreateBr(after);
    b.SetInsertPoint(after);
    return branch;
}

void Lanes::when_rare(Value* condition,
                      const std::function<void()>& then) const {
    llvm::MDBuilder weights(context());
    when(condition, then)
        ->setMetadata(llvm::LLVMContext::MD_prof,
                      weights.createUnlikelyBranchWeights());
}

Value* Lanes::mostly(Value* is_near, Value* x,
                     const std::function<Value*(Value*)>& near_of,
                     const std::function<Value*()>& elsewhere) const {
    if (leaves_rare_out_)
        return near_of(
            select(is_near, x, llvm::ConstantFP::getNaN(x->getType())));
    Value* near = near_of(x);
    Value* result = variable(near->getType());
    b.CreateStore(near, result);
    when_rare(b.CreateNot(all(is_near)), [&] {
        b.CreateStore(select(is_near, near, elsewhere()), result);
    });
    return b.CreateLoad(near->getType(), result);
}

Value* Lanes::variable(llvm::Type* type) const {
    llvm::BasicBlock& entry = b.GetInsertBlock()->getParent()->getEntryBlock();
    llvm::IRBuilder<> at_start(&entry, entry.begin());
    return at_start.CreateAlloca(type);
}

} // namespace tilefold::llvm_backend
