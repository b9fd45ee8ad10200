// compiler/backends/llvm/lanes/in_double.h - what functions of F32 are made of
// that are computed in double: two vectors for one, with as many terms as F32
// needs, 2.4e-10 of a result at the most. All operations are those of any
// instruction set.
#pragma once

#include "compiler/backends/llvm/lanes/lanes.h"

namespace tilefold::llvm_backend {

/// Emits on lanes of F64.
class InDouble {
public:
    explicit InDouble(Lanes& lanes) : lanes_(lanes) {}

    llvm::Value* number(double value) const;
    llvm::Value* doubled(llvm::Value* single) const;
    /// Emits numerator / divisor; the divisor is an ordinary number in F32,
    /// too.
    llvm::Value* quotient(llvm::Value* numerator, llvm::Value* divisor) const;
    /// Emits log2(a) of an F32 a >= 0, or NaN: -inf of 0.
    llvm::Value* log2(llvm::Value* a) const;
    /// Returns t, or what is nearest to it among the numbers whose powers of
    /// two are known; these are beyond F32's.
    llvm::Value* held(llvm::Value* t) const;

    /// 2^t = (1 + less_one) scale, of a t that is held; NaN is in less_one.
    struct Power {
        llvm::Value* less_one; ///< from -0.3 to 0.42
        llvm::Value* scale;    ///< a power of two
    };
    Power power_of_two(llvm::Value* t) const;
    llvm::Value* value_of(const Power& power) const;
    /// Emits 1 / scale.
    llvm::Value* inverse_scale(const Power& power) const;

private:
    llvm::IRBuilder<>& b() const { return lanes_.b; }

    Lanes& lanes_;
};

} // namespace tilefold::llvm_backend
