// formulas/printer.h - AST to canonical text.
#pragma once

#include "formulas/ast.h"

#include <string>

namespace tilefold {

/// Returns canonical text that parses back to an equal tree. (Not where the
/// formula nests almost as deeply as the limit, since parentheses are added.)
std::string print(const ast::Formula& formula);

} // namespace tilefold
