// tests/sample.h - which of many alike cases run today.
//
// TILEFOLD_SAMPLE is a word, of which scripts/test makes another one each day:
// it seeds the choice, and the same word chooses the same cases. Where it is
// `all`, or not set, all run.
#pragma once

#include <string_view>

namespace tilefold::tests {

/// Whether all cases run.
bool is_whole_sample();
/// Whether the case of this name runs, of which so large a `share` does.
bool in_sample(double share, std::string_view name);

} // namespace tilefold::tests
