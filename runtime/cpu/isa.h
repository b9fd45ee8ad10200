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
/// system run well; none on a machine older than least_isa().
std::optional<Isa> host_isa();
/// The poorest of this architecture's: "x86-64-v3" or "aarch64".
Isa least_isa();

/// This processor's model: "GenuineIntel 6/207/8 Intel(R) Xeon(R) Processor",
/// or "AArch64 41/d40/r1p1", of implementer, part and revision.
std::string processor();

} // namespace tilefold::cpu
