// compiler/backends/cpu/plan.h - how a graph becomes loops: plain data,
// printable.
//
// A reduction runs as
//   task (block of rows, segment of columns)
//     pack the block's row values
//     panel of columns: pack its column values
//       tile: `row_vectors` vectors of rows × `columns` columns at a time,
//             accumulators in registers over the panel, then into the state
// Lanes run over rows.
#pragma once

#include "compiler/backends/cpu/isa.h"

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <string_view>

namespace tilefold {

/// Which family of entries an image holds; see nests.def.
enum class Nest : std::uint8_t {
#define NEST(name, ...) name,
#include "compiler/backends/cpu/nests.def"
#undef NEST
};
/// All nests, in order.
inline constexpr Nest nests[] = {
#define NEST(name, ...) Nest::name,
#include "compiler/backends/cpu/nests.def"
#undef NEST
};
std::string_view spelling_of(Nest nest);

/// What decides the tile of a plan: how a pair's term is made, and what becomes
/// of it; see plan_kinds.def.
enum class PlanKind : std::uint8_t {
#define PLAN_KIND(name, ...) name,
#include "compiler/backends/cpu/plan_kinds.def"
#undef PLAN_KIND
};
struct PlanKindRow {
    PlanKind kind;
    std::string_view spelling;
    PlanKind like; ///< whose tiles it has, where it has none of its own
    std::string_view doc;
};
std::span<const PlanKindRow> plan_kind_rows();
const PlanKindRow& row_of(PlanKind kind);

/// The numbers of a plan are rows of plan_fields.def.
struct Plan {
    Isa isa = Isa::X86_64_V4;
    Nest nest = Nest::Reduce;
    std::int32_t lanes = 16;       ///< rows in a vector
    std::int32_t row_vectors = 4;  ///< R: vectors of rows in a tile
    std::int32_t columns = 1;      ///< J: columns in a tile
    std::int32_t panel = 256;      ///< columns packed at a time
    std::int32_t row_block = 1024; ///< most rows of a task
    /// Vectors of at most so many components live in registers; beyond,
    /// contractions run as a loop over components inside the tile.
    std::int32_t unroll = 8;
    /// So many components of a contraction are summed for all columns of a
    /// panel before the next ones are; 0: all.
    std::int32_t k_block = 0;
    /// The scalars of so many columns are computed and kept before sums of
    /// vectors, or of exponentials, take them.
    std::int32_t column_tile = 64;
    /// Long products of float32 have factors that are cut into so many numbers
    /// of bf16: two for the matrix unit, one for lanes; 0: they are not cut.
    std::int32_t parts = 0;
    /// The weights of a softmax are cut into so many numbers of bf16, where
    /// the matrix unit takes their sums; 3 hold all bits of a weight.
    std::int32_t weight_parts = 3;
    /// Whether lists of the smallest distances only see columns that products
    /// of bf16 let pass.
    std::int32_t filter = 0;
    /// A stage has at least so many cycles when the loop over columns is
    /// software-pipelined; 0: it is not.
    std::int32_t min_stage_cycles = 0;

    friend bool operator==(const Plan&, const Plan&) = default;
};

/// Rows of a state that merge and finalise take at a time.
inline constexpr std::int32_t row_chunk = 64;
/// The rows of a state are a multiple of this: whole tiles, whole chunks.
std::int32_t row_multiple(const Plan& plan);

/// The fields of a plan that say how the matrix unit multiplies float32.
struct Parts {
    std::int32_t factors = 0, weights = 3;
};
Parts parts_of(const Plan& plan);
std::string print(const Plan& plan); ///< one line of key=value
/// The same fields, and those that print() leaves out.
nlohmann::ordered_json document_of(const Plan& plan);
/// Reads print()'s text; throws Error(BadPlan) naming what is wrong.
Plan parse_plan(std::string_view text);

} // namespace tilefold
