// compiler/backends/cpu/contractions.h - how a kernel adds up over the
// components of two vectors; and how vectors of narrow numbers are packed for
// it: as 32-bit words of four 8-bit or two bf16 neighbours.
#pragma once

#include "compiler/backends/cpu/plan.h"
#include "compiler/ir/ir.h"

#include <cstdint>
#include <map>
#include <set>
#include <string_view>

namespace tilefold {

/// Words that an instruction for blocks takes at most.
inline constexpr std::int64_t most_block_depth = 16;

/// A vector argument that is packed as words.
struct Words {
    ir::Op op = ir::Op::Dot; ///< of the contraction that reads it
    DType stored = DType::I8;
    DType other = DType::I8; ///< as the vector is stored that it meets
    std::int64_t components = 0;
    std::int64_t numbers = 0; ///< in a word
    /// Words that an instruction for blocks takes at a time; 0: there is none.
    std::int64_t depth = 0;

    bool exact() const { return stored != DType::BF16; }
    int bits() const { return int(32 / numbers); } ///< of a number
    std::int64_t words() const {                   // of numbers
        return (components + numbers - 1) / numbers;
    }
    std::int64_t steps() const { return (words() + depth - 1) / depth; }
    /// With zeros, where blocks want them.
    std::int64_t padded() const { return depth ? steps() * depth : words(); }
    /// Behind the numbers, what has one index.
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

/// What is decided of a graph's contractions by a plan.
struct Contractions {
    /// Of each contraction over components, on whatever axes.
    std::map<ir::ValueId, Contraction> ways;
    /// The arguments that nothing reads but one contraction by Words or
    /// WordTiles.
    std::map<ir::ValueId, Words> words;
    /// Softmaxes, Reduce nodes, whose weighted sums are products of bf16
    /// matrices, by the matrix unit or in lanes: of bf16 values of columns that
    /// nothing else reads.
    std::set<ir::ValueId> weighed_by_tiles;
    /// Words that the matrix unit takes at a time in all products of the
    /// kernel; 0: there are none.
    std::int64_t depth = 0;

    bool is(ir::ValueId id, Contraction way) const {
        const auto found = ways.find(id);
        return found != ways.end() && found->second == way;
    }
    /// The first that is computed so; no_value where there is none.
    ir::ValueId first(Contraction way) const;
    bool has(Contraction way) const { return first(way) != ir::no_value; }
    /// Whether the matrix unit adds it up.
    bool is_tiled(ir::ValueId id) const {
        return is(id, Contraction::WordTiles) ||
               is(id, Contraction::SplitTiles);
    }
    /// Of a vector that is packed as words, else null.
    const Words* words_of(ir::ValueId id) const {
        const auto found = words.find(id);
        return found == words.end() ? nullptr : &found->second;
    }
};

/// Of an oriented graph.
Contractions choose_contractions(const ir::Graph& graph, const Plan& plan);

/// Whether a vector is made of others of its length, component by component,
/// and of constants: then lanes may run over components. Arguments are.
bool is_by_component(const ir::Graph& graph, ir::ValueId id,
                     std::int32_t unroll);

} // namespace tilefold
