// compiler/backends/cpu/cpu_program.h - what a processor makes of a program:
// its loops, and the name of the code that computes them.
#pragma once

#include "compiler/artifact/key.h"
#include "compiler/backends/cpu/plan.h"
#include "compiler/passes/program.h"

#include <optional>
#include <string>

namespace tilefold {

/// What a program is planned for.
struct CpuOptions {
    Isa isa = Isa::X86_64_V4;
    std::optional<Plan> plan = {}; ///< forced instead of the model's choice
    /// The error that products of float32 vectors may have; see Options.
    double tolerance = 0;
};

/// A program as a processor computes it. Its graph is the program's own, or
/// one that has the same results within the tolerance.
struct CpuProgram : Program {
    Plan plan;
    Key key;
};

/// Plans a program by the plan that the cost model likes best, or by the
/// forced one. Throws Error(BadPlan) where that one does not fit the graph.
CpuProgram plan_for_cpu(Program program, const CpuOptions& options);
/// Returns the same program with another plan of its nest.
CpuProgram with_plan(const CpuProgram& program, const Plan& plan);

/// What a backend in another library is given; see backends/llvm/factory.h.
/// The texts are made by ir::print and print(Plan).
struct CompileRequest {
    std::string graph;
    std::string plan;
};
CompileRequest request_of(const CpuProgram& program);

} // namespace tilefold
