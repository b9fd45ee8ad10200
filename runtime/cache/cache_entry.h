// runtime/cache/cache_entry.h - the bytes of a cache file:
//
//   8   "tilefold"
//   8   length of the header, little endian
//   …   header: fields key, compiler, isa, summary, bytes, signed
//   …   payload, `bytes` long
//   32  signature of all that precedes, where the header says `signed`
//   16  XXH3-128 of all that precedes
#pragma once

#include "compiler/artifact/signature.h"

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

/// Signed where there is a `signer`.
std::vector<std::byte>
encode_entry(std::string_view key, const EntryNotes& notes,
             std::span<const std::byte> payload,
             const std::optional<SigningKey>& signer = {});

struct DecodedEntry {
    std::string key;
    EntryNotes notes;
    std::span<const std::byte> payload; ///< in the bytes decoded
    std::optional<KeyedHash> signature;
    std::span<const std::byte> signed_bytes;

    bool is_signed_by(const SigningKey& signer) const {
        return signature && signer.accepts(signed_bytes, *signature);
    }
};
/// None where anything at all is wrong; whose signature it has is not asked.
std::optional<DecodedEntry> decode_entry(std::span<const std::byte> bytes);
/// The header's notes of a possibly damaged entry.
std::optional<DecodedEntry> decode_header(std::span<const std::byte> bytes);

} // namespace tilefold
