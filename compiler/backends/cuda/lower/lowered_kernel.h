// compiler/backends/cuda/lower/lowered_kernel.h - a graph and a plan as the
// emitter walks them: where each value lives, how contractions are multiplied,
// what reductions keep, which loops there are and what they bring.
//
// Everything that is decided about a kernel's code and is not a number of the
// plan is decided here, once, and printed by `explain`. It is plain data, and
// needs neither CUDA nor NVRTC.
#pragma once

#include "compiler/backends/cuda/plan/plan.h"
#include "compiler/backends/cuda/sites/registers.h"
#include "compiler/passes/split.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tilefold::cuda {

/// Which loop meets the pairs; see loops.def.
enum class Loop : std::uint8_t {
#define LOOP(name, ...) name,
#include "compiler/backends/cuda/lower/loops.def"
#undef LOOP
};
std::string_view spelling_of(Loop loop);
std::string_view doc_of(Loop loop);

/// Where the arguments lie that vectors on an axis are made of, at one point:
/// found once a tile, and read component by component.
struct LoweredAddress {
    Axes axis = Axes::I;
    std::vector<ir::ValueId> vectors;
};

/// How the components of a vector come to the lanes of a warp.
enum class Fetch : std::uint8_t {
    Computed, ///< one by one
    Four,     ///< four at a time, as they lie, where the width has so many
    Copied,   ///< the same; but loops copy whole vectors by `cp.async`
};
std::string_view spelling_of(Fetch fetch);

/// A vector that the loops over tiles bring, component by component.
struct FetchedVector {
    ir::ValueId id = ir::no_value;
    Axes axis = Axes::I;
    std::string_view name; ///< "left", "right", "value"
    Fetch fetch = Fetch::Computed;
};

/// The product of a tile of pairs.
struct LoweredProduct {
    std::int64_t components = 0;
    std::int64_t depth = 0; ///< with zeros, whole chunks
    bool squares = false;   ///< sums of squared differences
    bool expands = false;   ///< |x|² + |y|² - 2 x·y
    bool clamps = false;    ///< results below 0 are 0
    std::int64_t terms = 1; ///< products of parts of factors
    bool is_f16 = false;
};

/// How many words of 4 bytes lie in shared memory for a row's factors, and for
/// a chunk of a column's.
struct FragmentWords {
    std::int64_t left = 0, right = 0;
};

/// Functions that a text begins with, beside those of every kernel.
struct Libraries {
    bool warps = false;   ///< shuffles and products of a warp
    bool random = false;  ///< rand, randn
    bool special = false; ///< Bessel functions, polygamma
};

struct LoweredKernel {
    Plan plan;
    Registers registers;
    std::int32_t open = -1;    ///< the argument of open width, or -1
    std::int32_t operands = 0; ///< arguments
    Loop loop = Loop::Rows;
    std::vector<Site> sites; ///< by value: where it is computed
    /// How each sum over components is multiplied.
    std::map<ir::ValueId, Multiply> ways;

    // These belong to loops over tiles of pairs.
    std::optional<LoweredProduct> product;
    FragmentWords fragments;
    std::vector<LoweredAddress> addresses; ///< that of columns first
    std::vector<FetchedVector> fetched;

    // These belong to reductions.
    bool folds_rows = false;   ///< rows are merged to one
    bool folds_blocks = false; ///< and those of a block before
    bool chooses = false;      ///< pairs are chosen by ranges
    std::int64_t slots = 0;    ///< of 8 bytes, of the state of a row
    /// `finish` loads so many states at a time.
    std::int64_t states_ahead = 1;
    /// What the epilogue reads of a row: arguments alone.
    std::vector<ir::ValueId> epilogue;

    std::int32_t column_alignment = 16; ///< bytes, of a Column
    Libraries libraries;

    bool reduces() const { return loop != Loop::Values; }
    bool has_tiles() const { return loop == Loop::Pairs || loop == Loop::Wide; }
};

/// Lowers an oriented, canonical graph by a plan of it.
LoweredKernel lower(const ir::Graph& graph, const Plan& plan);

/// Prints what `explain` shows.
std::string print(const LoweredKernel& kernel);

} // namespace tilefold::cuda
