// compiler/build/fold_laws.h - whether a fold's functions are a monoid, as far
// as a sample of states can tell.
//
// A fold is computed in pieces: every panel of columns starts from the initial
// state, and pieces are merged in a tree. That is the same as term by term
// only if merge is associative and commutative, the initial state is its
// identity, and adding a term is merging its state. These laws are checked in
// double precision at states that pseudo-random terms lead to, within 1e-6.
#pragma once

#include "compiler/ir/ir.h"

#include <array>
#include <optional>

namespace tilefold {

enum class FoldLaw : std::uint8_t {
    Identity,    ///< merge(init, a) = a = merge(a, init)
    Commutative, ///< merge(a, b) = merge(b, a)
    Associative, ///< merge(merge(a, b), c) = merge(a, merge(b, c))
    Agreement,   ///< accumulate(a, f) = merge(a, accumulate(init, f))
};

/// The operands of a Fold, each as the result of a graph.
struct FoldOperands {
    ir::Graph terms, initial;
    std::optional<ir::Graph> given = {};
    /// Whether the functions read parameters. Their laws may then hold for
    /// some parameters only, and count as broken where they are at every
    /// choice of them. The laws of an initial state that reads parameters hold
    /// at all choices, or are broken.
    bool reads_parameters = false;
    /// Which of them are complex: real parts and then imaginary ones.
    bool complex_term = false, complex_state = false;
};

struct BrokenLaw {
    FoldLaw law;
    std::string left, right;           ///< the sides of the equation
    std::array<std::string, 3> states; ///< a, b (or f) and c, as the law has
};

/// Returns the first law that does not hold. Terms and states with a NaN say
/// nothing.
std::optional<BrokenLaw> find_broken_law(const ir::Fold& fold,
                                         const FoldOperands& operands);

} // namespace tilefold
