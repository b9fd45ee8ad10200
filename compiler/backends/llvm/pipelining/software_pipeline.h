// compiler/backends/llvm/pipelining/software_pipeline.h - loops over columns as
// overlapping stages.
//
// A pair's term is one long chain of dependent operations (45 cycles for a
// Gaussian). Run column by column, the chains of several columns must wait
// in the processor's scheduler together, and it is too small for them: a
// D = 3 Gaussian takes 6.4 cycles a vector where its operations need 4.5.
// Cut into stages, each working on an earlier column than the one before it,
// every operation finds its operands ready.
//
// Requirements on a loop, else it is left as it is:
//  1. one block, no store, no call but of intrinsics without memory;
//  2. loads may run ahead of the first and beyond the last column by
//     `most_run_ahead` columns, or the first and the last are read again
//     instead: what is read there is used by nothing;
//  3. values carried round the loop (accumulators) are updated in the last
//     stage only.
#pragma once

#include <llvm/IR/Function.h>
#include <llvm/IR/Instructions.h>

namespace tilefold::llvm_backend {

/// Asks for the loop that ends in `branch` to be cut into stages of `cycles`
/// or more: see stages.h. `stays_inside`: no column is read beyond either end.
void request_stages(llvm::Instruction& branch, int cycles, bool stays_inside);

/// Cuts every loop of `function` that was asked for. Loops must be in
/// simplified form (a preheader, an exit of their own). `registers` counts
/// registers of vectors.
void cut_into_stages(llvm::Function& function, int registers);

} // namespace tilefold::llvm_backend
