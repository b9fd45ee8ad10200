// compiler/artifact/artifact.h - a compiled kernel: bytes that run, and what a
// caller must know to run them.
#pragma once

#include "compiler/artifact/kernel_abi.h"
#include "compiler/ir/types.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tilefold {

/// Where an entry starts in the image; `absent` if the nest has none.
struct Entries {
    static constexpr std::uint64_t absent = ~std::uint64_t(0);
    std::uint64_t prepare = absent, init = absent, accumulate = absent,
                  merge = absent, fold = absent, finalise = absent,
                  reduce = absent, zip = absent, dense = absent;
};

/// Calls visit(name, offset) for every entry; the name is that of the
/// function.
template <typename Some, typename Visit>
void visit_entries(Some& entries, Visit visit) {
    visit("prepare", entries.prepare);
    visit("init", entries.init);
    visit("accumulate", entries.accumulate);
    visit("merge", entries.merge);
    visit("fold", entries.fold);
    visit("finalise", entries.finalise);
    visit("reduce", entries.reduce);
    visit("zip", entries.zip);
    visit("dense", entries.dense);
}

/// What the caller allocates and how it may cut the work.
struct Layout {
    std::int64_t constants = 0;       ///< doubles behind call->constants
    std::int64_t slots = 0;           ///< 8-byte state slots of a row …
    std::int64_t slots_per_width = 0; ///< … plus this times call->width
    std::int64_t scratch = 0; ///< bytes a thread needs, 64-byte aligned …
    std::int64_t scratch_per_width = 0; ///< … plus this times call->width
    std::int64_t row_multiple = 64;     ///< state stride is a multiple of this
    std::int64_t row_block = 1024;      ///< most rows of one accumulate
    std::int64_t panel = 256; ///< columns are cut at multiples of this
    /// Estimated nanoseconds of one pair on one core, by which calls are cut …
    double nanoseconds = 1;
    double nanoseconds_per_width = 0; ///< … plus this times call->width
    /// Estimated nanoseconds of packing a row, which every call does anew, and
    /// a column, which every block of rows does.
    double row_nanoseconds = 0, column_nanoseconds = 0;
    bool uses_functions = false; ///< call->functions must be filled
    std::int32_t lanes = 16;     ///< of the vector functions
    DType real = DType::F32;     ///< computing dtype
};

/// A flat, position-independent image: only PC-relative references, nothing
/// outside itself. `code` is mapped as it is, read and execute.
struct Artifact {
    Layout layout;
    Entries entries;
    std::vector<std::byte> code;
    std::string compiler; ///< "LLVM 22.1.0"
    double compile_milliseconds = 0;
};

/// Returns one self-describing run of bytes (the header, then the code); the
/// disk cache adds its own magic and checksum around it.
std::vector<std::byte> serialise(const Artifact& artifact);
/// Returns false where the bytes are no artifact.
bool deserialise(const std::byte* bytes, std::size_t size, Artifact& artifact);

} // namespace tilefold
