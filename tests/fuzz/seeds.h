// tests/fuzz/seeds.h - what mutations start from: formulas and words.
#pragma once

#include <string>
#include <vector>

namespace tilefold::tests {

struct Seeds {
    std::vector<std::string> formulas; ///< natural maths, good and bad
    std::vector<std::string> keops;    ///< in KeOps spelling
    std::vector<std::string> words;    ///< symbols, names, numbers
};

/// Read once from corpus.txt, messages.txt, keops.txt, the catalogue, the
/// tokens and the tables of the compiler: a new row is fuzzed by itself.
const Seeds& seeds();

/// Aliases that the formulas of keops.txt are written for.
const std::vector<std::string>& keops_aliases();

} // namespace tilefold::tests
