// compiler/backends/llvm/lanes/sine.h - sine and cosine of one number, for
// functions that are made of both.
#pragma once

#include "compiler/backends/llvm/lanes/lanes.h"

namespace tilefold::llvm_backend {

struct SineAndCosine {
    llvm::Value *sine, *cosine;
};
/// Up to here both are right.
inline constexpr double farthest_of_both = 0x1p20;
/// Emits both, within 2e-16, of lanes of F64 from 0 on.
SineAndCosine sine_and_cosine(Lanes& lanes, llvm::Value* x);

} // namespace tilefold::llvm_backend
