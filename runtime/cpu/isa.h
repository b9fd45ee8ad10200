// runtime/cpu/isa.h - what this machine runs.
#pragma once

#include "compiler/backends/cpu/plan.h"

#include <optional>
#include <string>
#include <string_view>

namespace tilefold::cpu {

/// The instruction set that is spelled so. Throws Error(UnknownTarget).
Isa isa_named(std::string_view text);

bool runs(Isa isa);
/// The best of plan.h's instruction sets that this machine and its operating
/// system run well; none on a machine older than x86-64-v3.
std::optional<Isa> host_isa();

/// This processor's model: "GenuineIntel 6/207/8 Intel(R) Xeon(R) Processor".
std::string processor();

} // namespace tilefold::cpu
