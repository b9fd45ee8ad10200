// tests/numerics/emulator.h - kernels for another processor, run under
// qemu-user.
#pragma once

#include "tests/numerics/emulated.h"

#include <string>
#include <vector>

namespace tilefold::test {

/// Why runs cannot be emulated here; empty: they can.
std::string emulator_missing();

/// What a run's file holds behind its header.
struct EmulatedBytes {
    std::vector<EmulatedOperand> operands;
    std::string code, literals, arrays;
};

/// Runs the driver, and copies run.out bytes of results to `out`. Throws
/// std::runtime_error where it fails.
void emulate(EmulatedRun run, const EmulatedBytes& bytes, char* out);

} // namespace tilefold::test
