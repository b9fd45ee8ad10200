// compiler/artifact/container.cpp - code behind a header, as bytes.

#include "compiler/artifact/container.h"

#include <algorithm>
#include <string>

namespace tilefold {
namespace {

constexpr std::size_t length_bytes = 8;

} // namespace

std::vector<std::byte> with_header(Fields header,
                                   std::span<const std::byte> code) {
    header.set("code_size", code.size());
    const std::string text = header.text();
    std::vector<std::byte> bytes;
    bytes.reserve(length_bytes + text.size() + code.size());
    for (std::size_t k = 0; k < length_bytes; ++k)
        bytes.push_back(std::byte(std::uint64_t(text.size()) >> 8 * k));
    const auto* first = reinterpret_cast<const std::byte*>(text.data());
    bytes.insert(bytes.end(), first, first + text.size());
    bytes.insert(bytes.end(), code.begin(), code.end());
    return bytes;
}

std::optional<Container> split_header(std::span<const std::byte> bytes) {
    if (bytes.size() < length_bytes)
        return std::nullopt;
    std::uint64_t length = 0;
    for (std::size_t k = 0; k < length_bytes; ++k)
        length |= std::uint64_t(bytes[k]) << 8 * k;
    bytes = bytes.subspan(length_bytes);
    if (length > bytes.size())
        return std::nullopt;
    const auto* text = reinterpret_cast<const char*>(bytes.data());
    std::optional<Fields> header = Fields::parse({text, std::size_t(length)});
    std::size_t code_size = 0;
    if (!header || !header->has("code_size"))
        return std::nullopt;
    try {
        header->get("code_size", code_size);
    } catch (const FieldError&) {
        return std::nullopt;
    }
    if (code_size != bytes.size() - length)
        return std::nullopt;
    return Container{std::move(*header), bytes.subspan(length)};
}

} // namespace tilefold
