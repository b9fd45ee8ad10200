// tests/fuzz/formula_input.h - what is fuzzed: a formula and the types of its
// arguments, from text to the key, as the runtime goes.
#pragma once

#include "compiler/pipeline.h"
#include "formulas/keops_syntax.h"
#include "tests/formulas/random_tree.h"
#include "tests/fuzz/harness.h"

#include <cstdint>
#include <string>

namespace tilefold::tests {

/// Everything that one run depends on.
struct Input {
    bool keops = false;
    std::string text;
    KeopsReduction reduction; ///< of a formula in KeOps spelling
    Mode mode = Mode::Reduce;
    int steps = 0;           ///< of derivatives
    std::uint32_t types = 0; ///< seeds the types of arguments, and the steps
};

Input random_input(Random& random);
std::string describe(const Input& input);

/// Parses (half of the way), builds, compiles and explains. A refusal is an
/// outcome; whatever else is thrown, InternalError included, leaves this
/// function as it is.
Reached run(const Input& input);

} // namespace tilefold::tests
