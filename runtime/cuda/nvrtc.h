// runtime/cuda/nvrtc.h - CUDA C++ to machine code by NVRTC, a library of
// NVIDIA's that needs no GPU. It is looked for when something is compiled:
//
//   1. one that the process has loaded already (PyTorch's, CuPy's);
//   2. the wheel nvidia-cuda-nvrtc in the folders for packages;
//   3. folders of the environment: conda's, CUDA_HOME's;
//   4. where the system's linker looks.
#pragma once

#include "compiler/backends/cuda/image/image.h"

#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace tilefold::cuda {

/// The files and folders in which NVRTC may be.
struct NvrtcPaths {
    std::vector<std::string> packages; ///< folders that hold `nvidia/`
    std::vector<std::string> folders;  ///< folders that hold libraries
    bool system = true;                ///< loaded already, or the linker's
    std::string file = {};             ///< this one, wherever others are
};

/// Thread-safe.
class Nvrtc {
public:
    explicit Nvrtc(NvrtcPaths paths);
    ~Nvrtc();
    Nvrtc(const Nvrtc&) = delete;
    Nvrtc& operator=(const Nvrtc&) = delete;

    /// Compiles for a card of compute capability `major`.`minor`: a cubin where
    /// NVRTC knows the card, else PTX of the newest that it knows. Throws
    /// Error(NvrtcMissing), Error(NvrtcTooOld), or InternalError with NVRTC's
    /// messages.
    Image compile(const Emitted& emitted, const Plan& plan, int major,
                  int minor);
    /// Emits and compiles; a plan that spills registers is followed by one
    /// with half the rows a thread.
    Image compile(const ir::Graph& graph, Plan plan, int major, int minor);
    std::string version(); ///< "NVRTC 13.0"
    int major();           ///< 13

private:
    struct Library;
    const Library& library();

    NvrtcPaths paths_;
    std::mutex mutex_;
    std::unique_ptr<Library> library_;
};

} // namespace tilefold::cuda
