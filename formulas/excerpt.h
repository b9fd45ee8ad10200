// formulas/excerpt.h - the lines of an error message that show the formula.
#pragma once

#include "formulas/span.h"

#include <string>
#include <string_view>

namespace tilefold {

/// Returns the line of `formula` in which `span` begins, indented by two
/// spaces, and a second one with `^~~~` under the columns of `span`; lines are
/// separated, not ended, by line breaks. Tabs are kept in both, wide
/// characters count two columns, control characters and bytes that are not
/// UTF-8 are shown as `�`. A line wider than 100 columns is cut around the
/// span, with `…` where it was cut. For an empty span it returns the first
/// lines of the formula and no caret.
std::string excerpt(std::string_view formula, Span span);

/// Of a part of the formula in a message.
constexpr int quoted_columns = 60;

/// Returns `text` without control characters, cut after `columns` columns with
/// `…`.
std::string shorten(std::string_view text, int columns);

} // namespace tilefold
