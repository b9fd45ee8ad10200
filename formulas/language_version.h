// formulas/language_version.h - the version of the language, which is another
// than the library's: what a formula says does not depend on who reads it.
//
// A word more is a minor version; one that goes, or that says something else, a
// major one. tests/formulas/language-<version>.txt has all words of each.
#pragma once

#include <string_view>

namespace tilefold {

inline constexpr std::string_view language_version = "1.1";

} // namespace tilefold
