// compiler/backends/cpu/lower/explain.h - what a program becomes on a
// processor, as text.
#pragma once

#include "compiler/backends/cpu/cpu_program.h"
#include "compiler/ir/explain_section.h"

#include <vector>

namespace tilefold {

/// The plan with its cost and the others that were thought of, and the lowered
/// kernel.
std::vector<ExplainSection> explain_plan(const CpuProgram& program);

} // namespace tilefold
