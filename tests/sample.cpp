// tests/sample.cpp - which of many alike cases run today.

#include "tests/sample.h"

#include <cmath>
#include <cstdlib>
#include <string>

#include <xxhash.h>

namespace tilefold::tests {
namespace {

/// Empty: all cases run.
std::string sample() {
    const char* word = std::getenv("TILEFOLD_SAMPLE");
    return word && std::string_view(word) != "all" ? word : "";
}

} // namespace

bool is_whole_sample() {
    return sample().empty();
}

bool in_sample(double share, std::string_view name) {
    if (is_whole_sample())
        return true;
    const std::string text = sample() + "/" + std::string(name);
    return std::ldexp(double(XXH3_64bits(text.data(), text.size())), -64) <
           share;
}

} // namespace tilefold::tests
