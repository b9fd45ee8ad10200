// compiler/backends/llvm/pack/word_load.h - vectors of narrow numbers, packed
// as words (lanes/words.h).
#pragma once

#include "compiler/backends/llvm/module/module.h"

namespace tilefold::llvm_backend {

/// Returns void(p base, n step, p out, n spread), which loads the numbers of a
/// vector, `step` bytes apart, as words `spread` bytes apart, and then writes
/// zeros up to of.padded().
llvm::Function* word_load(ModuleWriter& writer, const Words& of, bool is_row);

} // namespace tilefold::llvm_backend
