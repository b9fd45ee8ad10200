// formulas/parser.h - text to AST.
#pragma once

#include "formulas/ast.h"
#include "formulas/vocabulary.h"

#include <string_view>

namespace tilefold {

/// Parses natural maths. Throws Error (FormulaError family) with a span.
/// Limits: 10^5 bytes of text, 256 levels of parentheses, bars, signs and
/// the like, 1,000 operations that depend on each other (a + b + c + …), and
/// 20,000 nodes, shared ones counted once a parent: walkers may recurse.
ast::Formula parse(std::string_view text, const Vocabulary& vocabulary);

} // namespace tilefold
