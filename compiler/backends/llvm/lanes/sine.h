// compiler/backends/llvm/lanes/sine.h - what sines, tangents and functions made
// of them share.
#pragma once

#include "compiler/backends/llvm/lanes/lanes.h"

namespace tilefold::llvm_backend {

/// pi/2 in three parts of a dtype, 2/pi, and whole_of_single or _of_double.
struct QuarterTurn {
    double high, middle, low, inverse, whole;
};
/// x = n pi/2 + r + l, |r| <= pi/4 (Cody and Waite); the low bits of `shifted`
/// are those of n.
struct InTurns {
    llvm::Value *shifted, *r, *l;
};
InTurns in_turns(Lanes& lanes, const QuarterTurn& turn, llvm::Value* x);

struct SineAndCosine {
    llvm::Value *sine, *cosine;
};
/// Up to here both are right.
inline constexpr double farthest_of_both = 0x1p20;
/// Emits both, within 2e-16, of lanes of F64 from 0 on.
SineAndCosine sine_and_cosine(Lanes& lanes, llvm::Value* x);

} // namespace tilefold::llvm_backend
