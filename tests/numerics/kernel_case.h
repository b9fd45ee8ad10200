// tests/numerics/kernel_case.h - a formula with data of given sizes, run
// through a kernel image entry by entry and through the interpreter.
#pragma once

#include "compiler/backends/cpu/choose_plan.h"
#include "compiler/backends/cpu/cpu_program.h"
#include "compiler/pipeline.h"
#include "tests/numerics/guarded.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace tilefold::test {

/// One argument's array; values are kept as doubles and stored as `dtype`.
struct TestArgument {
    std::string name;
    Axes axes = Axes::None;
    DType dtype = DType::F64;
    std::uint8_t rank = 0;
    std::int32_t rows = 1, columns = 1;
};

struct TestFormula {
    std::string text;
    std::vector<TestArgument> arguments;
    Mode mode = Mode::Reduce;
    /// Largest error allowed, relative to the largest result.
    double tolerance = 1e-12;
};

/// How the columns are cut: segments merged at the end, calls within one.
struct Cut {
    std::int64_t segments = 1;
    std::int64_t panels_a_call = 1;
};

/// Compiles with `plan` (or the model's choice), runs on N and M points with
/// all memory flush against forbidden pages, and returns the largest error
/// against the interpreter relative to the largest result.
double run_case(const TestFormula& formula, Isa isa, const Plan* plan,
                std::int64_t n, std::int64_t m, Flush flush, Cut cut = {},
                unsigned seed = 1);

/// Compiles with the model's plan, for any processor; the bytes of the image.
std::size_t image_bytes(const TestFormula& formula, Isa isa);

/// The bytes of the results, where scratch and states held `poison` before.
std::string run_bytes(const TestFormula& formula, Isa isa, const Plan* plan,
                      std::int64_t n, std::int64_t m, unsigned char poison,
                      Cut cut = {});

/// A map over points (Mode::Values, one scalar argument) at these values.
template <class T>
std::vector<T> run_map(const TestFormula& formula, Isa isa,
                       const std::vector<T>& values);

/// The plans enumerate_plans offers for the formula, and two for rows of at
/// most a panel of columns, where it has such.
std::vector<Plan> plans_of(const TestFormula& formula, Isa isa);

/// Whether this processor runs `isa`.
bool can_run(Isa isa);

} // namespace tilefold::test
