// runtime/cpu/image.h - machine code in memory, read and execute.
#pragma once

#include "compiler/artifact/artifact.h"
#include "runtime/cpu/executable_memory.h"
#include "runtime/cpu/kernel.h"

#include <cstddef>
#include <string_view>

namespace tilefold::cpu {

/// An artifact's code in memory of its own: a copy of the artifact's bytes,
/// never a mapping of the file that they came from. Unmapped with the Image.
class Image {
public:
    /// Throws OutOfMemory, NoExecutableMemory, or InternalError for an entry
    /// outside the code.
    explicit Image(const Artifact& artifact);

    /// Its entries; valid while the Image lives.
    const Kernel& kernel() const { return kernel_; }
    const std::byte* code() const { return memory_.code(); }
    std::size_t size() const { return memory_.size(); }

private:
    ExecutableMemory memory_;
    Kernel kernel_;
};

/// Appends the image to /tmp/perf-<pid>.map, which `perf report` reads.
void write_perf_map(const Image& image, std::string_view name);

} // namespace tilefold::cpu
