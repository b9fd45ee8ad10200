// compiler/backends/cuda/image/image.h - emitted code, compiled: bytes for the
// driver, and what each kernel takes of a multiprocessor.
#pragma once

#include "compiler/backends/cuda/image/emit.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tilefold::cuda {

/// What one kernel takes, as the compiler's log tells.
struct Resources {
    std::string kernel;
    std::int32_t registers = 0;    ///< of a thread
    std::int32_t stack_bytes = 0;  ///< of a thread: arrays not in registers
    std::int32_t spill_stores = 0; ///< bytes
    std::int32_t spill_loads = 0;  ///< bytes
    std::int32_t shared_bytes = 0; ///< of a block

    friend bool operator==(const Resources&, const Resources&) = default;
};

/// Reads a log of `ptxas -v`. Lines that say something else are passed over.
std::vector<Resources> read_resources(std::string_view log);

struct Image {
    Shape shape;
    Plan plan;
    /// The code of each program: a cubin, or PTX with its final 0.
    std::vector<std::vector<std::byte>> codes;
    bool is_ptx = false;      ///< for a card newer than the compiler
    std::string architecture; ///< "sm_90", "compute_120"
    std::string compiler;     ///< "NVRTC 13.0"
    double compile_milliseconds = 0;
    std::vector<Resources> resources; ///< by kernel; none of PTX

    const Resources* resources_of(std::string_view kernel) const;
};

/// Returns one self-describing run of bytes.
std::vector<std::byte> serialise(const Image& image);
/// Returns false where the bytes are no image.
bool deserialise(std::span<const std::byte> bytes, Image& image);

} // namespace tilefold::cuda
