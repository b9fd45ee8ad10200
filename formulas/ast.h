// formulas/ast.h - what a formula says, before anything is known of the data.
#pragma once

#include "formulas/diagnostic.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tilefold::ast {

/// A set of axes, as bits. A variable carries one or none; a reduction is over
/// one (`sum_j`) or both (`sum_ij`).
enum class Axes : std::uint8_t { None = 0, I = 1, J = 2, IJ = 3 };

using NodeId = std::uint32_t;

/// What a node is, and which fields of Node it uses beside `span`:
enum class Kind : std::uint8_t {
    Number,    ///< value
    Name,      ///< name: a parameter, a constant, or a definition's parameter
    Variable,  ///< name, axes: `x_i`
    Index,     ///< axes: the symbol i or j as a number
    Apply,     ///< name, children: operator or function (see below)
    Subscript, ///< children[0], first, last, is_range: `x[2]`, `x[0:3]`
    List,      ///< children: `[a, b, c]`, concatenation
    Reduce,    ///< name ("sum"), axes, children: body, then arguments
    Function,  ///< name: a definition itself, as fold_j takes them
};

/// `Apply` names an operator by its spelling in compiler/ir/ops.def:
///   "+" "-" "*" "/" "^" "mod" "neg" "·" (dot) "@" "<" "<=" ">" ">=" "=="
///   "!=" "and" "or" "not" "norm" (both bars, √ is "sqrt"), and a function by
///   its name as typed ("exp", "where", "sqdist", or a definition's name).
/// Chained comparisons are an "and" of comparisons.
struct Node {
    Kind kind = Kind::Number;
    Axes axes = Axes::None;
    bool implicit = false; ///< a product by juxtaposition
    bool crosses = false;  ///< a product typed `a × b`: of vectors, the cross
    bool is_range = false; ///< Subscript: `[first:last]`, else `[first]`
    bool double_bars = false; ///< a norm typed `||v||`; means nothing else
    double value = 0;
    /// Subscript bounds as typed; absent where omitted (`x[:3]`).
    std::optional<std::int64_t> first, last;
    std::string name; ///< normalised: NFKC, Greek letters by one spelling
    std::vector<NodeId> children;
    Span span;
};

/// A definition after `with`: `k(u, v) = …` (function) or `s = …` (value, no
/// parameters).
struct Definition {
    std::string name;
    std::vector<std::string> parameters;
    bool is_function = false;
    NodeId body = 0;
    Span span; ///< of the name
};

/// A parsed formula. Children always precede their parents in `nodes`.
struct Formula {
    std::string text; ///< as typed
    /// The formula of catalogue.def that `text` is, if it was asked for by
    /// name.
    std::string_view named;
    std::vector<Node> nodes;
    NodeId root = 0;
    /// `k(x, y) = …`: the head's parameters name the i- and the j-variable.
    std::optional<Definition> head;
    std::vector<Definition> definitions; ///< in order; later may use earlier

    const Node& operator[](NodeId id) const { return nodes[id]; }
};

} // namespace tilefold::ast
