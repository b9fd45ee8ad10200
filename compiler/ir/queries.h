// compiler/ir/queries.h - what is asked of a graph in more than one room.
#pragma once

#include "compiler/ir/ir.h"

#include <cstdint>
#include <utility>
#include <vector>

namespace tilefold::ir {

/// Whether the operation adds up over the components of its operands.
bool is_contraction(Op op);
/// Whether it is the product of a matrix and a vector, in either order; and
/// which of its operands is the vector.
bool is_matrix_product(Op op);
std::size_t vector_operand(Op product);
/// How many terms a contraction adds.
std::int64_t terms_of(const Graph& graph, const Node& node);
/// Returns which component of the matrix is component `k` of a Submatrix.
std::int64_t component_of_matrix(const Graph& graph, const Node& submatrix,
                                 std::int64_t k);
/// What the sum of a contraction is before anything is added.
double start_of(Op contraction);
/// The operands of a contraction over rows and columns, that of rows first.
std::pair<ValueId, ValueId> rows_first(const Graph& graph, const Node& node);

/// The family of a Reduce node's monoid.
MonoidFamily family_of(const Node& reduce);

/// Which of `fold_arguments` an argument of a Fold's function is.
std::size_t role_of(const Argument& argument);

/// A part of a list, and the component of the list that it begins at.
struct ListPart {
    ValueId value = no_value;
    std::int64_t first = 0;
};
/// Returns what a list is joined of, lists in it on the same axes taken apart,
/// too; of any other value itself.
std::vector<ListPart> parts_of_list(const Graph& graph, ValueId list);

/// Returns, for each value, how often it is an operand of others.
std::vector<int> count_readers(const Graph& graph);

/// Says for each value whether it is a reduction's result, or made of one.
std::vector<bool> after_reductions(const Graph& graph);

/// The argument whose width is open, or -1.
std::int32_t open_argument(const Graph& graph);

/// Whether a value is computed from i or j as numbers.
bool reads_index(const Graph& graph, ValueId value);

/// Whether the graph has a reduction.
bool reduces(const Graph& graph);
/// Whether a reduction is over both axes, so that rows are merged, too.
bool folds_rows(const Graph& graph);
/// Whether rows are merged, and no value depends on a column, of which there is
/// one, or a number that only counts.
bool folds_points(const Graph& graph);
/// Whether reductions meet only the pairs that a call chooses.
bool chooses_pairs(const Graph& graph);

} // namespace tilefold::ir
