// runtime/cpu/image.cpp - maps verified bytes, then makes them executable.

#include "runtime/cpu/image.h"

#include "formulas/diagnostic.h"

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <string>
#include <sys/mman.h>
#include <unistd.h>

namespace tilefold::cpu {
namespace {

/// Bytes of a mapping that can be made executable; throws OutOfMemory.
std::byte* map_copy(const std::vector<std::byte>& code) {
    void* place = mmap(nullptr, code.size(), PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (place == MAP_FAILED)
        fail(Code::OutOfMemory,
             {"loading a kernel", std::to_string(code.size()) + " bytes",
              "close other programs, or raise the limit"});
    std::memcpy(place, code.data(), code.size());
    if (mprotect(place, code.size(), PROT_READ | PROT_EXEC) != 0) {
        munmap(place, code.size());
        fail(Code::DeviceFailed, {"executable memory", std::strerror(errno)});
    }
    return static_cast<std::byte*>(place);
}

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
    kernel.prepare = entry<tilefold_prepare>(artifact, code, at.prepare);
    kernel.init = entry<tilefold_init>(artifact, code, at.init);
    kernel.accumulate =
        entry<tilefold_accumulate>(artifact, code, at.accumulate);
    kernel.merge = entry<tilefold_merge>(artifact, code, at.merge);
    kernel.fold = entry<tilefold_fold>(artifact, code, at.fold);
    kernel.finalise = entry<tilefold_finalise>(artifact, code, at.finalise);
    kernel.reduce = entry<tilefold_reduce>(artifact, code, at.reduce);
    kernel.zip = entry<tilefold_zip>(artifact, code, at.zip);
    kernel.dense = entry<tilefold_dense>(artifact, code, at.dense);
    return kernel;
}

} // namespace

Image::Image(const Artifact& artifact) : size_(artifact.code.size()) {
    if (size_ == 0)
        internal_error("an image without code");
    entries_of(artifact, nullptr); // checks, before anything is mapped
    code_ = map_copy(artifact.code);
    kernel_ = entries_of(artifact, code_);
}

Image::~Image() {
    munmap(code_, size_);
}

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
