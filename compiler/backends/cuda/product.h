// compiler/backends/cuda/product.h - the inner product or squared distance in
// which the pairs of a reduction meet, where tiles of pairs are multiplied as
// matrices are.
#pragma once

#include "compiler/backends/cuda/evaluate.h"

#include <optional>

namespace tilefold::cuda {

/// A Dot or SqDist of a vector on {i} and one on {j}, which the pair term reads
/// in no other way.
struct Product {
    ir::ValueId id = ir::no_value;
    ir::ValueId left = ir::no_value;  ///< on {i}
    ir::ValueId right = ir::no_value; ///< on {j}
    std::int64_t components = 0;
    bool is_distance = false;
    /// Of what is stored, where both are arguments as they stand; else F32.
    DType left_dtype = DType::F32, right_dtype = DType::F32;
    /// A result below 0, which rounding may bring about, does no harm.
    bool may_be_negative = false;
};

/// The longest of the graph's pair term, of float32; none where its vectors
/// are not cheap to compute by component.
std::optional<Product> find_product(const ir::Graph& graph);

/// left_component, left_four, right_component and right_four.
void write_components_of_product(Writer& writer, const ir::Graph& graph,
                                 const Sites& sites, const Product& product);

} // namespace tilefold::cuda
