// compiler/backends/cuda/plan/plan_tiles.cpp - how exactly products are
// computed, and how many threads share the columns that they bring.

#include "compiler/backends/cuda/plan/plan_tiles.h"

#include "compiler/backends/cuda/plan/plan_memory.h"
#include "compiler/passes/passes.h"

#include <algorithm>
#include <functional>

namespace tilefold::cuda {
namespace {

/// A block of tiles of pairs has at most so many threads: the more rows, the
/// less bringing columns is of a pair. So many threads may have 255 registers
/// each.
constexpr std::int32_t most_threads = 256;
/// A block that copies whole vectors has at least so many threads: of fewer,
/// each would copy more than by parts of vectors.
constexpr std::int32_t least_copying = 128;
/// From so many components on, tiles of pairs take fewer instructions.
constexpr std::int64_t least_components = 24;
constexpr std::int64_t least_of_distances = 32;
constexpr std::int64_t least_of_expanded = 8;
/// This one counts for factors that are sums of fewer bits, on tensor cores.
constexpr std::int64_t least_of_parts = 8;
/// Components of values whose sums are held in registers: of 16 rows a warp;
/// of 32; and one by one.
constexpr std::int32_t most_wide = 128, most_of_two_tiles = 64;
/// A thread keeps so many words of rows, partials and states beside a tile's
/// products.
constexpr std::int64_t registers_beside = 56;
using ir::expansion_error;

/// The least exact way that is exact enough.
Multiply multiply_of(const Product& product, double tolerance,
                     bool tensor_cores) {
    const auto stored = [&](DType dtype) {
        return product.left_dtype == dtype && product.right_dtype == dtype;
    };
    const std::int64_t length = product.components;
    if (tensor_cores && !product.is_distance && length >= 16) {
        if (stored(DType::BF16))
            return Multiply::Bf16;
        if (stored(DType::F16))
            return Multiply::F16;
    }
    const double own = product.is_distance ? expansion_error : 0;
    if (tensor_cores && length >= least_of_parts)
        for (Multiply way :
             {Multiply::Bf16x1, Multiply::Bf16x3, Multiply::Tf32x3})
            if (tolerance >= error_of(way) + own)
                return way;
    const bool expands = product.is_distance && tolerance >= expansion_error;
    const std::int64_t least = expands               ? least_of_expanded
                               : product.is_distance ? least_of_distances
                                                     : least_components;
    return length >= least ? Multiply::Fma : Multiply::Alone;
}

/// Returns the bytes of what lies in shared memory beside products: a tile's
/// columns and where their vectors lie, the states of warps, and the task.
std::int64_t bytes_beside(const Plan& plan, const Registers& registers) {
    const auto addresses =
        std::ranges::count_if(registers.graph.nodes, [](const ir::Node& node) {
            return node.op == ir::Op::Argument && node.type.axes == Axes::J;
        });
    const std::int64_t address = 8 * (addresses + 1) * (plan.copies ? 2 : 1);
    return bytes_of_columns(plan, registers) + address * plan.tile_columns +
           bytes_of_states(registers, warps_folded(plan, registers)) +
           bytes_of_task(registers);
}

/// Returns the bytes of the products of a tile of pairs; see
/// device/product_*.cuh.
std::int64_t bytes_of_product(const Plan& plan, const Product& product) {
    const std::int64_t depth =
        (product.components + plan.chunk - 1) / plan.chunk * plan.chunk;
    const std::int64_t points = plan.block_rows() + 8;
    const bool is_fma = plan.multiply == Multiply::Fma;
    const bool is_half = plan.multiply == Multiply::Bf16x1 ||
                         plan.multiply == Multiply::Bf16 ||
                         plan.multiply == Multiply::F16;
    const std::int64_t bytes = is_half ? 2 : 4;
    const std::int64_t left = depth * (plan.block_rows() + 4 * is_fma) * bytes;
    const std::int64_t right =
        plan.chunk * (plan.tile_columns + 4 * is_fma) * bytes;
    constexpr std::int64_t padding = 128;
    return left + right + (depth + points + plan.tile_columns) * 4 + padding;
}

/// Returns the plan with the most threads whose shared memory fits; none where
/// too few do.
std::optional<Plan> with_threads(Plan plan, std::int64_t most,
                                 const std::function<std::int64_t(Plan)>& of) {
    for (plan.threads = most_threads; plan.threads >= 32; plan.threads /= 2) {
        plan.shared_bytes = std::int32_t(of(plan));
        if (plan.shared_bytes <= most)
            return plan;
    }
    return std::nullopt;
}

} // namespace

std::optional<Plan> plan_of_tiles(const Registers& registers,
                                  std::int32_t width_block, double tolerance,
                                  bool tensor_cores) {
    if (!registers.product || registers.reductions.empty())
        return std::nullopt;
    const Product& product = *registers.product;
    Plan plan;
    plan.width_block = width_block;
    plan.multiply = multiply_of(product, tolerance, tensor_cores);
    if (plan.multiply == Multiply::Alone)
        return std::nullopt;
    const bool is_fma = plan.multiply == Multiply::Fma;
    plan.expands =
        product.is_distance && (!is_fma || tolerance >= expansion_error);
    const bool halves = !is_fma && plan.multiply != Multiply::Tf32x3;
    plan.chunk = halves || product.components % 16 == 0 ? 16 : 8;
    plan.rows_per_thread = 1;
    plan.tile_columns = 64;
    if (words_of_row(registers) * (is_fma ? 8 : 4) > registers_beside)
        return std::nullopt;
    const std::int64_t most = is_fma ? common_shared : most_shared;
    return with_threads(plan, most, [&](const Plan& tried) {
        return bytes_of_product(tried, product) +
               bytes_beside(tried, registers);
    });
}

namespace {

/// The bfloat16 that make a factor: 8 bits each.
std::int32_t parts_of(double tolerance) {
    return tolerance >= error_of(Multiply::Bf16x1)   ? 1
           : tolerance >= error_of(Multiply::Bf16x3) ? 2
                                                     : 3;
}

/// Weights of a softmax are at most 1, so that halves hold them: two are 22
/// bits. Those of a sum may be beyond any half.
void choose_parts(const Wide& wide, double tolerance, Plan& plan) {
    plan.halves = wide.is_softmax && wide.stored == DType::F16;
    if (plan.halves) {
        plan.weight_parts = tolerance >= half_error ? 1 : 2;
        plan.value_parts = 1;
        return;
    }
    plan.weight_parts = parts_of(tolerance);
    plan.value_parts = wide.stored == DType::BF16 ? 1
                       : wide.stored == DType::F16
                           ? std::min(plan.weight_parts, 2)
                           : plan.weight_parts;
}

/// Whether what tensor cores multiply is stored so: keys, and values.
bool multiplies_stored(const Plan& plan, const Wide& wide) {
    const bool stores_keys =
        plan.multiply == Multiply::Bf16 || plan.multiply == Multiply::F16;
    return stores_keys && (wide.stored == DType::BF16 || plan.halves);
}

/// Returns the bytes of a tile's values; see device/values_*.cuh.
std::int64_t bytes_of_values(const Plan& plan, const Wide& wide) {
    const std::int64_t tiles = (wide.components + 7) / 8;
    return plan.copies ? ((tiles | 1) * plan.tile_columns + 1) * 16
                       : tiles * 8 * plan.tile_columns * 2 * plan.value_parts;
}

} // namespace

std::optional<Plan> plan_of_wide(const ir::Graph& graph,
                                 std::int32_t width_block, double tolerance) {
    const auto wide = find_wide(graph);
    if (!wide || wide->components > most_wide)
        return std::nullopt;
    Plan plan;
    plan.width_block = width_block;
    choose_parts(*wide, tolerance, plan);
    plan.rows_per_thread = 1;
    plan.tile_columns = 64;
    plan.warp_tiles = wide->components > most_of_two_tiles ? 1 : 2;
    const auto product = find_product(graph);
    if (product && product->components >= least_of_expanded) {
        plan.multiply = multiply_of(*product, tolerance, true);
        plan.expands = product->is_distance;
        plan.chunk =
            plan.multiply == Multiply::Tf32x3 && product->components % 16 != 0
                ? 8
                : 16;
        if (plan.multiply == Multiply::Fma ||
            (plan.multiply == Multiply::Alone &&
             product->components >= least_components))
            return std::nullopt;
    }
    const bool multiplies = plan.multiply != Multiply::Alone;
    plan.expands = plan.expands && multiplies;
    const Registers registers = place_registers(graph, {multiplies, true});
    if (words_of(registers.row.record) * 2 * plan.warp_tiles > registers_beside)
        return std::nullopt;
    const auto fitting = [&](const Plan& of) {
        return with_threads(of, most_shared, [&](const Plan& tried) {
            return bytes_of_values(tried, *wide) +
                   bytes_beside(tried, registers) +
                   (multiplies ? bytes_of_product(tried, *product) : 0);
        });
    };
    if (multiplies_stored(plan, *wide)) {
        Plan copying = plan;
        copying.copies = true;
        copying.chunk = std::int32_t((product->components + 15) / 16 * 16);
        const auto fits = fitting(copying);
        if (fits && fits->threads >= least_copying)
            return fits;
    }
    return fitting(plan);
}

} // namespace tilefold::cuda
