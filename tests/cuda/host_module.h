// tests/cuda/host_module.h - emitted kernels, compiled for the host and
// loaded: many in one library, since a compiler takes its time to start.
#pragma once

#include "compiler/backends/cuda/image/call.h"
#include "compiler/backends/cuda/image/emit.h"

#include <array>
#include <memory>
#include <string>
#include <vector>

namespace tilefold::tests {

/// One emitted source among those of a module.
struct HostKernels {
    cuda::Emitted emitted;
    cuda::Plan plan;
};

/// The blocks of a grid: x, y, z.
using Blocks = std::array<unsigned, 3>;

class HostModule {
public:
    /// Compiles with the host's C++ compiler; throws std::runtime_error with
    /// its messages.
    explicit HostModule(const std::vector<HostKernels>& sources);
    ~HostModule();
    HostModule(const HostModule&) = delete;
    HostModule& operator=(const HostModule&) = delete;

    /// Runs a kernel of source `number`. `order`: of the threads; 0 forwards,
    /// 1 backwards, else shuffled. False where threads part at a barrier.
    bool run(std::size_t number, const std::string& kernel,
             const cuda::Call& call, const Blocks& blocks, int order) const;

    /// What the fake driver takes for source `number`'s machine code.
    std::string image_of(std::size_t number) const;

private:
    std::string folder_;
    void* library_ = nullptr;
};

} // namespace tilefold::tests
