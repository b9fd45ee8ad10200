// formulas/readings.h - a formula as it was understood, and the texts that both
// printers of formulas share.
#pragma once

#include "formulas/ast.h"

#include <string>

namespace tilefold {

/// An operator between two operands, not a call nor a power.
bool is_infix(const ast::Node& node);

/// A comparison, `and`, `or` or `not`.
bool is_condition(const ast::Node& node);

/// The shortest decimal text that reads back as `value`.
std::string number_text(double value);

/// `[2]`, `[0:3]`, `[:-1]`.
std::string subscript_text(const ast::Node& node);

/// `k(u, v)` or `s`, before its equals sign.
std::string definition_head(const ast::Definition& definition);

/// The formula fully parenthesised, in the notation of the golden corpus:
/// ⋅ for an implicit product, ⟨⟩ around a prefix reduction's body.
std::string print_readings(const ast::Formula& formula);

/// The notation of print_readings for one node.
std::string print_reading(const ast::Formula& formula, ast::NodeId id);

} // namespace tilefold
