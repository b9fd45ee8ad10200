// compiler/backends/cuda/plan/choose_plan.cpp - see choose_plan.h.

#include "compiler/backends/cuda/plan/choose_plan.h"

#include "compiler/backends/cuda/plan/plan_memory.h"
#include "compiler/backends/cuda/plan/plan_rows.h"
#include "compiler/backends/cuda/plan/plan_segments.h"
#include "compiler/backends/cuda/plan/plan_tiles.h"
#include "compiler/ir/queries.h"

#include <algorithm>

namespace tilefold::cuda {
namespace {

/// Threads share rows where there are no more than these: fewer than half of a
/// block's own; of those that are multiplied in tiles, one sixteenth. And,
/// where columns are many enough, they share all rows of so few pairs that
/// they would be a few blocks' work.
constexpr std::int64_t few_rows = 256, few_of_tiles = 16;
constexpr std::int64_t least_shared_columns = 256;
constexpr double few_pairs = 1 << 24;

/// Whether a plan for rows would leave most threads, or most of a card, without
/// work.
bool are_few(const Points& points, bool is_tiled) {
    if (points.columns < least_shared_columns)
        return false;
    const double pairs =
        double(points.rows) * double(points.columns) * double(points.batches);
    return points.rows <= (is_tiled ? few_of_tiles : few_rows) ||
           (!is_tiled && pairs <= few_pairs);
}

bool is_of_points(const ir::Graph& graph) {
    return folds_rows(graph) &&
           std::ranges::none_of(graph.nodes, [](const ir::Node& node) {
               return contains(node.type.axes, Axes::J);
           });
}

/// Returns the plan for any number of rows.
Plan plan_of_many(const ir::Graph& graph, std::int32_t width_block,
                  double tolerance, bool tensor_cores) {
    const std::int32_t width = open_argument(graph) < 0 ? 1 : width_block;
    const auto wide = tensor_cores ? plan_of_wide(of_width(graph, width_block),
                                                  width, tolerance)
                                   : std::nullopt;
    if (wide)
        return *wide;
    if (width > most_accumulators)
        return plan_of_many(graph, most_accumulators, tolerance, tensor_cores);
    const auto tiles = plan_of_tiles(
        place_registers(of_width(graph, width_block), {.multiply = true}),
        width, tolerance, tensor_cores);
    return tiles ? *tiles : plan_of_rows(graph, width_block);
}

/// With what decides into how many segments columns are cut.
Plan with_segments(const ir::Graph& graph, const Plan& plan) {
    const TileProducts by_tiles{.multiply = plan.multiply != Multiply::Alone,
                                .widen = plan.uses_value_matmul()};
    return with_segments(
        plan, place_registers(of_width(graph, plan.width_block), by_tiles));
}

} // namespace

Plans choose_plans(const ir::Graph& graph, std::int32_t width_block,
                   double tolerance, bool tensor_cores) {
    const std::int32_t held = std::min(width_block, most_accumulators);
    if (chooses_pairs(graph))
        return {plan_of_rows(graph, held), {}};
    if (is_of_points(graph))
        return {plan_of_points(graph, held), {}};
    Plans plans{with_segments(graph, plan_of_many(graph, width_block, tolerance,
                                                  tensor_cores)),
                {}};
    if (ir::reduces(graph))
        plans.few = plan_of_columns(graph, held);
    return plans;
}

const Plan& Plans::of(const Points& points) const {
    return few && are_few(points, many.is_tiled()) ? *few : many;
}

std::optional<Plan> leaner_plan(const ir::Graph& graph, const Plan& plan) {
    Plan leaner = plan;
    if (plan.uses_value_matmul() || plan.lanes == Lanes::Points)
        return std::nullopt;
    if (plan.multiply == Multiply::Alone && plan.rows_per_thread > 1) {
        leaner.rows_per_thread /= 2;
        return with_segments(graph, leaner);
    }
    if (plan.multiply != Multiply::Alone && plan.threads > 128) {
        leaner.threads = 128; // which may have twice the registers
        return with_segments(graph, leaner);
    }
    const bool is_exact = plan.multiply == Multiply::Fma && !plan.expands;
    if (!is_exact)
        return std::nullopt;
    return with_segments(graph, plan_of_rows(graph, plan.width_block));
}

} // namespace tilefold::cuda
