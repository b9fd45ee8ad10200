// compiler/key.cpp - the key of an image.

#include "compiler/key.h"

#include "compiler/ir/text.h"

#include "sources_hash.h"

#include <xxhash.h>

#include <initializer_list>

namespace tilefold {

namespace {

Key key_of(std::initializer_list<std::string> parts) {
    std::string text;
    for (const std::string& part : parts)
        text.append(part).push_back('\0');
    const XXH128_hash_t hash = XXH3_128bits(text.data(), text.size());
    return {{hash.high64, hash.low64}};
}

} // namespace

Key key_of(const ir::Graph& graph, const Plan& plan) {
    return key_of({print(graph, ir::Names::Numbers), print(plan),
                   TILEFOLD_SOURCES_HASH, TILEFOLD_LLVM_VERSION});
}

Key key_of(std::string_view graph, std::string_view plan,
           std::string_view architecture, std::string_view compiler) {
    return key_of({std::string(graph), std::string(plan), TILEFOLD_SOURCES_HASH,
                   std::string(architecture), std::string(compiler)});
}

Key key_of(const Key& program, std::string_view processor) {
    return key_of({program.hex(), std::string(processor)});
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
