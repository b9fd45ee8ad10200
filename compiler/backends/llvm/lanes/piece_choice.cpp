// compiler/backends/llvm/lanes/piece_choice.cpp - see piece_choice.h.

#include "compiler/backends/llvm/lanes/piece_choice.h"

#include "compiler/backends/llvm/lanes/registers.h"

#include <llvm/IR/IntrinsicsX86.h>

#include <cstdint>
#include <vector>

namespace tilefold::llvm_backend {

using llvm::Value;

namespace {

int count(Value* vector) {
    return int(
        llvm::cast<llvm::FixedVectorType>(vector->getType())->getNumElements());
}

/// The numbers of the table, again and again.
Value* elements(Lanes& lanes, DType dtype, std::span<const double> table,
                int size) {
    std::vector<llvm::Constant*> all;
    for (int k = 0; k < size; ++k)
        all.push_back(llvm::ConstantFP::get(
            lanes.element(dtype), table[std::size_t(k) % table.size()]));
    return llvm::ConstantVector::get(all);
}

/// The halves of number k are 2k and 2k + 1, of which a permutation of eight
/// reads three bits.
Value* halves_of(Lanes& lanes, Value* number) {
    auto& b = lanes.b;
    llvm::SmallVector<int, 64> twice;
    std::vector<std::uint32_t> odd;
    for (int k = 0; k < count(number); ++k) {
        twice.append({2 * k, 2 * k});
        odd.insert(odd.end(), {0, 1});
    }
    auto* halves =
        llvm::FixedVectorType::get(b.getInt32Ty(), unsigned(2 * count(number)));
    Value* both = b.CreateShuffleVector(b.CreateBitCast(number, halves), twice);
    return b.CreateOr(b.CreateShl(both, 1),
                      llvm::ConstantDataVector::get(lanes.context(), odd));
}

} // namespace

PieceChoice::PieceChoice(Lanes& lanes, Value* number)
    : lanes_(lanes),
      dtype_(number->getType()->getScalarSizeInBits() == 32 ? DType::F32
                                                            : DType::F64),
      number_(number) {
    if (way() == Way::Avx2 && dtype_ == DType::F64)
        number_ = halves_of(lanes, number);
}

Value* PieceChoice::of(std::span<const double> table) const {
    if (way() == Way::ByLane)
        return by_lane(table);
    const int register_bits = 8 * row_of(lanes_.isa()).vector_bytes;
    return by_registers(
        lanes_.b, number_,
        register_bits / int(number_->getType()->getScalarSizeInBits()),
        [&](Value* number) { return in_register(table, number); });
}

Value* PieceChoice::polynomial(std::span<const double> coefficients, Value* x,
                               std::size_t pieces) const {
    Value* sum = of(coefficients.last(pieces));
    for (std::size_t k = coefficients.size() / pieces - 1; k-- > 0;)
        sum = lanes_.fma(sum, x, of(coefficients.subspan(k * pieces, pieces)));
    return sum;
}

PieceChoice::Way PieceChoice::way(const Lanes& lanes, DType dtype) {
    const IsaRow& isa = row_of(lanes.isa());
    if (isa.masks)
        return Way::Avx512;
    const bool fills = lanes.width() * int(size_of(dtype)) >= isa.vector_bytes;
    return isa.is_avx2() && fills ? Way::Avx2 : Way::ByLane;
}

/// Permutations read the lowest bits of a number: where a register has more
/// elements than there are pieces, the table is there twice.
Value* PieceChoice::in_register(std::span<const double> table,
                                Value* number) const {
    auto& b = lanes_.b;
    const bool single = dtype_ == DType::F32;
    const bool is_avx2 = way() == Way::Avx2;
    const int size = row_of(lanes_.isa()).vector_bytes / int(size_of(dtype_));
    Value* all = elements(lanes_, dtype_, table, size);
    if (int(table.size()) == 2 * size)
        return b.CreateIntrinsic(
            llvm::Intrinsic::x86_avx512_vpermi2var_pd_512, {},
            {all, number,
             elements(lanes_, dtype_, table.last(std::size_t(size)), size)});
    llvm::Type* type = all->getType();
    if (is_avx2)
        all =
            b.CreateBitCast(all, llvm::FixedVectorType::get(b.getFloatTy(), 8));
    const llvm::Intrinsic::ID permutation =
        is_avx2  ? llvm::Intrinsic::x86_avx2_permps
        : single ? llvm::Intrinsic::x86_avx512_permvar_sf_512
                 : llvm::Intrinsic::x86_avx512_permvar_df_512;
    return b.CreateBitCast(b.CreateIntrinsic(permutation, {}, {all, number}),
                           type);
}

Value* PieceChoice::by_lane(std::span<const double> table) const {
    auto& b = lanes_.b;
    Value* all = elements(lanes_, dtype_, table, int(table.size()));
    Value* result = llvm::PoisonValue::get(lanes_.type(dtype_));
    for (int lane = 0; lane < lanes_.width(); ++lane) {
        Value* at =
            b.CreateAnd(b.CreateExtractElement(number_, std::uint64_t(lane)),
                        table.size() - 1);
        result = b.CreateInsertElement(result, b.CreateExtractElement(all, at),
                                       std::uint64_t(lane));
    }
    return result;
}

} // namespace tilefold::llvm_backend
