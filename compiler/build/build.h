// compiler/build/build.h - AST and the types of the arguments to a graph.
#pragma once

#include "compiler/build/part.h"
#include "compiler/ir/ir.h"
#include "formulas/ast.h"
#include "formulas/parser.h"

#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

namespace tilefold {

/// What is known of an argument when a formula is compiled: everything but
/// its length, strides and values.
struct ArgumentType {
    std::string name; ///< as passed, spelled(); build() normalises
    /// The axes that tilefold.Vi/Vj/Pm declared; where absent, the formula's
    /// subscripts say them.
    std::optional<Axes> declared;
    DType dtype = DType::F64;
    /// The rank of one point's value: 0 scalar, 1 vector, 2 matrix
    /// (parameters).
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
    bool is_index = false; ///< it is read as a subscript of others only
    bool is_table = false; ///< of `A[r]`, `A @ x`: (1, C) is one row
    /// It is read as an operand of comparisons only, with these names, symbols
    /// i and j and whole numbers.
    bool is_compared = false;
    std::set<std::string> compared_with = {};
};
std::vector<FreeName> free_names(const ast::Formula& formula);

/// The axes of the formula's result, where names are on the axes given.
Axes axes_of_result(const ast::Formula& formula,
                    std::span<const FreeName> names);

/// Returns the dtype a call computes in. It is NumPy's promotion over the i-
/// and j-arrays, but for those that are only subscripts, and for integers that
/// are only compared with integers, which gives truths; parameters never
/// promote, but where there are such arrays alone. Integers of at most 16 bits
/// give F32, wider ones F64; without an array it is F64.
DType computing_dtype(std::span<const ArgumentType> arguments,
                      std::span<const FreeName> names);

/// Builds the graph of `formula`. Arguments of the graph are numbered by
/// first use; an argument that enters a sum only linearly, as the vector
/// factor, gets `dynamic` rows. Every literal occurrence has a slot of its
/// own. Throws Error with a caret: unknown and surplus names, wrong arity,
/// shapes that do not broadcast, the ambiguities of vectors, axes.
/// `pairs`: which its reductions meet.
ir::Graph build(const ast::Formula& formula,
                std::span<const ArgumentType> arguments,
                ir::Pairs pairs = ir::Pairs::All);

/// One differentiation of all results of the step before (at first, of the
/// formula's one result).
struct DerivationStep {
    /// Reverse gives a result for each name: its gradient, summed over the
    /// results, each times its cotangent. Forward gives the results'
    /// derivatives where each named argument moves along its tangent.
    enum class Kind : std::uint8_t { Reverse, Forward };
    Kind kind = Kind::Reverse;
    std::vector<std::string> names; ///< of arguments, normalised
    bool keeps_values = false;      ///< the results of before come first
    /// The name of the one cotangent or tangent. Where there are several, each
    /// has "_" and the name of its argument added ("value" for the formula's
    /// result).
    std::string seed;

    friend bool operator==(const DerivationStep&,
                           const DerivationStep&) = default;
};
using Derivation = std::vector<DerivationStep>;

/// A result: the formula's own, or one like an argument.
struct ResultRole {
    std::string argument; ///< empty: the formula's own
};
std::vector<ResultRole> results_of(const Derivation& derivation);

/// A cotangent or tangent that a call is given, and what it looks like.
struct SeedRole {
    std::string name;
    std::string argument; ///< empty: like the formula's own result
    std::size_t step = 0; ///< that it belongs to
    DerivationStep::Kind kind = DerivationStep::Kind::Reverse;
};
std::vector<SeedRole> seeds_of(const Derivation& derivation);

/// The graph of a formula's derivatives: several results in one builder.
/// A result is no_value where it is zero.
struct DerivedGraph {
    ir::Builder builder;
    std::vector<ir::ValueId> results;
    /// For each result, "" if it is the formula's own and "x" if it is like an
    /// argument; spelled(), if it is the imaginary part of the result before
    /// it.
    std::vector<std::string> labels;
    /// The type a result is to have: its value may have fewer axes, or be one
    /// scalar for all components.
    std::vector<Type> types;
};

/// Builds the derivatives as build() builds a formula; `arguments` hold the
/// seeds too. A missing cotangent of a scalar result is 1. `real`: to compute
/// in, where it is not what the arguments say.
DerivedGraph build_derived(const ast::Formula& formula,
                           std::span<const ArgumentType> arguments,
                           const Derivation& derivation,
                           ir::Pairs pairs = ir::Pairs::All,
                           std::optional<DType> real = {});

/// Whether float32, in which the graph computes, would round a term: integers
/// and F64 but for arguments of at most 16 bits.
bool is_rounded(const ir::Graph& graph, ir::ValueId term);
/// Whether reductions order rounded terms. build() and build_derived() build
/// such formulas in float64, since values that differ would be equal.
bool orders_rounded(const ir::Graph& graph);

} // namespace tilefold
