// compiler/backends/cpu/choose_plan.cpp - the cost model's choice of loops.

#include "compiler/backends/cpu/choose_plan.h"

#include "compiler/backends/cpu/contractions.h"
#include "compiler/backends/cpu/in_place.h"
#include "compiler/backends/cpu/plan_cost.h"
#include "compiler/backends/cpu/tiles.h"
#include "compiler/ir/queries.h"
#include "compiler/monoids/state.h"

#include <algorithm>

namespace tilefold {
namespace {

/// Columns of a panel and of a tile of columns, where vectors are short.
struct Panels {
    std::int32_t panel, column_tile;
};

/// Each constant has the measurement that chose it.
namespace constants {
/// Panels have so many f32 partial sums before they go to double: 256 costs
/// about 1% of a D=3 Gaussian and leaves 4e-10 relative after 1e7 terms.
constexpr std::int32_t panel = 256;
/// Sums in f64 need no second accumulator: panels are as long as L1 allows,
/// for 4% of a D=3 Gaussian.
constexpr std::int32_t panel_f64 = 512;
/// The packed values and the state of so many rows stay in L1/L2 with a panel;
/// packing a panel is then 2% of a D=3 Gaussian's time.
constexpr std::int32_t row_block = 1024;
/// A tile's coordinates stay in registers up to so many components. Gaussian,
/// f32, G pairs/s in registers (best tile) against looped (4x6): D=4 10.8,
/// 9.1; D=5 10.7, 10.5; D=6 9.6, 10.0; D=8 7.4, 8.6.
constexpr std::int32_t unroll = 5;
/// Components of a tile of 64 rows that stay in L1 (24 KiB), and from how many
/// on they are summed in such parts. On one core of a Sapphire Rapids at 2.7
/// GHz, where ports allow 16 components of a pair a cycle, a Gaussian sum of
/// D=500 runs at 0.079 G pairs/s (0.048 in one part; ports: 0.086), of D=3000
/// at 0.012 (0.004; 0.014).
constexpr std::int32_t k_block = 96;
constexpr std::int32_t deep = 192;
/// So many columns fill the stages of a loop.
constexpr std::int32_t filling = 32;
/// Columns whose scalars stay in L1 beside what sums of vectors read. A sum of
/// E=64 columns, of both cores, G pairs/s: 1.28 (32: 1.22, 128: 1.16).
constexpr std::int32_t column_tile = 64;
/// Lists of the smallest are read and written once a panel, which is therefore
/// long, and look at so many bytes of pairs at once, which stay in L1: twice as
/// many where it has 48 KiB. The 10 nearest of D=3 on a Zen 5, one core: 12.2 G
/// pairs/s (16 KiB: 11.8). What is noted of an argmin is looked up once a
/// panel: 28.6 (1024: 27.7, 256: 24.6).
constexpr std::int32_t listed_panel = 2048;
constexpr std::int32_t listed_bytes = 16 << 10, listed_bytes_zen5 = 32 << 10;
/// A softmax of 64 components folds as many sums into double once a panel. Of
/// bf16, D=64, both cores of a Zen 4, G pairs/s: 1.00 (256, 64: 0.94; 1024, 64:
/// 0.97); of f32, one core of a Zen 5: 0.925 (256, 64: 0.902; 1024, 64: 0.921).
/// Sums of tiles are joined in float32, where 256 terms one by one would be as
/// far from exact.
/// With 512 components it is 2% slower.
constexpr Panels attention = {1024, 128};
constexpr std::int64_t attention_width = 128;
/// The scores of a whole panel and its maximum, before their exponentials. D=3,
/// N=M=10⁴, both cores of a Zen 4: 9.96 ms (tiles of 64 columns: 10.34).
constexpr Panels logsumexp = {256, 256};
/// A vector of pairs that a sum of vectors reads is kept for a tile of columns:
/// 64 components of two vectors of float32 take 32 KiB.
constexpr std::int32_t layered_panel = 256, layered_tile = 8;
/// The error of products of factors of 16 bits, and of their distances; it is
/// typical of 16 to 64 components.
constexpr double error_of_parts = 3.2e-6;
/// The error of products with the leading 8 bits of a factor or of a weight,
/// rounded.
constexpr double error_of_one_part = 4e-3;
/// Bytes of a block of packed rows, and of a panel of packed columns, where
/// vectors are long: both are read from L2 or beyond, once a panel and once a
/// tile of rows.
constexpr std::int64_t row_bytes = 4 << 20;
constexpr std::int64_t panel_bytes = 1 << 20;
/// Issue slots of a tile's code, all of whose pairs are in one block. Beyond, a
/// pair has enough to do by itself, and LLVM's allocation of registers takes
/// the square of a block's length. Columns of softdtw's smallest values, 3 and
/// 8 components, one core of a Zen 4, G pairs/s in any tile from 1x1 to 1x8:
/// 0.11, 0.009; compiled in 0.06, 0.10 s (1x1), 0.07, 0.8 s (1x4), 0.10, 2.4 s
/// (1x8).
constexpr double tile_slots = 2048;
/// Issue slots of the functions of a pair from which on they are a long chain:
/// longer than two exponentials of f32, or one of f64.
constexpr std::int32_t chain_slots = 27, chain_slots_f64 = 16;
} // namespace constants

/// What decides the tile: how a pair's term is made.
struct Features {
    std::int64_t row_registers = 0; ///< components of i-values kept at once
    bool layered = false;           ///< matrices times vectors, or long lists
    bool looped = false;      ///< a contraction longer than `unroll` per pair
    bool blocks = false;      ///< … of narrow numbers, by the matrix unit
    std::int64_t longest = 0; ///< components of a vector that is contracted
    bool wide = false;        ///< vector results longer than `unroll`
    bool listed = false;      ///< sorted lists of the K smallest
    bool rescaled = false;    ///< a running maximum: tiles of columns
    bool folded = false;      ///< a user's functions of a long state
    bool functions = false;   ///< of the components of a long vector of pairs
    bool of_points = false;   ///< rows are merged to one; nothing is of pairs
    bool extremes = true;     ///< largest or smallest values, or where they are
    bool located = false;     ///< where they are
    bool vectors = false; ///< a pair has vectors, as gradients of kernels do
    bool powers = false;  ///< … an exponential, or another function that is no
                          ///< call: a long chain of operations
    bool chained = false; ///< … so long that other vectors only take its room
    std::int64_t accumulators = 0;

    bool takes_column_tiles() const { return wide || listed || rescaled; }
    /// Whether stages of several vectors would not fit registers.
    bool is_crowded() const { return row_registers + accumulators > 4; }
    PlanKind kind(Nest nest) const {
        if (nest == Nest::Values)
            return PlanKind::Values;
        if (folded)
            return PlanKind::Fold;
        if (layered)
            return PlanKind::Layers;
        if (looped && rescaled && wide)
            return PlanKind::LongSoftmax;
        if (looped && extremes && located)
            return PlanKind::LongLocation;
        if (looped && listed)
            return PlanKind::LongList;
        if (looped)
            return functions ? PlanKind::LongFunctions : PlanKind::Long;
        if (blocks)
            return PlanKind::Blocks;
        if (rescaled)
            return PlanKind::Softmax;
        if (listed)
            return PlanKind::List;
        if (wide)
            return PlanKind::Wide;
        if (of_points)
            return PlanKind::Points;
        if (extremes)
            return located ? PlanKind::Location : PlanKind::Extreme;
        if (vectors)
            return accumulators > 4 ? PlanKind::Gradients : PlanKind::Gradient;
        if (!powers || accumulators > 2)
            return PlanKind::Plain;
        if (chained)
            return PlanKind::Chain;
        return is_crowded() ? PlanKind::Crowded : PlanKind::Short;
    }
};

bool crosses_from_rows(const ir::Graph& graph, const ir::Node& user,
                       ir::ValueId operand) {
    return graph[operand].type.axes == Axes::I &&
           (user.type.axes == Axes::IJ || user.op == ir::Op::Reduce);
}

Features features_of(const ir::Graph& graph, const Plan& plan) {
    Features features;
    features.of_points = ir::folds_points(graph);
    const Contractions contractions = choose_contractions(graph, plan);
    features.layered =
        contractions.has(Contraction::Layer) ||
        contractions.has(Contraction::LayerTiles) ||
        std::ranges::any_of(contractions.layers, [&](ir::ValueId id) {
            return graph[id].type.axes == Axes::IJ &&
                   graph[id].op == ir::Op::Concat;
        });
    std::vector<bool> counted(graph.nodes.size());
    std::int32_t slots_of_functions = 0;
    for (ir::ValueId id = 0; id < graph.nodes.size(); ++id) {
        const ir::Node& node = graph[id];
        for (ir::ValueId operand : node.inputs()) {
            if (!crosses_from_rows(graph, node, operand) || counted[operand])
                continue;
            counted[operand] = true;
            features.row_registers += graph[operand].type.rows;
        }
        if (node.op == ir::Op::Reduce) {
            const ir::Monoid monoid = row_of(ir::Reduction(node.first)).monoid;
            const ir::MonoidFamily family = family_of(node);
            const std::int32_t width = node.type.rows;
            features.rescaled |= family == ir::MonoidFamily::Exponential;
            features.folded |= node.fold && width > constants::unroll;
            features.listed |= family == ir::MonoidFamily::List;
            const bool is_location = family == ir::MonoidFamily::Location;
            features.located |= is_location;
            features.extremes &= is_location || monoid == ir::Monoid::Maximum ||
                                 monoid == ir::Monoid::Minimum;
            features.blocks |= contractions.weighed_by_tiles.count(id) > 0;
            features.wide |= width == dynamic || width > constants::unroll;
            if (first_of_state(graph, id) == id)
                features.accumulators += std::max(width, 1);
        } else if (node.type.axes == Axes::IJ && node.arity > 0) {
            features.vectors |= node.type.rank == 1;
            const bool power =
                is_power_of_pairs(node) || is_in_place(graph, node);
            features.powers |= power;
            slots_of_functions += power ? row_of(node.op).cost : 0;
            features.functions |=
                power && node.type.rank == 1 && node.type.rows > plan.unroll;
            for (ir::ValueId operand : node.inputs()) {
                if (graph[operand].type.rank != 1 || node.type.rank != 0)
                    continue;
                const std::int64_t components = graph[operand].type.rows;
                features.longest = std::max(features.longest, components);
                const bool blocks = contractions.is_tiled(id);
                features.blocks |= blocks;
                features.looped |= !blocks && components > constants::unroll;
            }
        }
    }
    features.chained = slots_of_functions >= (graph.real == DType::F64
                                                  ? constants::chain_slots_f64
                                                  : constants::chain_slots);
    return features;
}

/// Returns the tiles of tiles.def whose code is not too long, or single
/// vectors.
std::vector<Tile> fitting_tiles(PlanKind kind, const ir::Graph& graph,
                                const Plan& plan) {
    const double slots = code_slots_of_pair(graph, plan);
    std::vector<Tile> fitting;
    for (const Tile& tile : tiles_for(kind, row_of(plan.isa), graph.real))
        if (tile.row_vectors * tile.columns * slots <= constants::tile_slots)
            fitting.push_back(tile);
    if (fitting.empty())
        fitting.push_back({1, 1, 0});
    return fitting;
}

Plan base_plan(const ir::Graph& graph, Nest nest, Isa isa) {
    Plan plan;
    plan.isa = isa;
    plan.nest = nest;
    plan.lanes = row_of(isa).vector_bytes / std::int32_t(size_of(graph.real));
    plan.row_block = constants::row_block;
    plan.unroll = constants::unroll;
    return plan;
}

Panels panels_for(const Features& features, const Plan& plan,
                  std::size_t size) {
    const std::int32_t row_bytes =
        plan.row_vectors * plan.lanes * std::int32_t(size);
    const Ports ports = row_of(plan.isa).ports;
    if (features.listed)
        return {constants::listed_panel,
                (ports == Ports::Separate ? constants::listed_bytes_zen5
                                          : constants::listed_bytes) /
                    row_bytes};
    if (features.layered)
        return {constants::layered_panel, features.takes_column_tiles()
                                              ? constants::layered_tile
                                              : constants::column_tile};
    if (features.rescaled && features.wide && ports != Ports::Shared &&
        features.longest <= constants::attention_width)
        return constants::attention;
    if (features.kind(plan.nest) == PlanKind::Location)
        return {constants::listed_panel, constants::column_tile};
    if (features.rescaled && !features.wide)
        return constants::logsumexp;
    return {size == sizeof(double) ? constants::panel_f64 : constants::panel,
            constants::column_tile};
}

/// `size` is the bytes of a number. Long vectors make fewer points fill a
/// cache.
void set_tile(Plan& plan, const Tile& tile, const Features& features,
              std::size_t size) {
    const auto fitting = [&](std::int64_t most, std::int64_t bytes,
                             std::int32_t multiple) {
        const std::int64_t point =
            std::max<std::int64_t>(features.longest, 1) * std::int64_t(size);
        const auto points = std::int32_t(std::min(most, bytes / point));
        return std::max(points / multiple, 1) * multiple;
    };
    plan.row_vectors = tile.row_vectors;
    plan.columns = tile.columns;
    plan.min_stage_cycles = tile.min_stage_cycles;
    const Panels panels = panels_for(features, plan, size);
    plan.column_tile = panels.column_tile / tile.columns * tile.columns;
    plan.panel = fitting(panels.panel, constants::panel_bytes,
                         features.wide || features.listed ? plan.column_tile
                                                          : tile.columns);
    plan.row_block =
        fitting(constants::row_block, constants::row_bytes, row_multiple(plan));
    plan.k_block = features.longest > constants::deep ? constants::k_block : 0;
}

} // namespace

PlanKind kind_of(const ir::Graph& graph, const Plan& plan) {
    return features_of(graph, plan).kind(plan.nest);
}

bool takes_column_tiles(const ir::Graph& graph, const Plan& plan) {
    return features_of(graph, plan).takes_column_tiles();
}

bool fits_single_panel(const ir::Graph& graph,
                       std::optional<std::int32_t> unroll) {
    const std::int32_t most = unroll.value_or(constants::unroll);
    const auto is_for_rows = [&](const ir::Node& node) {
        if (node.op == ir::Op::Index)
            return false; // tiles may be left out, whose rows have a result
        if (node.op != ir::Op::Reduce)
            return true;
        const ir::MonoidFamily family = family_of(node);
        return Axes(node.second) == Axes::J && node.pairs == ir::Pairs::All &&
               family != ir::MonoidFamily::List &&
               family != ir::MonoidFamily::UserDefined &&
               node.type.rows != dynamic && node.type.rows <= most;
    };
    // A value that is made of reductions reads no rows beside them.
    std::vector<bool> reduced(graph.nodes.size());
    const auto is_made_of_reductions = [&](ir::ValueId id) {
        const ir::Node& node = graph[id];
        reduced[id] = node.op == ir::Op::Reduce;
        for (ir::ValueId operand : node.inputs())
            reduced[id] = reduced[id] || reduced[operand];
        return node.op == ir::Op::Reduce || !reduced[id] ||
               std::ranges::all_of(node.inputs(), [&](ir::ValueId operand) {
                   return reduced[operand] ||
                          graph[operand].type.axes == Axes::None;
               });
    };
    for (ir::ValueId id = 0; id < graph.nodes.size(); ++id)
        if (!is_for_rows(graph[id]) || !is_made_of_reductions(id))
            return false;
    return reduced[graph.result];
}

Plan choose_plan(const ir::Graph& graph, Nest nest, Isa isa,
                 const Sizes& sizes) {
    Parts parts;
    if (sizes.tolerance >= constants::error_of_one_part)
        parts = {row_of(isa).blocks ? 2 : 1, 1};
    else if (sizes.tolerance >= constants::error_of_parts)
        parts = {2, 2};
    const std::vector<Plan> plans = enumerate_plans(graph, nest, isa, parts);
    const auto fits = std::ranges::find_if(plans, [&](const Plan& plan) {
        const bool low = sizes.most_rows == 0 ||
                         plan.lanes * (plan.row_vectors - 1) < sizes.most_rows;
        const bool filled = sizes.most_columns == 0 ||
                            sizes.most_columns >= constants::filling ||
                            plan.min_stage_cycles == 0;
        return low && filled;
    });
    return fits == plans.end() ? plans.front() : *fits;
}

std::vector<Plan> enumerate_plans(const ir::Graph& graph, Nest nest, Isa isa,
                                  const Parts& parts) {
    Plan plan = base_plan(graph, nest, isa);
    plan.parts = parts.factors;
    plan.weight_parts = parts.weights;
    const Contractions asked = choose_contractions(graph, plan);
    if (!asked.has(Contraction::SplitTiles) &&
        !asked.has(Contraction::LayerTiles) && !asked.rounds(DType::F32))
        plan.parts = 0;
    if (asked.weighed_by_tiles.empty())
        plan.weight_parts = Parts().weights;
    std::vector<Plan> plans;
    const Features features = features_of(graph, plan);
    const auto add = [&] {
        for (const Tile& tile :
             fitting_tiles(features.kind(nest), graph, plan)) {
            set_tile(plan, tile, features, size_of(graph.real));
            plans.push_back(plan);
        }
    };
    plan.filter = 1;
    if (choose_contractions(graph, plan).filtered() != ir::no_value)
        add();
    plan.filter = 0;
    add();
    return plans;
}

} // namespace tilefold
