// formulas/readings.h - a formula as it was understood, and the texts that both
// printers of formulas share.
#pragma once

#include "formulas/ast.h"

#include <string>

namespace tilefold {

/// Whether the node is an operator between two operands, and not a call or a
/// power.
bool is_infix(const ast::Node& node);

/// Whether the node is a comparison, `and`, `or` or `not`.
bool is_condition(const ast::Node& node);

/// The shortest decimal text that reads back as `value`.
std::string number_text(double value);
/// A number as `text` has it at `span`, such as 1e3; number_text() where that
/// is another notation, such as ², or none.
std::string typed_number(double value, std::string_view text, Span span);

/// Returns a subscript's text, as `[2]`, `[0:3]`, `[:-1]`.
std::string subscript_text(const ast::Node& node);

/// Returns `k(u, v)` or `s`, which stand before the equals sign.
std::string definition_head(const ast::Definition& definition);

/// Prints the formula fully parenthesised, in the notation of the golden
/// corpus: ⋅ for an implicit product, ⟨⟩ around a prefix reduction's body.
std::string print_readings(const ast::Formula& formula);

/// Prints one node in the notation of print_readings().
std::string print_reading(const ast::Formula& formula, ast::NodeId id);

} // namespace tilefold
