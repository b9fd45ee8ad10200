// tests/compiler/support.h - what the tests of compiler/ share: formulas with
// typed arguments in one line, golden files, the message of an error.
#pragma once

#include "compiler/backends/cpu/cpu_program.h"
#include "compiler/build/build.h"
#include "compiler/passes/sweeps.h"
#include "compiler/pipeline.h"

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace tilefold::tests {

/// "x f32[3], b f32, A f64[2,3], u f32[3] on i": names, dtypes, shapes of one
/// point's value, and declared roles ("on i", "on j", "as parameter").
std::vector<ArgumentType> arguments(std::string_view text);

/// Parses and builds.
ir::Graph graph_of(std::string_view formula, std::string_view arguments);

Program program_of(std::string_view formula, std::string_view arguments,
                   Mode mode = Mode::Reduce);
/// Planned for x86-64-v4 where nothing else is said.
CpuProgram cpu_program_of(std::string_view formula, std::string_view arguments,
                          Mode mode = Mode::Reduce,
                          const CpuOptions& options = {});

/// Canonical graphs of the sweeps, and what each leaves behind.
std::string print(const std::vector<SweepProgram>& sweeps);

/// The whole message of the Error that `run` throws; "no error" without one.
std::string message_of(const std::function<void()>& run);

/// That of a formula which is refused.
std::string refusal(std::string_view formula, std::string_view arguments = "");

/// Two arrays of three components, in single precision.
inline constexpr std::string_view xy = "x f32[3], y f32[3]";

/// Compares with tests/compiler/golden/`name`. A missing file fails;
/// TILEFOLD_UPDATE_GOLDEN=1 writes it.
void expect_golden(const std::string& name, const std::string& text);

} // namespace tilefold::tests
