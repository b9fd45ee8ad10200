// runtime/cache/cache_entry.cpp - cache files to and from bytes.

#include "runtime/cache/cache_entry.h"

#include "compiler/artifact/fields.h"
#include "formulas/utf8.h"

#include <bit>
#include <cstring>
#include <xxhash.h>

namespace tilefold {
namespace {

static_assert(std::endian::native == std::endian::little);

constexpr std::string_view magic = "tilefold";
constexpr std::size_t prefix = magic.size() + sizeof(std::uint64_t);
constexpr std::size_t checksum_size = sizeof(XXH128_canonical_t);

XXH128_canonical_t checksum_of(std::span<const std::byte> bytes) {
    XXH128_canonical_t canonical;
    XXH128_canonicalFromHash(&canonical,
                             XXH3_128bits(bytes.data(), bytes.size()));
    return canonical;
}

/// The text with a replacement character for each byte that is none of a
/// character's: the notes are for people.
std::string legible(const std::string& text) {
    std::string whole;
    for (std::string_view rest = text; !rest.empty();) {
        const std::size_t valid = utf8::first_invalid(rest);
        whole += rest.substr(0, valid);
        rest.remove_prefix(valid);
        if (rest.empty())
            break;
        whole += "\ufffd";
        rest.remove_prefix(1);
    }
    return whole;
}

/// Throws FieldError.
std::string text_of(const Fields& header, const char* field) {
    std::string text;
    header.get(field, text);
    return text;
}

/// The header's length, or none where it does not fit the bytes.
std::optional<std::size_t> header_length(std::span<const std::byte> bytes) {
    std::uint64_t length = 0;
    if (bytes.size() < prefix + checksum_size ||
        std::memcmp(bytes.data(), magic.data(), magic.size()) != 0)
        return std::nullopt;
    std::memcpy(&length, bytes.data() + magic.size(), sizeof length);
    if (length > bytes.size() - prefix - checksum_size)
        return std::nullopt;
    return std::size_t(length);
}

} // namespace

std::vector<std::byte> encode_entry(std::string_view key,
                                    const EntryNotes& notes,
                                    std::span<const std::byte> payload,
                                    const std::optional<SigningKey>& signer) {
    Fields header;
    header.set("key", key);
    header.set("compiler", notes.compiler);
    header.set("isa", notes.isa);
    header.set("summary", legible(notes.summary));
    header.set("bytes", payload.size());
    header.set("signed", signer.has_value());
    const std::string text = header.text();
    std::uint64_t length = text.size();
    std::vector<std::byte> bytes;
    bytes.reserve(prefix + text.size() + payload.size() + sizeof(KeyedHash) +
                  checksum_size);
    auto append = [&](const void* from, std::size_t size) {
        auto* begin = static_cast<const std::byte*>(from);
        bytes.insert(bytes.end(), begin, begin + size);
    };
    append(magic.data(), magic.size());
    append(&length, sizeof length);
    append(text.data(), text.size());
    append(payload.data(), payload.size());
    if (signer) {
        const KeyedHash signature = signer->sign(bytes);
        append(signature.data(), signature.size());
    }
    XXH128_canonical_t checksum = checksum_of(bytes);
    append(&checksum, sizeof checksum);
    return bytes;
}

std::optional<DecodedEntry> decode_header(std::span<const std::byte> bytes) {
    std::optional<std::size_t> length = header_length(bytes);
    if (!length)
        return std::nullopt;
    auto* text = reinterpret_cast<const char*>(bytes.data()) + prefix;
    const std::optional<Fields> header = Fields::parse({text, *length});
    if (!header)
        return std::nullopt;
    DecodedEntry entry;
    std::size_t size = 0;
    bool is_signed = false;
    try {
        entry.key = text_of(*header, "key");
        entry.notes = {text_of(*header, "compiler"), text_of(*header, "isa"),
                       text_of(*header, "summary")};
        header->get("bytes", size);
        header->get("signed", is_signed);
    } catch (const FieldError&) {
        return std::nullopt;
    }
    std::size_t begin = prefix + *length;
    const auto rest =
        bytes.subspan(begin, bytes.size() - checksum_size - begin);
    const std::size_t behind = is_signed ? sizeof(KeyedHash) : 0;
    if (rest.size() < behind || size != rest.size() - behind)
        return std::nullopt;
    entry.payload = rest.first(size);
    if (is_signed) {
        entry.signed_bytes = bytes.first(begin + size);
        std::memcpy(&entry.signature.emplace(), rest.data() + size, behind);
    }
    return entry;
}

std::optional<DecodedEntry> decode_entry(std::span<const std::byte> bytes) {
    if (!header_length(bytes))
        return std::nullopt;
    auto body = bytes.first(bytes.size() - checksum_size);
    XXH128_canonical_t checksum = checksum_of(body);
    if (std::memcmp(&checksum, bytes.data() + body.size(), checksum_size) != 0)
        return std::nullopt;
    return decode_header(bytes);
}

} // namespace tilefold
