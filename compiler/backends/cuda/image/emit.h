// compiler/backends/cuda/image/emit.h - the door of this backend: a lowered
// kernel to CUDA C++. It runs nothing and needs no CUDA.
#pragma once

#include "compiler/backends/cuda/lower/lowered_kernel.h"
#include "compiler/ir/ir.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tilefold::cuda {

/// What a compiler is given at a time.
struct SourceProgram {
    std::string text;
    /// The program is nearly what shall run as it is written, so that the
    /// passes that take long gain nothing.
    bool is_plain = true;
};

/// CUDA C++ without an #include, in parts.
struct Source {
    std::string functions; ///< of the language: mathematics, integers
    std::string frame;     ///< the call, and how memory is read
    std::string formula;   ///< what this graph alone brings along
    std::string tasks;     ///< how work is cut into tasks
    std::string loops;     ///< the kernels over pairs
    std::string ends;      ///< those before and after
    bool plain_loops = true;

    std::string text() const { return common() + loops + ends; }
    /// Returns the source as one or two programs, which compile beside each
    /// other.
    std::vector<SourceProgram> programs() const;
    /// Returns which of so many programs has a kernel: the first one those over
    /// pairs, the last one those before and after.
    static std::size_t program_of(std::string_view kernel,
                                  std::size_t programs);
    /// Whether a launch of a kernel gives it the shared memory of the plan.
    static bool takes_shared(std::string_view kernel) {
        return kernel == "accumulate" || kernel == "dense";
    }

private:
    std::string common() const { return functions + frame + formula + tasks; }
};

/// What the caller must know to launch the kernels.
struct Shape {
    bool reduces = true; ///< accumulate, merge_states, finish; or zip, dense
    bool folds_rows = false;
    bool folds_blocks = false;     ///< to a state for each block
    bool is_open = false;          ///< a width is cut into parts
    std::int64_t constants = 0;    ///< doubles of call.constants
    std::int64_t slots = 0;        ///< 8-byte slots of a state
    std::int64_t shared_bytes = 0; ///< see Source::takes_shared
    std::int32_t operands = 0;

    /// Returns how many offsets of a batch call.offsets has; a kernel has one
    /// operand at least.
    std::int64_t offsets() const {
        return std::max<std::int64_t>(operands, 1) + 1;
    }
};

struct Emitted {
    Source source;
    Shape shape;
};

/// Emits a lowered kernel. Throws Error(CudaCannot) for what this backend has
/// no code for; see its README.
Emitted emit(const LoweredKernel& kernel);
/// Emits an oriented, canonical graph, lowered by the plan.
Emitted emit(const ir::Graph& graph, const Plan& plan);

/// Returns every Source::functions there is.
std::string all_functions();

} // namespace tilefold::cuda
