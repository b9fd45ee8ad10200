// runtime/cpu/image.cpp - the entries of verified bytes that may run.

#include "runtime/cpu/image.h"

#include "formulas/diagnostic.h"

#include <cstdint>
#include <cstdio>
#include <fcntl.h>
#include <string>
#include <unistd.h>

namespace tilefold::cpu {
namespace {

template <class Function>
Function* entry(const Artifact& artifact, std::byte* code,
                std::uint64_t offset) {
    if (offset == Entries::absent)
        return nullptr;
    if (offset >= artifact.code.size())
        internal_error("an entry lies outside its image");
    return reinterpret_cast<Function*>(code + offset);
}

Kernel entries_of(const Artifact& artifact, std::byte* code) {
    const Entries& at = artifact.entries;
    Kernel kernel;
    kernel.layout = artifact.layout;
    kernel.prepare = entry<tilefold_kernel_prepare>(artifact, code, at.prepare);
    kernel.init = entry<tilefold_kernel_init>(artifact, code, at.init);
    kernel.accumulate =
        entry<tilefold_kernel_accumulate>(artifact, code, at.accumulate);
    kernel.merge = entry<tilefold_kernel_merge>(artifact, code, at.merge);
    kernel.fold = entry<tilefold_kernel_fold>(artifact, code, at.fold);
    kernel.finalise =
        entry<tilefold_kernel_finalise>(artifact, code, at.finalise);
    kernel.reduce = entry<tilefold_kernel_reduce>(artifact, code, at.reduce);
    kernel.zip = entry<tilefold_kernel_zip>(artifact, code, at.zip);
    kernel.dense = entry<tilefold_kernel_dense>(artifact, code, at.dense);
    return kernel;
}

/// What is wrong with an artifact shows before anything is mapped.
const Artifact& checked(const Artifact& artifact) {
    if (artifact.code.empty())
        internal_error("an image without code");
    entries_of(artifact, nullptr);
    return artifact;
}

} // namespace

Image::Image(const Artifact& artifact)
    : memory_(checked(artifact).code),
      kernel_(entries_of(artifact, memory_.code())) {}

void write_perf_map(const Image& image, std::string_view name) {
    std::string path = "/tmp/perf-" + std::to_string(getpid()) + ".map";
    // A pipe may lie in its place: nobody waits for its reader.
    int file = open(path.c_str(),
                    O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_CLOEXEC |
                        O_NONBLOCK,
                    0600);
    if (file < 0)
        return;
    dprintf(file, "%zx %zx tilefold:%.*s\n",
            reinterpret_cast<std::size_t>(image.code()), image.size(),
            int(name.size()), name.data());
    close(file);
}

} // namespace tilefold::cpu
