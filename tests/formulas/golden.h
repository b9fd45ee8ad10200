// tests/formulas/golden.h - files of expected texts beside the tests.
//
// With TILEFOLD_UPDATE_GOLDEN=1 in the environment a test writes what it got
// instead of comparing; the difference is then read and committed, or not.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tilefold::tests {

/// Between a formula of such a file and what it gives.
inline constexpr std::string_view arrow = " ⇒";

/// A file in this folder, read whole.
std::string read_golden(std::string_view file);
void write_golden(std::string_view file, std::string_view text);
bool updating_golden();

std::vector<std::string> lines_of(std::string_view text);

/// What cannot stand in a text file: `⟪300×(⟫` is 300 parentheses, `⟪byte
/// FF⟫` a byte, `⟪tab⟫` a tab.
std::string expand(std::string_view text);

/// The first line of `text`.
std::string first_line(std::string_view text);

} // namespace tilefold::tests
