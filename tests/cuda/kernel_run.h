// tests/cuda/kernel_run.h - a graph on arrays of given sizes, through emitted
// kernels on the host and through the interpreter.
#pragma once

#include "compiler/backends/reference/interpreter.h"
#include "tests/cuda/host_module.h"

#include <string>
#include <vector>

namespace tilefold::tests {

/// A canonical, oriented graph, and how exactly its kernels compute it.
struct CudaCase {
    std::string name;
    ir::Graph graph;
    std::int32_t width = 2; ///< where one is open
    double tolerance = 0;   ///< 0: by the computing dtype
    bool single_column = false, single_row = false;
    double product_error = 0;     ///< that the plan may have; see choose_plan
    bool column_parallel = false; ///< that the plan is for
};

struct RunSizes {
    std::int64_t rows = 1, columns = 1;
    std::int64_t batches = 1;
    std::int64_t segments = 1;
    unsigned blocks = 2; ///< of a grid that strides over its work
};

/// The small blocks that the host runs: as the model's, but for 32 or 64
/// threads and tiles of at most 16 columns.
HostKernels small_kernels(const CudaCase& of);

/// Bytes of the results under an order of threads. Inputs and outputs lie
/// against forbidden pages, and what nobody wrote is NaN. Throws
/// std::runtime_error where threads part at a barrier.
std::string run_kernels(const HostModule& module, std::size_t number,
                        const CudaCase& of, const HostKernels& kernels,
                        const RunSizes& sizes, int order);

/// Where `results` are not the interpreter's; "" where they are.
std::string compare(const CudaCase& of, const RunSizes& sizes,
                    const std::string& results);

} // namespace tilefold::tests
