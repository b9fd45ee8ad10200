// compiler/artifact/key.h - the name of an image, from everything its bytes
// follow from.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

namespace tilefold {

/// The SHA-256 of what an image follows from: canonical IR, dtypes, plan,
/// target, versions of the compiler behind the backend and of compiler/'s
/// sources. Who writes a formula cannot give it the key of another one.
struct Key {
    std::array<std::uint64_t, 4> words{};
    std::string hex() const; ///< 64 digits
    friend bool operator==(const Key&, const Key&) = default;
};

/// Returns the key of code for the canonical, oriented graph, printed without
/// names, by a plan. `made_by` is what else the bytes follow from, such as an
/// architecture and the version of a compiler.
Key key_of(std::string_view graph, std::string_view plan,
           std::initializer_list<std::string_view> made_by);
/// Returns the key of what is known about a program on a processor.
Key key_of(const Key& program, std::string_view processor);

} // namespace tilefold
