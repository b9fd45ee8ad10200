// formulas/vocabulary.h - the names that a parser takes for operations.
#pragma once

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
        /// Whether the function is a named formula: what a formula defines or
        /// is given under that name wins over it.
        bool weak = false;
        /// More operands than `most` are taken two at a time: `max(a, b, c)`.
        bool chains = false;
        /// So many arguments of a reduction that takes functions (fold_j) are
        /// values; the rest name definitions.
        int values = std::numeric_limits<int>::max();
    };
    std::function<Arity(std::string_view)> function;
    /// Returns the arity of a reduction's stem ("sum", "argkmin"), its body
    /// counted.
    std::function<Arity(std::string_view)> reduction;
    /// Returns names to offer when an unknown one is met ("did you mean …").
    std::function<std::vector<std::string>()> names;
    /// Whether a factor that is the same for all terms of a reduction may stand
    /// inside or outside (sum, mean); may be unset.
    std::function<bool(std::string_view)> is_linear = {};
    /// Returns the spelling here of a KeOps operation ("Exp": "exp", "Mult":
    /// "*") and of a KeOps reduction ("ArgKMin": "argkmin"); it is empty where
    /// there is none. Only parse_keops asks; it may be unset.
    std::function<std::string(std::string_view)> keops_operation = {};
    std::function<std::string(std::string_view)> keops_reduction = {};
};

} // namespace tilefold
