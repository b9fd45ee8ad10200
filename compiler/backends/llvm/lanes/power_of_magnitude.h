// compiler/backends/llvm/lanes/power_of_magnitude.h - a^y for a >= 0, whatever
// the dtype.
//
// a^y = 2^(y log2 a), the logarithm as a sum of two numbers, since y multiplies
// its error.
#pragma once

#include "compiler/backends/llvm/lanes/number_pair.h"

#include <cmath>
#include <memory>

namespace tilefold::llvm_backend {

class PowerOfMagnitude {
public:
    virtual ~PowerOfMagnitude() = default;

    /// Emits a^y for a >= 0, or NaN. Of a NaN it is NaN, even if y is 0.
    llvm::Value* of(llvm::Value* a, llvm::Value* y);

protected:
    /// What a dtype allows.
    struct Range {
        DType dtype;
        /// Powers with less are 1, those with more are what infinity makes.
        double least_y, most_y;
        /// More than any logarithm; times least_y it is out of range, times
        /// most_y a number.
        double beyond;
        /// The whole numbers between which powers of two are normal numbers.
        double least_power, most_power;
    };
    PowerOfMagnitude(Lanes& lanes, const Range& range)
        : lanes_(lanes), range_(range) {}

    /// Returns log2 of a finite a above 0, a subnormal one too; see
    /// exponent_of().
    virtual NumberPair log2(llvm::Value* a) = 0;
    /// Returns 2^z of a z between least_power - 1 and most_power + 2; 0 for the
    /// least, infinity for the most.
    virtual llvm::Value* power_of_two(const NumberPair& z) = 0;

    /// Returns e, the exponent of a, or what makes the logarithm of 0,
    /// infinity or NaN of it.
    llvm::Value* exponent_of(llvm::Value* a, llvm::Value* e);
    /// The same of an exponent that is infinite for 0 and infinity.
    llvm::Value* held_exponent(llvm::Value* e) {
        return held(e, -range_.beyond, range_.beyond);
    }
    llvm::Value* held(llvm::Value* x, double least, double most);
    /// z as the nearest multiple of a power of two, but at most `most`, and f.
    struct Multiple {
        llvm::Value* bits; ///< the lowest ones count the powers
        llvm::Value* nearest;
        llvm::Value* f; ///< z less the multiple
    };
    /// `magic`: a sum with it has no smaller bits than the power.
    Multiple multiple_of(const NumberPair& z, double magic,
                         double most = INFINITY);
    llvm::IRBuilder<>& b() { return lanes_.b; }
    llvm::Value* number(double value) {
        return lanes_.number(range_.dtype, value);
    }

    Lanes& lanes_;

private:
    const Range& range_;
};

std::unique_ptr<PowerOfMagnitude> power_of_single(Lanes& lanes);
std::unique_ptr<PowerOfMagnitude> power_of_double(Lanes& lanes);

} // namespace tilefold::llvm_backend
