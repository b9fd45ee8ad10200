// tests/compiler/cases.h - formulas that many tests go through.
#pragma once

#include "compiler/build/build.h"

#include <span>
#include <string_view>

namespace tilefold::tests {

struct Case {
    std::string_view name, formula, arguments;
};

/// Every kind of formula: the language's examples, each reduction, each shape.
std::span<const Case> all_cases();

/// One formula a rule of simplify() or canonicalise(), and those that a rule
/// must leave alone.
std::span<const Case> simplify_cases();
std::span<const Case> canonicalise_cases();

} // namespace tilefold::tests
