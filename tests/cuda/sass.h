// tests/cuda/sass.h - the machine instructions of a kernel's innermost loop.
#pragma once

#include "compiler/backends/cuda/image/image.h"

#include <map>
#include <string>
#include <vector>

namespace tilefold::tests {

/// What instructions take of a multiprocessor.
struct Slots {
    int issued = 0;  ///< all of them
    int special = 0; ///< of these, by the special function unit
    int wide = 0;    ///< of these, by the unit for double
};

/// Folders that hold `nvidia/`: of the Python environment of scripts/setup
/// --tests.
std::vector<std::string> package_folders();

struct Loop {
    std::map<std::string, int> counts; ///< by opcode, "FFMA", "MUFU.EX2"
    int size = 0;

    /// Instructions whose opcode begins so.
    int count(const std::string& opcode) const;
};

/// Counts a kernel's instructions whose opcode begins so.
int instruction_count(const cuda::Image& image, const std::string& kernel,
                      const std::string& opcode = "");

/// All loops of a kernel, by their ends; of those that hold others, with all
/// that these have.
std::vector<Loop> loops(const cuda::Image& image, const std::string& kernel);

/// Returns the loop of `kernel` that has the opcode and fewest instructions;
/// throws std::runtime_error where there is none.
Loop smallest_loop(const cuda::Image& image, const std::string& kernel,
                   const std::string& opcode);

/// Returns the loop of `kernel` that holds no other and has most instructions
/// of the opcode, by nvdisasm; throws std::runtime_error where there is none.
Loop innermost_loop(const cuda::Image& image, const std::string& kernel,
                    const std::string& opcode);

/// The shortest and the longest way once around a loop.
struct Turn {
    Slots shortest, longest;
};
/// Returns the ways around the smallest loop of `kernel` that has the opcode at
/// least so often: not through loops within, nor through what the compiler
/// calls a slow path; functions are entered. Throws std::runtime_error where
/// there is no such loop, or no such way around it.
Turn turn_of(const cuda::Image& image, const std::string& kernel,
             const std::string& opcode, int least);

} // namespace tilefold::tests
