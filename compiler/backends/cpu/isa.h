// compiler/backends/cpu/isa.h - instruction sets, and what each has.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace tilefold {

/// An instruction set the LLVM backend emits for; see isa.def.
enum class Isa : std::uint8_t {
#define ISA(name, ...) name,
#include "compiler/backends/cpu/isa.def"
#undef ISA
};
/// The ports that sums and products of registers go through.
enum class Ports : std::uint8_t { Shared, DoublePumped, Separate };
struct IsaRow {
    Isa isa;
    std::string_view spelling;
    std::int32_t vector_bytes, registers;
    bool masks;
    std::int32_t int8; ///< products that an instruction sums up in a lane
    bool bf16, blocks;
    Ports ports;
    const char* triple;
    const char* cpu;
    const char* features;

    /// Whether its vectors have 32 bytes and no masks.
    bool is_avx2() const { return vector_bytes == 32 && !masks; }
};
std::span<const IsaRow> isa_rows(); ///< of a processor the poorest first
const IsaRow& row_of(Isa isa);
std::string_view spelling_of(Isa isa); ///< "x86-64-v4"
bool parse_isa(std::string_view text, Isa& isa);
std::string isa_spellings(); ///< all, for a message: "x86-64-v3, …"

} // namespace tilefold
