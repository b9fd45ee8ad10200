// tests/formulas/random_tree.h - random formulas the parser can produce.
#pragma once

#include "formulas/ast.h"

#include <random>

namespace tilefold::tests {

using Random = std::mt19937;

/// A number in [0, below).
int below(Random& random, int bound);

/// A tree of at most `depth` levels, with definitions and a head at times.
ast::Formula random_formula(Random& random, int depth);

} // namespace tilefold::tests
