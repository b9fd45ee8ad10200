// compiler/backends/cuda/plan/plan_memory.h - what a plan takes of registers
// and of shared memory.
#pragma once

#include "compiler/backends/cuda/plan/plan.h"
#include "compiler/backends/cuda/sites/registers.h"

#include <cstdint>

namespace tilefold::cuda {

/// Shared memory of a block that asks for it, on all cards of 8.0 and later:
/// the least of them (8.6) gives 99 KB.
constexpr std::int64_t most_shared = 96 * 1024;
/// Sums of vectors whose components are held one by one.
constexpr std::int32_t most_accumulators = 32;

/// Of 4 bytes: registers.
std::int64_t words_of(const Record& record);
/// Of a row, its partials and its states.
std::int64_t words_of_row(const Registers& registers);

// Bytes of shared memory.
std::int64_t bytes_of_task(const Registers& registers);
/// Of a tile.
std::int64_t bytes_of_columns(const Plan& plan, const Registers& registers);
/// Of the states of so many threads.
std::int64_t bytes_of_states(const Registers& registers, std::int64_t count);
/// Warps of a block whose states become one.
std::int64_t warps_folded(const Plan& plan, const Registers& registers);

} // namespace tilefold::cuda
