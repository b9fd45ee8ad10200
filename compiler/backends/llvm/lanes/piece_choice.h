// compiler/backends/llvm/lanes/piece_choice.h - one number of a few for each
// lane: what functions are made of that are polynomials by pieces.
#pragma once

#include "compiler/backends/llvm/lanes/lanes.h"

#include <span>

namespace tilefold::llvm_backend {

/// How many pieces a function has, which one permutation of a register of AVX2
/// chooses from: 8 of F32, 4 of F64.
inline constexpr int pieces_of(DType dtype) {
    return dtype == DType::F32 ? 8 : 4;
}

/// Chooses by the lowest bits of `number`, lanes of I32 or I64: numbers of F32
/// or F64.
class PieceChoice {
public:
    PieceChoice(Lanes& lanes, llvm::Value* number);

    /// Whether it takes one or two permutations of each register.
    static bool is_quick(const Lanes& lanes, DType dtype) {
        return way(lanes, dtype) != Way::ByLane;
    }

    /// `table` has a number of each piece; on AVX-512 there may be 16.
    llvm::Value* of(std::span<const double> table) const;
    /// Emits c[0] + c[1] x + … by Horner's rule; `coefficients` has those of
    /// all pieces, c[0] first.
    llvm::Value* polynomial(std::span<const double> coefficients,
                            llvm::Value* x) const {
        return polynomial(coefficients, x, std::size_t(pieces_of(dtype_)));
    }
    llvm::Value* polynomial(std::span<const double> coefficients,
                            llvm::Value* x, std::size_t pieces) const;

private:
    /// By permutations of an instruction set, or a lane after the other.
    enum class Way { Avx512, Avx2, ByLane };

    static Way way(const Lanes& lanes, DType dtype);
    Way way() const { return way(lanes_, dtype_); }
    llvm::Value* in_register(std::span<const double> table,
                             llvm::Value* number) const;
    llvm::Value* by_lane(std::span<const double> table) const;

    Lanes& lanes_;
    DType dtype_;         ///< of the result
    llvm::Value* number_; ///< of AVX2 and F64: of its two halves
};

} // namespace tilefold::llvm_backend
