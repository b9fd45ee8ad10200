// tests/fuzz/mutate.h - the text of the n-th input.
#pragma once

#include "tests/formulas/random_tree.h"

#include <string>

namespace tilefold::tests {

/// A formula: one of the seeds, or the text of a random tree, changed or as it
/// is; one in two is well formed. `keops`: in KeOps spelling.
std::string random_text(Random& random, bool keops);

/// `text` as a C++ string literal, byte for byte, to paste into a test.
std::string quoted(const std::string& text);

} // namespace tilefold::tests
