// formulas/equal.h - when two formulas say the same.
#pragma once

#include "formulas/ast.h"

namespace tilefold {

/// Whether the trees are equal up to spans and text.
bool equal(const ast::Formula& a, const ast::Formula& b);

} // namespace tilefold
