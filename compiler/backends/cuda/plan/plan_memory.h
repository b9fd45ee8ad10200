// compiler/backends/cuda/plan/plan_memory.h - what a plan takes of registers
// and of shared memory.
#pragma once

#include "compiler/backends/cuda/plan/plan.h"
#include "compiler/backends/cuda/sites/registers.h"

#include <cstdint>

namespace tilefold::cuda {

/// A block that asks for it has so much shared memory on all cards of 8.0 and
/// later: the least of them (8.6) gives 99 KB.
constexpr std::int64_t most_shared = 96 * 1024;
/// At most so many components of sums of vectors are held one by one.
constexpr std::int32_t most_accumulators = 32;

/// Returns the words of 4 bytes, that is the registers, of a record.
std::int64_t words_of(const Record& record);
/// Returns the words of a row, its partials and its states.
std::int64_t words_of_row(const Registers& registers);
/// Returns those of them that a loop over columns has in registers: the states
/// of lists, which are read between tiles alone, are elsewhere.
std::int64_t words_of_loop(const Registers& registers);
/// Returns the slots of 8 bytes that a state has in memory.
std::int64_t slots_of(const Record& state);
/// Whether one of the reductions lists the K smallest.
bool has_lists(const Registers& registers);

// The functions below return bytes of shared memory.
std::int64_t bytes_of_task(const Registers& registers);
/// The bytes of a tile's columns.
std::int64_t bytes_of_columns(const Plan& plan, const Registers& registers);
/// The bytes of the states of `count` threads.
std::int64_t bytes_of_states(const Registers& registers, std::int64_t count);
/// Returns how many warps of a block have states that become one.
std::int64_t warps_folded(const Plan& plan, const Registers& registers);

} // namespace tilefold::cuda
