// tests/fuzz/fuzz_language.cpp - fuzzes the parser and the compiler up to the
// key: every input is refused with a user's error or compiled, within a second.
#include "tests/fuzz/formula_input.h"
#include "tests/fuzz/harness.h"

int main(int count, char** words) {
    using namespace tilefold::tests;
    const Target target{
        .run = [](Random& random) { return run(random_input(random)); },
        .describe =
            [](Random& random) { return describe(random_input(random)); },
        .half = "parsed",
        .end = "compiled",
    };
    return fuzz(target, count, words);
}
