// compiler/backends/cuda/plan.cpp - registers and shared memory decide how
// many rows a thread holds and how many columns a tile has.

#include "compiler/backends/cuda/plan.h"

#include "compiler/backends/cuda/instructions.h"
#include "compiler/backends/cuda/reduction.h"
#include "compiler/backends/cuda/refuse.h"
#include "compiler/build.h"
#include "compiler/passes.h"

#include <algorithm>
#include <functional>

namespace tilefold::cuda {
namespace {

/// Of each thread, for rows, partials and states together. Eight rows of 16
/// components fit, in 245 registers of sm_90: 35.9 instructions a pair; four
/// would take 36.8.
constexpr std::int64_t registers = 160;
constexpr std::int32_t most_rows = 8;
/// Where pairs are chosen: tiles of a few hundred rows are common.
constexpr std::int32_t most_chosen_rows = 2;
/// Pairs in the body of the innermost loop, where there are fewer rows: its own
/// instructions are 3% of a short pair's then. With most rows they are 5% of
/// those of one column, which compiles in 10 ms less than two do.
constexpr std::int32_t pairs_unrolled = 16;
/// Of columns of more words, whose pairs take long enough to compile anyhow.
constexpr std::int32_t more_pairs_unrolled = 24;
constexpr std::int64_t short_column = 12;
/// Points that a thread takes before their sum goes on in double, and columns.
constexpr std::int32_t points_of_thread = 16, columns_of_thread = 8;
/// Of a row or column, of which several are loaded at a time, and instructions
/// of one.
constexpr double most_ahead = 16;
constexpr std::int64_t most_words_ahead = 4, most_words_held = 64;
/// Rows that threads share: fewer than half of a block's own; of those that are
/// multiplied in tiles, one sixteenth. And, where columns are many enough, all
/// of so few pairs that they would be a few blocks' work.
constexpr std::int64_t few_rows = 256, few_of_tiles = 16;
constexpr std::int64_t least_shared_columns = 256;
constexpr double few_pairs = 1 << 24;
/// Of a block where nothing is reduced, and of the columns of its threads.
constexpr std::int32_t rows_of_values = 16;
constexpr std::int64_t registers_of_values = 40;
/// Words of a column from which on fewer are unrolled: they fill registers.
constexpr std::int64_t long_column = 32;
/// Of a block of tiles of pairs: the more rows, the less bringing columns is of
/// a pair. So many threads may have 255 registers each.
constexpr std::int32_t most_threads = 256;
/// Of a block that copies whole vectors: of fewer threads, each would copy more
/// than by parts of vectors.
constexpr std::int32_t least_copying = 128;
/// Shared memory of a block that asks for it, on all cards of 8.0 and later:
/// the least of them (8.6) gives 99 KB.
constexpr std::int64_t most_shared = 96 * 1024;
/// A tile's: three blocks fit beside each other.
constexpr std::int64_t tile_bytes = 16 * 1024;

/// Components from which on tiles of pairs take fewer instructions.
constexpr std::int64_t least_components = 24;
constexpr std::int64_t least_of_distances = 32;
constexpr std::int64_t least_of_expanded = 8;
/// Of factors that are sums of fewer bits, on tensor cores.
constexpr std::int64_t least_of_parts = 8;
using ir::expansion_error;
/// Components of values whose sums are held in registers: of 16 rows a warp;
/// of 32; and one by one.
constexpr std::int32_t most_wide = 128, most_of_two_tiles = 64;
constexpr std::int32_t most_accumulators = 32;
/// Words of rows, partials and states that a thread keeps beside a tile's
/// products.
constexpr std::int64_t registers_beside = 56;

std::int64_t words_of(const Record& record) {
    return (record.bytes() + 3) / 4;
}

} // namespace

std::int32_t width_block_of(std::int64_t width) {
    for (std::int32_t block : width_blocks)
        if (width <= block)
            return block;
    return width_blocks[std::size(width_blocks) - 1];
}

std::string_view spelling_of(Multiply multiply) {
    switch (multiply) {
    case Multiply::Alone:
        return "alone";
    case Multiply::Fma:
        return "fma";
    case Multiply::Tf32x3:
        return "tf32x3";
    case Multiply::Bf16x3:
        return "bf16x3";
    case Multiply::Bf16x1:
        return "bf16x1";
    case Multiply::Bf16:
        return "bf16";
    case Multiply::F16:
        return "f16";
    }
    internal_error("a way to multiply without a case");
}

std::string_view spelling_of(Lanes lanes) {
    switch (lanes) {
    case Lanes::Rows:
        return "rows";
    case Lanes::Columns:
        return "columns";
    case Lanes::Points:
        return "points";
    }
    internal_error("lanes without a case");
}

double error_of(Multiply multiply) {
    switch (multiply) {
    case Multiply::Alone:
    case Multiply::Fma:
    case Multiply::Bf16:
    case Multiply::F16:
        return 0;
    case Multiply::Tf32x3:
        return 1e-7;
    case Multiply::Bf16x3:
        return 3e-6;
    case Multiply::Bf16x1:
        return 4e-3;
    }
    internal_error("a way to multiply without a case");
}

namespace {

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

std::int64_t bytes_of_task(const Reduction& reduction) {
    return 8 * (std::int64_t(reduction.graph.arguments.size()) + 16);
}

/// Of a tile's columns, in shared memory.
std::int64_t bytes_of_columns(const Plan& plan, const Reduction& reduction) {
    return (reduction.sites.column.record.bytes() / 16 + 1) * 16 *
           plan.tile_columns;
}

/// Warps of a block whose states become one.
std::int64_t warps_folded(const Plan& plan, const Reduction& reduction) {
    return folds_blocks(reduction.graph, reduction.sites) ? plan.threads / 32
                                                          : 1;
}

/// Of the states of so many threads.
std::int64_t bytes_of_states(const Reduction& reduction, std::int64_t count) {
    std::int64_t slots = 0;
    for (const Field& field : reduction.state.fields())
        slots += std::max<std::int64_t>(field.length, 1);
    return (slots + 1) * 8 * count;
}

/// What lies in shared memory beside products: a tile's columns and where their
/// vectors lie, the states of warps, and the task.
std::int64_t bytes_beside(const Plan& plan, const Reduction& reduction) {
    const auto addresses =
        std::ranges::count_if(reduction.graph.nodes, [](const ir::Node& node) {
            return node.op == ir::Op::Argument && node.type.axes == Axes::J;
        });
    const std::int64_t address = 8 * (addresses + 1) * (plan.copies ? 2 : 1);
    return bytes_of_columns(plan, reduction) + address * plan.tile_columns +
           bytes_of_states(reduction, warps_folded(plan, reduction)) +
           bytes_of_task(reduction);
}

/// Of a tile of pairs; see device/product_*.cuh.
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

/// The most threads whose shared memory fits; none where too few do.
std::optional<Plan> with_threads(Plan plan, std::int64_t most,
                                 const std::function<std::int64_t(Plan)>& of) {
    for (plan.threads = most_threads; plan.threads >= 32; plan.threads /= 2) {
        plan.shared_bytes = std::int32_t(of(plan));
        if (plan.shared_bytes <= most)
            return plan;
    }
    return std::nullopt;
}

/// Tiles of pairs, where they pay and fit.
std::optional<Plan> plan_of_tiles(const Reduction& reduction,
                                  std::int32_t width_block, double tolerance,
                                  bool tensor_cores) {
    if (!reduction.product || reduction.monoids.empty())
        return std::nullopt;
    const Product& product = *reduction.product;
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
    const std::int64_t beside = words_of(reduction.sites.row.record) +
                                words_of(reduction.partial) +
                                words_of(reduction.state);
    if (beside * (is_fma ? 8 : 4) > registers_beside)
        return std::nullopt;
    const std::int64_t most = is_fma ? common_shared : most_shared;
    return with_threads(plan, most, [&](const Plan& tried) {
        return bytes_of_product(tried, product) +
               bytes_beside(tried, reduction);
    });
}

/// The pair term as it stands: a row is loaded for all columns of a thread.
Plan plan_of_values(const Sites& sites) {
    Plan plan;
    plan.rows_per_thread = rows_of_values;
    const auto most = registers_of_values /
                      std::max<std::int64_t>(words_of(sites.column.record), 1);
    plan.columns_unrolled = std::int32_t(std::clamp<std::int64_t>(most, 1, 4));
    return plan;
}

/// Points that are loaded before the first of them is met: so many where that
/// takes few registers and little computing.
std::int32_t loaded_ahead(const ir::Graph& graph, Axes axis,
                          const Record& record, std::int32_t most) {
    double computed = 0;
    for (const ir::Node& node : graph.nodes)
        if (node.type.axes == axis)
            computed += instructions_of(node.op).single *
                        double(components_of(node.type));
    return words_of(record) <= most_words_ahead && computed <= most_ahead ? most
                                                                          : 1;
}

/// Points of one axis, which are folded.
Plan plan_of_points(const Reduction& reduction) {
    Plan plan;
    plan.lanes = Lanes::Points;
    plan.threads = 256;
    plan.tile_columns = plan.threads * points_of_thread;
    plan.rows_per_thread = 1;
    plan.columns_unrolled =
        loaded_ahead(reduction.graph, Axes::I, reduction.sites.row.record, 4);
    plan.shared_bytes =
        std::int32_t(bytes_of_task(reduction) +
                     bytes_of_states(reduction, plan.threads / 32));
    return plan;
}

/// Few rows, which all threads have; none where columns are too long for
/// registers.
std::optional<Plan> plan_of_columns(const ir::Graph& graph,
                                    std::int32_t width_block) {
    const Reduction reduction(of_width(graph, width_block), {});
    const std::int64_t words = words_of(reduction.sites.column.record);
    if (words > most_words_held)
        return std::nullopt;
    Plan plan;
    plan.lanes = Lanes::Columns;
    plan.width_block = open_argument(graph) < 0 ? 1 : width_block;
    plan.tile_columns = plan.threads * columns_of_thread;
    const std::int64_t row = words_of(reduction.sites.row.record) +
                             words_of(reduction.partial) +
                             words_of(reduction.state);
    plan.rows_per_thread = most_rows;
    const auto bytes = [&] {
        return bytes_of_task(reduction) +
               bytes_of_states(reduction,
                               plan.threads / 32 * plan.rows_per_thread);
    };
    while (plan.rows_per_thread > 1 &&
           (row * plan.rows_per_thread > registers || bytes() > common_shared))
        plan.rows_per_thread /= 2;
    plan.columns_unrolled =
        loaded_ahead(reduction.graph, Axes::J, reduction.sites.column.record,
                     plan.rows_per_thread == 1 ? 4 : 2);
    plan.shared_bytes = std::int32_t(bytes());
    return plan;
}

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
    return std::ranges::any_of(graph.nodes,
                               [](const ir::Node& node) {
                                   return node.op == ir::Op::Reduce &&
                                          Axes(node.second) == Axes::IJ;
                               }) &&
           std::ranges::none_of(graph.nodes, [](const ir::Node& node) {
               return contains(node.type.axes, Axes::J);
           });
}

/// Of columns of so many words.
std::int32_t columns_unrolled(std::int32_t rows, std::int64_t words) {
    if (words > long_column)
        return 2;
    if (words > short_column)
        return std::min(more_pairs_unrolled / rows, 8);
    return rows == most_rows ? 1 : std::min(pairs_unrolled / rows, 8);
}

/// Pair by pair, in registers of rows.
Plan plan_of_rows(const ir::Graph& graph, std::int32_t width_block) {
    const Reduction reduction(of_width(graph, width_block), {});
    const Sites& sites = reduction.sites;
    if (reduction.monoids.empty())
        return plan_of_values(sites);
    Plan plan;
    plan.width_block = open_argument(graph) < 0 ? 1 : width_block;
    const std::int64_t row = words_of(sites.row.record) +
                             words_of(reduction.partial) +
                             words_of(reduction.state);
    const bool chooses = chooses_pairs(graph);
    plan.threads = chooses ? 128 : 64;
    plan.rows_per_thread = chooses ? most_chosen_rows : most_rows;
    while (plan.rows_per_thread > 1 && row * plan.rows_per_thread > registers)
        plan.rows_per_thread /= 2;
    const std::int64_t column = (sites.column.record.bytes() + 15) / 16 * 16;
    while (plan.tile_columns > 1 && column * plan.tile_columns > tile_bytes)
        plan.tile_columns /= 2;
    plan.shared_bytes = std::int32_t(
        std::min(bytes_of_columns(plan, reduction) + bytes_of_task(reduction) +
                     bytes_of_states(reduction, warps_folded(plan, reduction)),
                 most_shared + 1));
    if (plan.shared_bytes > most_shared)
        refuse("columns of " + std::to_string(column) +
                   " bytes, more than shared memory holds",
               "shorten the vectors of the reduced axis to " +
                   std::to_string((most_shared - 1024) / 4) +
                   " float32 components");
    plan.columns_unrolled =
        columns_unrolled(plan.rows_per_thread, words_of(sites.column.record));
    return plan;
}

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

/// Of a tile; see device/values_*.cuh.
std::int64_t bytes_of_values(const Plan& plan, const Wide& wide) {
    const std::int64_t tiles = (wide.components + 7) / 8;
    return plan.copies ? ((tiles | 1) * plan.tile_columns + 1) * 16
                       : tiles * 8 * plan.tile_columns * 2 * plan.value_parts;
}

/// Weights times values on tensor cores, where they pay and fit.
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
    const Reduction reduction(graph, {multiplies, true});
    if (words_of(reduction.sites.row.record) * 2 * plan.warp_tiles >
        registers_beside)
        return std::nullopt;
    const auto fitting = [&](const Plan& of) {
        return with_threads(of, most_shared, [&](const Plan& tried) {
            return bytes_of_values(tried, *wide) +
                   bytes_beside(tried, reduction) +
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

/// For any number of rows.
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
    const auto tiles =
        plan_of_tiles(Reduction(of_width(graph, width_block), {true, false}),
                      width, tolerance, tensor_cores);
    return tiles ? *tiles : plan_of_rows(graph, width_block);
}

} // namespace

Plans choose_plans(const ir::Graph& graph, std::int32_t width_block,
                   double tolerance, bool tensor_cores) {
    const std::int32_t held = std::min(width_block, most_accumulators);
    if (chooses_pairs(graph))
        return {plan_of_rows(graph, held), {}};
    if (is_of_points(graph))
        return {plan_of_points(Reduction(of_width(graph, held), {})), {}};
    Plans plans{plan_of_many(graph, width_block, tolerance, tensor_cores), {}};
    if (std::ranges::count(graph.nodes, ir::Op::Reduce, &ir::Node::op) > 0)
        plans.few = plan_of_columns(graph, held);
    return plans;
}

const Plan& Plans::of(const Points& points) const {
    return few && are_few(points, many.is_tiled()) ? *few : many;
}

std::optional<Plan> leaner_plan(const ir::Graph& graph, const Plan& plan) {
    Plan leaner = plan;
    if (plan.is_wide() || plan.lanes == Lanes::Points)
        return std::nullopt;
    if (plan.multiply == Multiply::Alone && plan.rows_per_thread > 1) {
        leaner.rows_per_thread /= 2;
        return leaner;
    }
    if (plan.multiply != Multiply::Alone && plan.threads > 128) {
        leaner.threads = 128; // which may have twice the registers
        return leaner;
    }
    const bool is_exact = plan.multiply == Multiply::Fma && !plan.expands;
    if (!is_exact)
        return std::nullopt;
    return plan_of_rows(graph, plan.width_block);
}

std::string print(const Plan& plan) {
    const auto entry = [](const char* key, std::int32_t value) {
        return std::string(key) + "=" + std::to_string(value);
    };
    return entry("threads", plan.threads) + " " +
           (plan.lanes == Lanes::Rows
                ? ""
                : "lanes=" + std::string(spelling_of(plan.lanes)) + " ") +
           entry("rows_per_thread", plan.rows_per_thread) + " " +
           entry("tile_columns", plan.tile_columns) + " " +
           entry("columns_unrolled", plan.columns_unrolled) + " " +
           entry("width_block", plan.width_block) +
           (plan.multiply == Multiply::Alone
                ? ""
                : " multiply=" + std::string(spelling_of(plan.multiply)) + " " +
                      entry("chunk", plan.chunk) + " " +
                      entry("expands", plan.expands)) +
           (plan.is_wide() ? " " + entry("weight_parts", plan.weight_parts) +
                                 " " + entry("value_parts", plan.value_parts) +
                                 " " + entry("warp_tiles", plan.warp_tiles) +
                                 " " + entry("halves", plan.halves) + " " +
                                 entry("copies", plan.copies)
                           : "");
}

} // namespace tilefold::cuda
