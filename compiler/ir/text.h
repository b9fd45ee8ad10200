// compiler/ir/text.h - graphs as text, and back.
#pragma once

#include "compiler/ir/ir.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace tilefold::ir {

/// A value as the text of its graph calls it: "%7".
std::string reference(ValueId id);
/// How arguments are printed. `Numbers` leaves out what does not change the
/// code (argument names); the key hashes that text.
enum class Names : std::uint8_t { Spelled, Numbers };
std::string print(const Graph& graph, Names names = Names::Spelled);
/// Reads print()'s text; throws InternalError on malformed text.
Graph parse_ir(std::string_view text);

} // namespace tilefold::ir
