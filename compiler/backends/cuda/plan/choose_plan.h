// compiler/backends/cuda/plan/choose_plan.h - which loops a graph is computed
// by.
#pragma once

#include "compiler/backends/cuda/plan/plan.h"
#include "compiler/ir/ir.h"

#include <cstdint>
#include <optional>

namespace tilefold::cuda {

/// What calls of a graph run by, whatever their sizes.
struct Plans {
    Plan many;               ///< rows
    std::optional<Plan> few; ///< rows, or few pairs in all

    const Plan& of(const Points& points) const;
};

/// Chooses the plans of the (oriented) graph, whose open width, if it has one,
/// is cut into blocks of `width_block`. Throws Error(CudaCannot) where no plan
/// fits shared memory. `tolerance` is the error of products, relative to |x|
/// |y|, up to which fewer bits are used; 0: they are exact as float32 is.
/// `tensor_cores` is has_tensor_cores() of the card.
Plans choose_plans(const ir::Graph& graph, std::int32_t width_block,
                   double tolerance = 0, bool tensor_cores = true);
/// Chooses the plan for many rows only.
inline Plan choose_plan(const ir::Graph& graph, std::int32_t width_block,
                        double tolerance = 0, bool tensor_cores = true) {
    return choose_plans(graph, width_block, tolerance, tensor_cores).many;
}

/// Returns a plan of the same results that takes fewer registers, or none
/// where there is no such.
std::optional<Plan> leaner_plan(const ir::Graph& graph, const Plan& plan);

} // namespace tilefold::cuda
