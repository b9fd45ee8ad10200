// runtime/cpu/image.h - machine code in memory, read and execute.
#pragma once

#include "compiler/artifact/artifact.h"
#include "runtime/cpu/kernel.h"

#include <cstddef>
#include <string_view>

namespace tilefold::cpu {

/// An artifact's code in an anonymous mapping of its own. The bytes mapped
/// are a copy of the artifact's, never a file's; the mapping is written
/// before it becomes executable and never after. Unmapped with the Image.
class Image {
public:
    /// Throws OutOfMemory, or InternalError for an entry outside the code.
    explicit Image(const Artifact& artifact);
    ~Image();
    Image(const Image&) = delete;
    Image& operator=(const Image&) = delete;

    /// Its entries; valid while the Image lives.
    const Kernel& kernel() const { return kernel_; }
    const std::byte* code() const { return code_; }
    std::size_t size() const { return size_; }

private:
    std::byte* code_ = nullptr;
    std::size_t size_ = 0;
    Kernel kernel_;
};

/// Appends the image to /tmp/perf-<pid>.map, which `perf report` reads.
void write_perf_map(const Image& image, std::string_view name);

} // namespace tilefold::cpu
