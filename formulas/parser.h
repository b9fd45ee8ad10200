// formulas/parser.h - text to AST, and back.
#pragma once

#include "formulas/ast.h"

#include <functional>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace tilefold {

/// The names the language knows; the compiler fills it from its tables, so
/// that an operation is described in one place only.
struct Vocabulary {
    /// Number of arguments a function takes, or {-1,-1} if it is none.
    struct Arity {
        int least = -1;
        int most = -1;
        /// A named formula: what a formula defines or is given under that
        /// name wins over it.
        bool weak = false;
        /// Of a reduction that takes functions (fold_j): so many arguments
        /// are values, the rest name definitions.
        int values = std::numeric_limits<int>::max();
    };
    std::function<Arity(std::string_view)> function;
    /// The same for a reduction's stem ("sum", "argkmin"), its body counted.
    std::function<Arity(std::string_view)> reduction;
    /// Names to offer when an unknown one is met ("did you mean …").
    std::function<std::vector<std::string>()> names;
    /// Whether a factor that is the same for all terms of a reduction may stand
    /// inside or outside (sum, mean); may be unset.
    std::function<bool(std::string_view)> is_linear = {};
    /// The spelling here of a KeOps operation ("Exp": "exp", "Mult": "*") and
    /// of a KeOps reduction ("ArgKMin": "argkmin"); empty where there is none.
    /// Only parse_keops asks; may be unset.
    std::function<std::string(std::string_view)> keops_operation = {};
    std::function<std::string(std::string_view)> keops_reduction = {};
};

/// Parses natural maths. Throws Error (FormulaError family) with a span.
/// Limits: 10^5 bytes of text, 256 levels of parentheses, bars, signs and
/// the like, 1,000 operations that depend on each other (a + b + c + …), and
/// 20,000 nodes, shared ones counted once a parent: walkers may recurse.
ast::Formula parse(std::string_view text, const Vocabulary& vocabulary);

/// The formula fully parenthesised, in the notation of the golden corpus:
/// ⋅ for an implicit product, ⟨⟩ around a prefix reduction's body.
std::string print_readings(const ast::Formula& formula);

/// Canonical text that parses back to an equal tree. (Not where the formula
/// nests almost as deeply as the limit, since parentheses are added.)
std::string print(const ast::Formula& formula);

/// Trees equal up to spans and text.
bool equal(const ast::Formula& a, const ast::Formula& b);

/// The spelling under which a name is stored: NFKC, `λ` and `lambda_` alike,
/// so that formula names and argument names meet. Also used for arguments.
std::string normalise_name(std::string_view name);

} // namespace tilefold
