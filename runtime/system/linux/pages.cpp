// runtime/system/linux/pages.cpp - code by way of a sealed file in memory,
// where PR_SET_MDWE, SELinux's execmem or PaX refuse to make written pages
// executable.

#include "runtime/core/write_all.h"
#include "runtime/system/system.h"

#include <cerrno>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#ifndef MFD_EXEC // of Linux 6.3, which glibc knows since 2.38
#define MFD_EXEC 0x0010U
#endif

namespace tilefold::system {
namespace {

/// A file in memory that may be executed; negative, with errno, on failure.
int executable_file() {
    const unsigned flags = MFD_CLOEXEC | MFD_ALLOW_SEALING;
    const int file = memfd_create("tilefold", flags | MFD_EXEC);
    return file < 0 && errno == EINVAL ? memfd_create("tilefold", flags) : file;
}

} // namespace

/// The file holds the code, nobody can write it any more, and it is mapped over
/// the pages.
bool execute_otherwise(CodePages& pages, std::span<const std::byte> code) {
    const int file = executable_file();
    if (file < 0)
        return false;
    const bool done =
        write_all(file, code) &&
        fcntl(file, F_ADD_SEALS,
              F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL) == 0 &&
        mmap(pages.code, code.size(), PROT_READ | PROT_EXEC,
             MAP_PRIVATE | MAP_FIXED, file, 0) != MAP_FAILED;
    const int why = errno;
    close(file);
    errno = why;
    return done;
}

void ask_for_huge_pages(void* memory, std::size_t bytes) {
    madvise(memory, bytes, MADV_HUGEPAGE);
}

} // namespace tilefold::system
