// compiler/key.h - the name of an image, from everything its bytes follow
// from.
#pragma once

#include "compiler/backends/cpu/plan.h"
#include "compiler/ir/ir.h"

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace tilefold {

/// 128 bits that name an image: canonical IR, dtypes, plan, ISA, versions of
/// LLVM and of compiler/'s sources.
struct Key {
    std::array<std::uint64_t, 2> words{};
    std::string hex() const; ///< 32 digits
    friend bool operator==(const Key&, const Key&) = default;
};

/// Of the canonical, oriented graph. Argument names and the values of
/// literals do not enter.
Key key_of(const ir::Graph& graph, const Plan& plan);
/// Of code that `compiler` makes for a device; `graph` printed like there.
Key key_of(std::string_view graph, std::string_view plan,
           std::string_view architecture, std::string_view compiler);
/// Of what is known about a program on a processor.
Key key_of(const Key& program, std::string_view processor);

} // namespace tilefold
