// tests/fuzz/harness.h - runs a target on one random input after the other.
//
//   fuzz_… --seconds 600 --seed 7     ten minutes of other inputs
//   fuzz_… --inputs 2000              so many
//   fuzz_… --seed 7 --only 1234       one input again
//
// Inputs run in a child, so that a crash, a report of a sanitizer or a hang
// has an input: the parent prints it, and the child after it goes on.
#pragma once

#include "tests/formulas/random_tree.h"

#include <functional>
#include <string>

namespace tilefold::tests {

/// How far an input came: what is wanted is that many come to the end.
enum class Reached { Refused, Half, End };

struct Target {
    /// Makes an input of random numbers and runs it. Whatever it throws is a
    /// failure.
    std::function<Reached(Random&)> run;
    /// Tells of the input that the same numbers make.
    std::function<std::string(Random&)> describe;
    const char* half; ///< what `Half` says of an input: "parsed"
    const char* end;
    double most_seconds = 1;     ///< of a processor, for one input
    double most_megabytes = 1e9; ///< of memory, at its peak
    double least_at_end = 0.05;  ///< part of the inputs that come to the end
};

/// A program's main.
int fuzz(const Target& target, int count, char** words);

} // namespace tilefold::tests
