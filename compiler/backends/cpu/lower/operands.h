// compiler/backends/cpu/lower/operands.h - how the values of one axis lie in
// scratch while pairs read them.
#pragma once

#include "compiler/backends/cpu/contractions.h"
#include "compiler/backends/cpu/lower/arena.h"
#include "compiler/backends/cpu/lower/fission.h"
#include "compiler/passes/placement.h"

#include <map>

namespace tilefold {

/// How the long vectors of an axis lie:
///   component by component, each a row of all points, so that lanes are
///     contiguous;
///   tile by tile, and in it component by component: a loop over components
///     reads one run of memory, where rows of all points would be a page apart;
///   point by point: the same for what is broadcast, one point in all lanes.
enum class OperandOrder : std::uint8_t { Components, Tiles, Points };
std::string_view spelling_of(OperandOrder order);

/// Where a value's points and components lie; strides in bytes.
struct Operand {
    OperandOrder order = OperandOrder::Components;
    DType dtype = DType::F32; ///< as it is packed
    WidthOffset place;        ///< of the first component of the first point
    std::int64_t component = 0;
    /// Bytes from tile to tile, or from point to point; 0: the call's width
    /// says.
    std::int64_t run = 0;
};

/// The values of one axis that are packed.
struct Operands {
    Axes axis = Axes::I;
    Packed values = {};
    OperandOrder order = OperandOrder::Components; ///< of long vectors
    std::int64_t capacity = 0;                     ///< points, a multiple of 64
    std::int64_t tile = 1; ///< its points, where the order is Tiles
    std::int64_t lanes = 1;
    std::map<ir::ValueId, Operand> of = {};
    /// The loops of what is computed: over points, where all are scalars and
    /// their functions many, and over components of contractions.
    LoopChain scalars = {};
    LoopChains chains = {};

    bool has(ir::ValueId id) const { return of.count(id) != 0; }
    /// Whether no vector lies tile by tile or point by point.
    bool is_by_components() const;
    /// The bytes of a point whose components lie in a run are a multiple of
    /// this power of two, so that a point begins a cache line and its last
    /// vector is whole.
    std::int64_t run_multiple(std::int64_t element_bytes) const;
};

/// Returns the dtype a value is packed in. That is the dtype of its type, but
/// F32 for words, and the computing dtype for small whole numbers that only
/// comparisons and sums in F32 read: it holds them exactly.
DType packed_dtype(const ir::Graph& graph, const Contractions& contractions,
                   ir::ValueId id);

/// Returns the dtype in which prepare leaves a value of call->constants.
/// Vectors that pairs read rounded are rounded there, once: a loop over
/// components broadcasts them then by what loads them.
DType constant_dtype(const ir::Graph& graph, const Placement& placement,
                     ir::ValueId id);

/// Returns the values of an axis with the layers of points below them, which
/// are computed before what reads them.
Packed with_layers(const ir::Graph& graph, const Contractions& contractions,
                   Packed packed, Axes axis);

/// Returns the values of the rows with what is compared in the place of truths,
/// which take longer to be stored as bytes and read than to be found again.
Packed without_truths(const ir::Graph& graph, Packed packed);

/// Takes room for the values of `operands`, whose `of` is filled.
void place_operands(const ir::Graph& graph, const Plan& plan,
                    const Contractions& contractions, Operands& operands,
                    Arena& arena);

} // namespace tilefold
