// runtime/core/options.h - settings of a Session.
#pragma once

#include "compiler/plan.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tilefold {

/// Settings of a Session; unset ones come from the environment, else from
/// the defaults in parentheses. A path may begin with ~, the home folder.
struct Options {
    /// TILEFOLD_NUM_THREADS (smaller of affinity and cgroup quota).
    std::optional<int> threads;
    /// TILEFOLD_CACHE_DIR (XDG cache directory /tilefold); empty: memory only.
    std::optional<std::string> cache_directory;
    /// TILEFOLD_CACHE_SIZE in bytes (1 GiB); least recently used files go.
    std::optional<std::int64_t> cache_size;
    /// TILEFOLD_ISA (the best this CPU has).
    std::optional<Isa> isa;
    /// TILEFOLD_LOG: 1 writes a line for each compile to standard error.
    std::optional<bool> log;
    /// Forces a plan; see `tilefold explain`.
    std::optional<Plan> plan;
    /// TILEFOLD_TUNE (no): of the plans the cost model likes best, times each
    /// once (0.1 s or so) and keeps the fastest in the cache. Results of
    /// another plan may differ in the last bits. Without effect on calls of
    /// fewer than a million pairs, and beside `plan`.
    std::optional<bool> tune = {};
    /// TILEFOLD_CUDA_DRIVER ("libcuda.so.1"): NVIDIA's driver, a name or path.
    std::optional<std::string> cuda_driver = {};
    /// TILEFOLD_NVRTC: the compiler for NVIDIA's GPUs, a path; else it is
    /// looked for where runtime/cuda/nvrtc.h says.
    std::optional<std::string> nvrtc = {};
    /// TILEFOLD_TOLERANCE (0): the error that products of float32 vectors may
    /// have, so that AMX and a GPU's tensor cores multiply long ones: of an
    /// inner product relative to |x| |y|, of a squared distance relative to
    /// |x|² + |y|² of centred points, of a sum of vectors relative to its
    /// terms. A typical error; the worst is four times as large. 0: float32's
    /// own. Squared distances from 2e-7 on may be expanded, and factors have
    /// 16 bits from 3.2e-6 on; on a GPU 22 bits from 1e-7 on. Weights of a
    /// softmax of bf16 values keep 16 bits then, and 8 from 4e-3 on.
    std::optional<double> tolerance = {};
    /// TILEFOLD_DEVICES (empty: the CPU): where calls whose arrays are the
    /// host's are computed: "cuda:0", several with commas between, "cuda" for
    /// all that there are. Arrays go there in pieces, results come back.
    std::optional<std::string> devices = {};
    /// TILEFOLD_DEVICE_BYTES (256 MiB): of each device's memory that such a
    /// call may use. Where columns do not fit, they are sent for each piece of
    /// rows, and results may differ in the last bits.
    std::optional<std::int64_t> device_bytes = {};
    /// Folders of Python packages, one of which may hold NVRTC.
    std::vector<std::string> package_folders = {};

    friend bool operator==(const Options&, const Options&) = default;
};

} // namespace tilefold
