// runtime/bind/executable.h - what calls of one signature run: a program and
// its kernel, or several.
#pragma once

#include "compiler/artifact/key.h"
#include "compiler/backends/cpu/plan.h"
#include "compiler/pipeline.h"
#include "runtime/cache/cache.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tilefold {

class ExponentKernels;

/// Another program of a call's arguments, or of some of them, and its kernel
/// on the host, with states like those of the call's.
struct Alternative {
    Program program;
    KernelPointer kernel;
};
using AlternativePointer = std::shared_ptr<const Alternative>;

struct ExecutableSweeps;

/// An argument that is an index of a table: `index`, its place in the call.
struct IndexedTable {
    std::int32_t index = 0;
    std::string table;       ///< its name, or what it is
    std::int64_t length = 0; ///< indices are below it
    std::string of;          ///< what has this length: "row" …
};

/// One kernel does for all sizes; another one is made only for a call that
/// takes longer than making it.
inline constexpr double pairs_worth_a_kernel = 1 << 22;

/// A program and its kernel, for one signature; or the sweeps it takes.
struct Executable {
    /// Set where one kernel does not do: then the rest is empty.
    std::shared_ptr<const ExecutableSweeps> sweeps;
    Program program;
    /// What the host computes it by, where no device does.
    std::optional<Plan> plan;
    Key key; ///< of the host's kernel
    /// The host's, or one for each device that computes.
    KernelPointer kernel;
    std::vector<DeviceKernelPointer> device_kernels;
    const void* const* functions = nullptr; ///< null unless the kernel asks
    /// The host's kernels for exponents that are whole; null where none can be.
    std::shared_ptr<ExponentKernels> exponents;
    /// Parameters, by place in the call, that would be taken for an array on
    /// i or j if they had as many components as that has rows.
    std::vector<std::int32_t> ambiguous_parameters;
    /// Arguments, by place in the call, that are indices of a table.
    std::vector<IndexedTable> indices;
};
using ExecutablePointer = std::shared_ptr<const Executable>;

/// Kernels that run one after the other; see compiler/passes/sweeps.h.
struct ExecutableSweeps {
    std::vector<ExecutablePointer> kernels;
    std::vector<std::vector<SweepPart>> parts; ///< by kernel
    std::vector<ResultPlace> results;
    std::vector<std::string> labels; ///< of the results; see DerivedGraph
    std::vector<Type> types;         ///< of the results
};

} // namespace tilefold
