// formulas/tree.h - builds an AST within the limits of the language.
#pragma once

#include "formulas/ast.h"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tilefold {

/// Limits of parse(): beyond them a formula is refused, so that whoever walks
/// the tree may recurse.
inline constexpr std::size_t most_nodes = 20'000;
inline constexpr int deepest_nesting = 256; ///< parentheses, bars, signs …
inline constexpr int deepest_tree = 1'000;  ///< as in a + b + c + …

/// Appends nodes to a formula. A node may have several parents (the middle
/// of a chained comparison); the limits count it once for each.
class TreeBuilder {
public:
    explicit TreeBuilder(std::string_view text) { formula_.text = text; }

    ast::NodeId add(ast::Node node);
    /// `value` has no sign: a minus is an operation.
    ast::NodeId number(double value, Span span);
    ast::NodeId name(std::string name, Span span);
    ast::NodeId variable(std::string name, ast::Axes axes, Span span);
    ast::NodeId apply(std::string_view operation,
                      std::vector<ast::NodeId> operands, Span span);
    ast::NodeId multiply_implicitly(ast::NodeId left, ast::NodeId right,
                                    Span span);

    /// Makes the product `a × b`.
    ast::NodeId cross(ast::NodeId left, ast::NodeId right, Span span);

    /// Marks the bars of `||v||`, which is one norm.
    void mark_double_bars(ast::NodeId norm, Span span);

    const ast::Node& operator[](ast::NodeId id) const { return formula_[id]; }
    ast::Formula& formula() { return formula_; }
    const ast::Formula& formula() const { return formula_; }

private:
    ast::Formula formula_;
    std::vector<std::size_t> sizes_; ///< of the tree below each node
    std::vector<int> heights_;
};

} // namespace tilefold
