// compiler/backends/cpu/narrow.h - which contractions are of narrow numbers,
// and how their vectors are packed: as 32-bit words of four 8-bit or two bf16
// neighbours.
#pragma once

#include "compiler/backends/cpu/plan.h"
#include "compiler/ir/ir.h"

#include <map>

namespace tilefold {

/// Words that an instruction for blocks takes at most.
inline constexpr std::int64_t most_block_depth = 16;

/// A vector argument that is packed as words.
struct Words {
    ir::Op op = ir::Op::Dot; ///< of the contraction that reads it
    DType stored = DType::I8;
    DType other = DType::I8; ///< as the vector is stored that it meets
    std::int64_t components = 0;
    /// Words that an instruction for blocks takes at a time; 0: there is none.
    std::int64_t depth = 0;

    bool exact() const { return stored != DType::BF16; }
    std::int64_t numbers() const { return exact() ? 4 : 2; } ///< in a word
    std::int64_t words() const {                             // of numbers
        return (components + numbers() - 1) / numbers();
    }
    std::int64_t steps() const { return (words() + depth - 1) / depth; }
    /// With zeros, where blocks want them.
    std::int64_t padded() const { return depth ? steps() * depth : words(); }
    /// Behind the numbers, what has one index.
    std::int64_t packed() const { return padded() + exact(); }
};

/// The arguments that nothing reads but one contraction of rows and columns of
/// such numbers, where the instruction set has one for them.
std::map<ir::ValueId, Words> find_words(const ir::Graph& graph,
                                        const Plan& plan);

/// Whether the weighted sums of a softmax, a Reduce node, are products of bf16
/// matrices, by blocks or in lanes: of bf16 values of columns that nothing else
/// reads.
bool weighs_by_blocks(const ir::Graph& graph, ir::ValueId reduce,
                      const Plan& plan);
/// … those of any.
bool weighs_by_blocks(const ir::Graph& graph, const Plan& plan);

/// Whether a vector is made of others of its length, component by component,
/// and of constants: then lanes may run over components. Arguments are.
bool is_by_component(const ir::Graph& graph, ir::ValueId id,
                     std::int32_t unroll);
/// Whether blocks take an inner product of rows and columns of float32, whose
/// factors are cut into the plan's parts.
bool multiplies_by_parts(const ir::Graph& graph, ir::ValueId id,
                         const Plan& plan);

/// The squared distance of float32 vectors of which a list of the smallest is
/// kept, where the plan has products of bf16 say which may be small; no_value
/// where there is none.
ir::ValueId sieved_distance(const ir::Graph& graph, const Plan& plan);

} // namespace tilefold
