// tests/numerics/emulated.h - a run of a kernel for another processor, as a
// file that emulated_driver.cpp reads there, under an emulator.
#pragma once

#include "compiler/artifact/kernel_abi.h"

#include <cstdint>

namespace tilefold::test {

enum class EmulatedWork : std::int64_t { Reduce, Pairwise, Dense };

/// The file: this, the operands, then the bytes of the code, of the literals
/// and of each operand's array. Both processors are little-endian.
struct EmulatedRun {
    std::int64_t code, literals, operands; ///< bytes, doubles, arrays
    /// Offsets of the entries in the code; those of the other nest are unset.
    std::uint64_t prepare, init, accumulate, merge, fold, finalise, zip, dense;
    EmulatedWork work;
    std::int64_t rows, columns, width;
    std::int64_t slots, stride; ///< of a state
    std::int64_t row_block, constants, scratch;
    std::int64_t is_single; ///< functions are of float, else of double
    std::int64_t folds_rows;
    std::int64_t segment;      ///< columns whose states are merged
    std::int64_t call_columns; ///< of one call of accumulate
    std::int64_t out, out_row, out_column, out_component; ///< bytes
    std::int64_t flush_back;
};

struct EmulatedOperand {
    std::int64_t bytes, stride, component, column;
};

} // namespace tilefold::test
