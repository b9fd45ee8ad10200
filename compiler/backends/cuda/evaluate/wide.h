// compiler/backends/cuda/evaluate/wide.h - sums of vectors, one weight a pair:
// a product of the matrix of weights and the matrix of values.
#pragma once

#include "compiler/backends/cuda/evaluate/evaluate.h"

#include <optional>

namespace tilefold::cuda {

/// sum_j w_ij v_j, or softmax_j(s_ij, v_j), of a vector v on {j}; the graph's
/// only reduction.
struct Wide {
    ir::ValueId reduce = ir::no_value;
    ir::ValueId weight = ir::no_value; ///< w or s, a scalar
    ir::ValueId value = ir::no_value;
    std::int64_t components = 0;
    bool is_softmax = false;
    /// Of what is stored, where the value is an argument as it stands.
    DType stored = DType::F32;
};

/// Of 8 components and more, which are cheap to compute one by one.
std::optional<Wide> find_wide(const ir::Graph& graph);

/// pair_weight(constants, row, column, k, product)
void write_pair_weight(Writer& writer, const ir::Graph& graph, const Wide& wide,
                       const Leaves& leaves);

} // namespace tilefold::cuda
