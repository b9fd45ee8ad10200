// compiler/backends/cuda/sites/contractions.h - what a reduction's pairs meet
// in, where tiles of pairs are multiplied as matrices are: an inner product or
// squared distance, and sums of vectors with one weight a pair.
#pragma once

#include "compiler/ir/ir.h"

#include <optional>
#include <vector>

namespace tilefold::cuda {

/// A Dot or SqDist of a vector on {i} and one on {j}, which the pair term reads
/// in no other way.
struct Product {
    ir::ValueId id = ir::no_value;
    ir::ValueId left = ir::no_value;  ///< on {i}
    ir::ValueId right = ir::no_value; ///< on {j}
    std::int64_t components = 0;
    bool is_distance = false;
    /// The dtypes that are stored, where both are arguments as they stand;
    /// else F32.
    DType left_dtype = DType::F32, right_dtype = DType::F32;
    /// A result below 0, which rounding may bring about, does no harm.
    bool may_be_negative = false;
};

/// Returns the longest product of float32 in the graph's pair term, or none
/// where its vectors are not cheap to compute by component.
std::optional<Product> find_product(const ir::Graph& graph);

/// sum_j w_ij v_j, or softmax_j(s_ij, v_j), of a vector v on {j}; the graph's
/// only reduction.
struct Wide {
    ir::ValueId reduce = ir::no_value;
    ir::ValueId weight = ir::no_value; ///< w or s, a scalar
    ir::ValueId value = ir::no_value;
    std::int64_t components = 0;
    bool is_softmax = false;
    /// The dtype that is stored, where the value is an argument as it stands.
    DType stored = DType::F32;
};

/// Returns a Wide of 8 components or more, which are cheap to compute one by
/// one.
std::optional<Wide> find_wide(const ir::Graph& graph);

/// Returns how the argument is stored that a value is, or F32 for any other
/// value.
DType stored_dtype(const ir::Graph& graph, ir::ValueId id);

} // namespace tilefold::cuda
