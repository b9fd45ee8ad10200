// runtime/cpu/executable_memory.cpp - pages that are written, then executable.

#include "runtime/cpu/executable_memory.h"

#include "formulas/diagnostic.h"
#include "runtime/core/write_all.h"
#include "runtime/cpu/architecture.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <string>
#include <sys/mman.h>
#include <unistd.h>

#ifndef MFD_EXEC // of Linux 6.3, which glibc knows since 2.38
#define MFD_EXEC 0x0010U
#endif

namespace tilefold::cpu {
namespace {

std::size_t page_size() {
    static const std::size_t size = std::size_t(sysconf(_SC_PAGESIZE));
    return size;
}

std::size_t whole_pages(std::size_t bytes) {
    return (bytes + page_size() - 1) / page_size() * page_size();
}

/// Copies the code to pages that are there, and gives up their being writable
/// for their being executable. False, with errno, where that is refused.
bool write_then_execute(std::byte* place, std::span<const std::byte> code) {
    if (mprotect(place, code.size(), PROT_READ | PROT_WRITE) != 0)
        return false;
    std::memcpy(place, code.data(), code.size());
    return mprotect(place, code.size(), PROT_READ | PROT_EXEC) == 0;
}

/// A file in memory that may be executed; negative, with errno, on failure.
int executable_file() {
    const unsigned flags = MFD_CLOEXEC | MFD_ALLOW_SEALING;
    const int file = memfd_create("tilefold", flags | MFD_EXEC);
    return file < 0 && errno == EINVAL ? memfd_create("tilefold", flags) : file;
}

/// Maps a file that holds the code and that nobody can write any more, over
/// the pages. False, with errno, where that is refused.
bool execute_sealed_file(std::byte* place, std::span<const std::byte> code) {
    const int file = executable_file();
    if (file < 0)
        return false;
    const bool done =
        write_all(file, code) &&
        fcntl(file, F_ADD_SEALS,
              F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL) == 0 &&
        mmap(place, code.size(), PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED,
             file, 0) != MAP_FAILED;
    const int why = errno;
    close(file);
    errno = why;
    return done;
}

} // namespace

ExecutableMemory::ExecutableMemory(std::span<const std::byte> code)
    : mapped_(whole_pages(code.size()) + 2 * page_size()), size_(code.size()) {
    void* pages =
        mmap(nullptr, mapped_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED)
        fail(Code::OutOfMemory,
             {"loading a kernel", std::to_string(code.size()) + " bytes",
              "close other programs, or raise the limit"});
    pages_ = static_cast<std::byte*>(pages);
    code_ = pages_ + page_size();
    if (!write_then_execute(code_, code) && !execute_sealed_file(code_, code)) {
        const std::string why = std::strerror(errno);
        munmap(pages_, mapped_);
        fail(Code::NoExecutableMemory, {why});
    }
    forget_instructions(code_, code.size());
}

ExecutableMemory::~ExecutableMemory() {
    munmap(pages_, mapped_);
}

} // namespace tilefold::cpu
