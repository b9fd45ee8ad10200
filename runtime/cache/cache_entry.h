// runtime/cache/cache_entry.h - the bytes of a cache file:
//
//   8   "tilefold"
//   8   length of the header, little endian
//   …   header: fields key, compiler, isa, summary, bytes
//   …   payload, `bytes` long
//   16  XXH3-128 of all that precedes
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tilefold {

/// What an entry says of itself beside the key.
struct EntryNotes {
    std::string compiler; ///< "LLVM 22.1.0"
    std::string isa;
    std::string summary; ///< first line of the graph
};

std::vector<std::byte> encode_entry(std::string_view key,
                                    const EntryNotes& notes,
                                    std::span<const std::byte> payload);

struct DecodedEntry {
    std::string key;
    EntryNotes notes;
    std::span<const std::byte> payload; ///< in the bytes decoded
};
/// None where anything at all is wrong.
std::optional<DecodedEntry> decode_entry(std::span<const std::byte> bytes);
/// The header's notes of a possibly damaged entry.
std::optional<DecodedEntry> decode_header(std::span<const std::byte> bytes);

} // namespace tilefold
