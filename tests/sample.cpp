// tests/sample.cpp - which of many alike cases run today.

#include "tests/sample.h"

#include <cmath>
#include <cstdlib>
#include <string>

#include <xxhash.h>

namespace tilefold::tests {

bool in_sample(double share, std::string_view name) {
    const char* word = std::getenv("TILEFOLD_SAMPLE");
    if (!word || !*word || std::string_view(word) == "all")
        return true;
    const std::string text = std::string(word) + "/" + std::string(name);
    return std::ldexp(double(XXH3_64bits(text.data(), text.size())), -64) <
           share;
}

} // namespace tilefold::tests
