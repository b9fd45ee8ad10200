// compiler/build.h - AST and the types of the arguments to a graph.
#pragma once

#include "compiler/ir.h"
#include "formulas/ast.h"
#include "formulas/parser.h"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tilefold {

/// The names of ops.def, sugar.def and reductions.def, for the parser.
const Vocabulary& vocabulary();

/// What is known of an argument when a formula is compiled: everything but
/// its length, strides and values.
struct ArgumentType {
    std::string name; ///< as passed; build() normalises
    /// Declared by tilefold.Vi/Vj/Pm; absent: the formula's subscripts say.
    std::optional<Axes> declared;
    DType dtype = DType::F64;
    /// Of one point's value: 0 scalar, 1 vector, 2 matrix (parameters).
    std::uint8_t rank = 0;
    std::int32_t rows = 1;
    std::int32_t columns = 1;

    friend bool operator==(const ArgumentType&, const ArgumentType&) = default;
};

/// Which names a formula reads and on which axis, known before any array is:
/// x_i and x_j are one name read on IJ; a bare name is None; with no
/// subscript anywhere x is I and y is J. In order of first use. Constants
/// (pi, inf) and definitions are not listed.
struct FreeName {
    std::string name; ///< normalised
    Axes axes = Axes::None;
    Span span;
};
std::vector<FreeName> free_names(const ast::Formula& formula);

/// The dtype a call computes in: NumPy's promotion over the i- and j-arrays;
/// parameters never promote; integers of at most 16 bits give F32, wider ones
/// F64; no i- or j-array: F64.
DType computing_dtype(std::span<const ArgumentType> arguments,
                      std::span<const FreeName> names);

/// Builds the graph of `formula`. Arguments of the graph are numbered by
/// first use; an argument that enters a sum only linearly, as the vector
/// factor, gets `dynamic` rows. Every literal occurrence has a slot of its
/// own. Throws Error with a caret: unknown and surplus names, wrong arity,
/// shapes that do not broadcast, the ambiguities of vectors, axes.
ir::Graph build(const ast::Formula& formula,
                std::span<const ArgumentType> arguments);

} // namespace tilefold
