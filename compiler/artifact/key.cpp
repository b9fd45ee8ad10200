// compiler/artifact/key.cpp - the key of an image.

#include "compiler/artifact/key.h"

#include "sources_hash.h"

#include <cstring>
#include <llvm/ADT/ArrayRef.h>
#include <llvm/Support/SHA256.h>

namespace tilefold {

namespace {

void append(std::string& text, std::string_view part) {
    text.append(part).push_back('\0');
}

Key hashed(std::string_view text) {
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(text.data());
    const std::array<std::uint8_t, 32> digest =
        llvm::SHA256::hash(llvm::ArrayRef(bytes, text.size()));
    Key key;
    std::memcpy(key.words.data(), digest.data(), digest.size());
    for (std::uint64_t& word : key.words)
        word = __builtin_bswap64(word); // the digest's first byte is the first
    return key;                         // two digits
}

} // namespace

Key key_of(std::string_view graph, std::string_view plan,
           std::initializer_list<std::string_view> made_by) {
    std::string text;
    for (std::string_view part :
         {graph, plan, std::string_view(TILEFOLD_SOURCES_HASH)})
        append(text, part);
    for (std::string_view part : made_by)
        append(text, part);
    return hashed(text);
}

Key key_of(const Key& program, std::string_view processor) {
    std::string text;
    append(text, program.hex());
    append(text, processor);
    return hashed(text);
}

std::string Key::hex() const {
    constexpr std::string_view digits = "0123456789abcdef";
    std::string text;
    for (std::uint64_t word : words)
        for (int shift = 60; shift >= 0; shift -= 4)
            text += digits[word >> shift & 15];
    return text;
}

} // namespace tilefold
