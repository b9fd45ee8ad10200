// compiler/backends/cuda/evaluate/product.h - the inner product or squared
// distance in which the pairs of a reduction meet, where tiles of pairs are
// multiplied as matrices are.
#pragma once

#include "compiler/backends/cuda/evaluate/points.h"

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

/// Whether a component of a vector costs no more than its own operations.
bool is_cheap(const ir::Graph& graph, ir::ValueId id);
/// Whether the pair term or a reduction reads a value, other than for `but`.
bool is_read_by_pairs(const ir::Graph& graph, ir::ValueId id, ir::ValueId but);
/// Of an argument; else F32.
DType stored_dtype(const ir::Graph& graph, ir::ValueId id);

/// side_component: component d of a vector at a point; side_four: four from d
/// on. `open`: the argument of open width, or -1.
void write_components(Writer& writer, const ir::Graph& graph,
                      const Sites& sites, const PointAddress& address,
                      ir::ValueId vector, const std::string& side,
                      std::int32_t open);

/// side_stored: where the components of an argument lie that stores 16 bits,
/// an object Stored of device/stored.cuh.
void write_stored(Writer& writer, const ir::Graph& graph,
                  const PointAddress& address, ir::ValueId vector,
                  const std::string& side, std::int32_t open);

} // namespace tilefold::cuda
