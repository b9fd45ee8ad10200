// compiler/backends/cpu/contractions.h - how a kernel adds up over the
// components of two vectors; and how vectors of narrow numbers, or of float32
// that are rounded to such, are packed for it: as 32-bit words of four 8-bit or
// two bf16 neighbours.
#pragma once

#include "compiler/backends/cpu/plan.h"
#include "compiler/ir/ir.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <string_view>

namespace tilefold {

/// An instruction for blocks takes at most so many words.
inline constexpr std::int64_t most_block_depth = 16;

/// A vector argument that is packed as words.
struct Words {
    ir::Op op = ir::Op::Dot;  ///< of the contraction that reads it
    DType stored = DType::I8; ///< F32 is rounded to BF16
    DType other = DType::I8;  ///< as the vector is stored that it meets
    std::int64_t components = 0;
    std::int64_t numbers = 0; ///< in a word
    /// An instruction for blocks takes so many words at a time; 0: there is
    /// none.
    std::int64_t depth = 0;

    bool exact() const { return size_of(stored) == 1; }
    int bits() const { return int(32 / numbers); } ///< of a number
    std::int64_t words() const {                   // of numbers
        return (components + numbers - 1) / numbers;
    }
    std::int64_t steps() const { return (words() + depth - 1) / depth; }
    /// Returns the number of words with the zeros that blocks want.
    std::int64_t padded() const { return depth ? steps() * depth : words(); }
    /// Returns the number of words with what depends on one index only, which
    /// lies behind the numbers.
    std::int64_t packed() const { return padded() + exact(); }
};

/// How a contraction is computed; see contractions.def.
enum class Contraction : std::uint8_t {
#define CONTRACTION(name, ...) name,
#include "compiler/backends/cpu/contractions.def"
#undef CONTRACTION
};
std::string_view spelling_of(Contraction contraction);
std::string_view doc_of(Contraction contraction);

/// What a plan decides about a graph's contractions.
struct Contractions {
    /// How each contraction over components is computed, on whatever axes.
    std::map<ir::ValueId, Contraction> ways;
    /// The arguments that nothing reads but one contraction by Words or
    /// WordTiles.
    std::map<ir::ValueId, Words> words;
    /// Reduce nodes of softmaxes whose weighted sums are products of bf16
    /// matrices, by the matrix unit or in lanes. They sum bf16 values of
    /// columns that nothing else reads.
    std::set<ir::ValueId> weighed_by_tiles;
    /// Vectors that matrices are multiplied by, and that come of it, but for
    /// arguments. They are computed in loops of their own and kept: of pairs
    /// for all of a tile, of points where operands are packed.
    std::set<ir::ValueId> layers;
    /// All products of squares in the kernel take so many words at a time; 0:
    /// there are none.
    std::int64_t depth = 0;
    /// They are the matrix unit's.
    bool uses_matrix_unit = false;

    bool is(ir::ValueId id, Contraction way) const {
        const auto found = ways.find(id);
        return found != ways.end() && found->second == way;
    }
    /// Returns the first contraction that is computed so, or no_value.
    ir::ValueId first(Contraction way) const;
    bool has(Contraction way) const { return first(way) != ir::no_value; }
    /// Returns the distance that is computed where a lower bound lets it pass,
    /// or no_value.
    ir::ValueId filtered() const {
        const ir::ValueId of_bf16 = first(Contraction::FilteredByWords);
        return of_bf16 != ir::no_value ? of_bf16 : first(Contraction::Filtered);
    }
    /// Whether the matrix unit adds the contraction up.
    bool is_tiled(ir::ValueId id) const {
        return is(id, Contraction::WordTiles) ||
               is(id, Contraction::SplitTiles);
    }
    /// Whether products have columns of pairs for one of their sides. (Those of
    /// layers have the units.)
    bool takes_squares_of_columns() const {
        return depth > 0 &&
               (!weighed_by_tiles.empty() ||
                std::ranges::any_of(ways, [&](const auto& entry) {
                    return is_tiled(entry.first) ||
                           entry.second == Contraction::FilteredByWords;
                }));
    }
    /// Whether words are made of vectors of this dtype.
    bool rounds(DType stored) const {
        return std::ranges::any_of(words, [&](const auto& entry) {
            return entry.second.stored == stored;
        });
    }
    /// Returns the words of a vector that is packed as words, else null.
    const Words* words_of(ir::ValueId id) const {
        const auto found = words.find(id);
        return found == words.end() ? nullptr : &found->second;
    }
};

/// Chooses how the contractions of an oriented graph are computed.
Contractions choose_contractions(const ir::Graph& graph, const Plan& plan);

/// Whether a vector is made of others of its length, component by component,
/// and of constants, so that lanes may run over components. Arguments are such
/// vectors.
bool is_by_component(const ir::Graph& graph, ir::ValueId id,
                     std::int32_t unroll);

} // namespace tilefold
