// compiler/language/vocabulary.h - what a spelling in a formula stands for,
// looked up in ops.def, sugar.def, reductions.def and formulas/catalogue.def.
#pragma once

#include "compiler/ir/ir.h"
#include "formulas/ast.h"
#include "formulas/parser.h"

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tilefold {

/// The names of the tables and of formulas/catalogue.def, for the parser.
const Vocabulary& vocabulary();

/// A row of sugar.def, or a formula of catalogue.def, its body parsed.
struct Sugar {
    std::string_view spelling;
    std::vector<std::string> parameters; ///< of a named formula: x, y, l …
    ast::Formula body;
    /// The formula stands in catalogue.def: what has two readings is refused
    /// in it as in a user's text.
    bool is_named = false;
};

/// Returns the catalogue's formula where `text` is its name and nothing else,
/// and `text` otherwise.
std::string_view resolve_name(std::string_view text);

/// Parses what a user asks for: a formula, or the name of one in the
/// catalogue.
ast::Formula parse_or_resolve(std::string_view text);

/// One enumerator per row of derivatives.def.
enum class DerivativeFunction : std::uint8_t {
#define DERIVATIVE(name, ...) name,
#include "compiler/language/derivatives.def"
#undef DERIVATIVE
};
struct DerivativeRow {
    std::string_view spelling;
    int arity;
    std::string_view doc;
};
std::span<const DerivativeRow> all_derivative_rows();
std::optional<DerivativeFunction> find_derivative(std::string_view spelling);

/// A function of complex.def: real, imag, conj, angle.
struct ComplexFunctionRow {
    std::string_view spelling;
    int arity;
    std::string_view real, imaginary, of_real, doc;
};
std::span<const ComplexFunctionRow> all_complex_function_rows();
/// Returns null where complex.def has no such function.
const ComplexFunctionRow* find_complex_function(std::string_view spelling);

/// One enumerator per row of shape_functions.def.
enum class ShapeFunction : std::uint8_t {
#define SHAPE_FUNCTION(name, ...) name,
#include "compiler/language/shape_functions.def"
#undef SHAPE_FUNCTION
};
struct ShapeFunctionRow {
    std::string_view spelling, keops;
    int least, most; ///< operands
    std::string_view doc;
};
std::span<const ShapeFunctionRow> all_shape_function_rows();
std::optional<ShapeFunction> find_shape_function(std::string_view spelling);

/// A row of reduction_sugar.def, its body parsed.
struct ReductionSugar {
    std::string_view spelling;
    std::vector<std::string> operands; ///< "f", and what the row has beside it
    ast::Formula body;
    std::optional<ast::Formula> of_complex; ///< body of a complex f
};
/// Returns null where reduction_sugar.def has no such stem.
const ReductionSugar* find_reduction_sugar(std::string_view stem);

/// Returns the operation with this spelling that takes `arity` operands, or
/// the first of several (`@`).
std::optional<ir::Op> find_operation(std::string_view spelling,
                                     std::size_t arity);
/// Returns null where neither table has the spelling.
const Sugar* find_sugar(std::string_view spelling);
std::optional<ir::Reduction> find_reduction(std::string_view stem);

} // namespace tilefold
