// compiler/headed_bytes.cpp - code behind a header, as bytes.

#include "compiler/headed_bytes.h"

#include <algorithm>
#include <string>

namespace tilefold {
namespace {

constexpr std::size_t length_bytes = 8;

} // namespace

std::vector<std::byte> with_header(nlohmann::json header,
                                   std::span<const std::byte> code) {
    header["code_size"] = code.size();
    const std::string text = header.dump();
    std::vector<std::byte> bytes;
    bytes.reserve(length_bytes + text.size() + code.size());
    for (std::size_t k = 0; k < length_bytes; ++k)
        bytes.push_back(std::byte(std::uint64_t(text.size()) >> 8 * k));
    const auto* first = reinterpret_cast<const std::byte*>(text.data());
    bytes.insert(bytes.end(), first, first + text.size());
    bytes.insert(bytes.end(), code.begin(), code.end());
    return bytes;
}

std::optional<HeadedBytes> split_header(std::span<const std::byte> bytes) {
    if (bytes.size() < length_bytes)
        return std::nullopt;
    std::uint64_t length = 0;
    for (std::size_t k = 0; k < length_bytes; ++k)
        length |= std::uint64_t(bytes[k]) << 8 * k;
    bytes = bytes.subspan(length_bytes);
    if (length > bytes.size())
        return std::nullopt;
    const auto* text = reinterpret_cast<const char*>(bytes.data());
    HeadedBytes read{nlohmann::json::parse(text, text + length, nullptr, false),
                     bytes.subspan(length)};
    if (!read.header.is_object() ||
        read.header.value("code_size", nlohmann::json()) != read.code.size())
        return std::nullopt;
    return read;
}

} // namespace tilefold
