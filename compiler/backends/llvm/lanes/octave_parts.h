// compiler/backends/llvm/lanes/octave_parts.h - powers of two between whole
// ones, from tables that one permutation of a register reads.
#pragma once

#include "compiler/backends/llvm/lanes/binary_exponent.h"
#include "compiler/backends/llvm/lanes/piece_choice.h"

#include <array>

namespace tilefold::llvm_backend {

/// Into how many parts an octave of F32 is cut: 16 on AVX-512, and 8 on AVX2,
/// whose registers hold half as many numbers.
struct OctaveParts {
    explicit OctaveParts(const Lanes& lanes)
        : bits(row_of(lanes.isa()).masks ? 4 : 3), count(1 << bits) {}

    /// Returns x 2^(n/count) of a number n that is the lowest bits of lanes of
    /// I32, but for its last bits, which choose x.
    llvm::Value* times_power(Lanes& lanes, llvm::Value* x,
                             llvm::Value* n) const {
        return times_fractional_power(lanes, x, n, bits);
    }
    /// Chooses by the last bits from a table that has a number for each
    /// sixteenth of an octave.
    llvm::Value* choose(const PieceChoice& choice,
                        const std::array<double, 16>& sixteenths) const {
        if (count == 16)
            return choice.of(sixteenths);
        std::array<double, 8> eighths;
        for (std::size_t k = 0; k < eighths.size(); ++k)
            eighths[k] = sixteenths[2 * k];
        return choice.of(eighths);
    }

    int bits, count;
};

} // namespace tilefold::llvm_backend
