// tests/formulas/vocabulary.h - a small language for tests of the parser.
#pragma once

#include "formulas/parser.h"

namespace tilefold::tests {

/// A few functions and reductions; independent of the compiler's tables.
const Vocabulary& vocabulary();

} // namespace tilefold::tests
