// compiler/backends/cuda/plan/model_tiles.cpp - see model_tiles.h. Numbers
// without a reason are what NVRTC 13.0 makes of device/*.cuh for sm_90.

#include "compiler/backends/cuda/plan/model_tiles.h"

#include <algorithm>
#include <cmath>

namespace tilefold::cuda {
namespace {

/// device/four.cuh loads so many components at a time.
constexpr double group = 4;
/// A pair takes so many of the lanes' instructions: 32 lanes take a tile of 16
/// × 8.
constexpr double lanes_of_tile = 32.0 / (16 * 8);
/// A pair takes so much for its first sum, which is 0 or the norm of its row.
constexpr double begin_of_product = 1;

/// What a thread holds of a tile of pairs.
struct Thread {
    explicit Thread(const Plan& plan) {
        const bool is_fma =
            !plan.uses_value_matmul() && plan.multiply == Multiply::Fma;
        rows = is_fma ? 8 : 2.0 * plan.warp_tiles;
        columns = is_fma ? 8 : 16;
        pairs = rows * columns;
    }
    double rows, columns, pairs;
};

bool has_two_parts(Multiply multiply) {
    return multiply == Multiply::Tf32x3 || multiply == Multiply::Bf16x3;
}

/// Eight components that are copied take so many instructions.
constexpr double to_copy = 16, components_copied = 8;

/// Returns what bringing four components of a column from memory to shared
/// memory takes.
double to_bring(const Plan& plan) {
    constexpr double load = 22, place = 8, pack = 12, centre = 20;
    const bool is_fma = plan.multiply == Multiply::Fma;
    const bool packs = !is_fma && plan.multiply != Multiply::Tf32x3;
    return load + place * !is_fma + pack * packs + centre * plan.expands;
}

void add_product(const Product& product, const Plan& plan, PairCost& cost) {
    const Thread thread(plan);
    const double chunks =
        std::ceil(double(product.components) / double(plan.chunk));
    const double depth = chunks * plan.chunk;
    const double of_thread =
        double(plan.tile_columns) * plan.chunk / plan.threads;
    const double brought = plan.copies ? of_thread / components_copied * to_copy
                                       : of_thread / group * to_bring(plan);
    // One chunk is no loop, and begins with its first products.
    const bool is_unrolled = plan.multiply == Multiply::Fma && chunks == 1;
    constexpr double chunk_loop = 16;
    cost.overhead += chunks * (brought + chunk_loop) / thread.pairs;
    cost.overhead += is_unrolled ? 0 : begin_of_product;
    if (plan.expands) {
        cost.single += 1; // the norm
        cost.overhead += 1 / thread.rows;
    }
    if (plan.multiply == Multiply::Fma) {
        const bool subtracts = product.is_distance && !plan.expands;
        cost.single += double(product.components) * (subtracts ? 2 : 1);
        constexpr double loads = 4;
        const double loop = is_unrolled ? 0 : 9.0 / 8;
        cost.overhead += depth * (loads + loop) / thread.pairs;
        return;
    }
    const bool is_tf32 = plan.multiply == Multiply::Tf32x3;
    const double steps = depth / (is_tf32 ? 8 : 16);
    const double products =
        steps * lanes_of_tile * (has_two_parts(plan.multiply) ? 3 : 1);
    cost.single += products;
    cost.tensor += products;
    const double of_step = plan.warp_tiles + thread.columns / 2;
    const double parts = plan.multiply == Multiply::Bf16x3 ? 2 : 1;
    double loads = steps * parts * of_step;
    if (is_tf32) // each of a lane's words, in three instructions
        loads += steps * 3 * (4 * plan.warp_tiles + thread.columns);
    cost.overhead += loads / thread.pairs;
    // A lane multiplies words of 16 rows and of 8 columns.
    cost.shared += steps * parts *
                   (16 * plan.warp_tiles + 8 * thread.columns / 2) /
                   thread.pairs;
}

/// Returns how many pairs of parts have their products added.
double products_of_parts(const Plan& plan) {
    const int smallest = std::max(plan.value_parts, plan.weight_parts) - 1;
    int products = 0;
    for (int p = 0; p < plan.value_parts; ++p)
        for (int w = 0; w < plan.weight_parts; ++w)
            products += p + w <= smallest;
    return products;
}

/// Returns what one thread takes to bring values: whole vectors, or two
/// columns of four components.
double to_bring_values(double tiles, const Plan& plan) {
    const double of_thread = plan.tile_columns * tiles * 8 / plan.threads;
    return plan.copies
               ? of_thread / components_copied * to_copy
               : of_thread / (2 * group) * (60 + 21.0 * plan.value_parts);
}

void add_wide(const Wide& wide, const Plan& plan, PairCost& cost) {
    const Thread thread(plan);
    const double tiles = std::ceil(double(wide.components) / 8);
    // A product takes 16 columns of weights at a time: half a tile's
    // instruction each.
    const double products = tiles * products_of_parts(plan) * lanes_of_tile / 2;
    cost.single += products;
    cost.tensor += products;
    if (wide.is_softmax) { // a maximum, an exponential, a sum
        cost.single += 5;
        cost.special += 1;
    }
    const double split = 0.5 * plan.weight_parts + 2 * (plan.weight_parts - 1);
    const double words =
        plan.tile_columns / 16.0 * tiles * plan.value_parts; // two of each
    const double loads = words / 2; // those of two tiles
    // In each row the lanes' maxima become one, which takes so much with what
    // that means for the last one.
    const double rows = wide.is_softmax ? 40 * thread.rows : 0;
    const double held = thread.rows * tiles * 2 * 7 / plan.tiles_held;
    cost.overhead +=
        split +
        (loads + rows + held + to_bring_values(tiles, plan)) / thread.pairs;
    cost.shared += words * 8 / thread.pairs;
}

} // namespace

std::vector<ir::ValueId> computed_by_tiles(const Registers& registers) {
    std::vector<ir::ValueId> values;
    if (registers.product)
        values.push_back(registers.product->id);
    if (registers.wide) {
        values.push_back(registers.wide->reduce);
        if (!registers.wide->is_softmax)
            values.push_back(
                registers.graph[registers.wide->reduce].operands[0]);
    }
    return values;
}

void add_tiles(const Registers& registers, const Plan& plan, PairCost& cost) {
    if (registers.product)
        add_product(*registers.product, plan, cost);
    if (registers.wide)
        add_wide(*registers.wide, plan, cost);
    const Thread thread(plan);
    constexpr double bytes_of_load = 16, branch = 4, fold = 12, tile_loop = 40;
    const double column =
        std::ceil(double(registers.column.record.bytes()) / bytes_of_load);
    cost.overhead += (column + branch) / thread.rows + fold / thread.columns +
                     tile_loop / thread.pairs;
}

} // namespace tilefold::cuda
