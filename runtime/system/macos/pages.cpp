// runtime/system/macos/pages.cpp - code in memory of a just-in-time
// compiler, as programs of the hardened runtime may have it by the entitlement
// com.apple.security.cs.allow-jit: they may not make written pages executable.

#include "runtime/system/system.h"

#include <cstring>
#include <pthread.h>
#include <sys/mman.h>

namespace tilefold::system {

/// A thread may write such memory or run it, by a switch of its own; here it
/// is switched to writing for the copy alone. The memory lies where the system
/// puts it (MAP_JIT takes no MAP_FIXED), without pages before and behind it
/// that nothing may touch: other protections are refused there.
bool execute_otherwise(CodePages& pages, std::span<const std::byte> code) {
    void* memory =
        mmap(nullptr, code.size(), PROT_READ | PROT_WRITE | PROT_EXEC,
             MAP_PRIVATE | MAP_ANON | MAP_JIT, -1, 0);
    if (memory == MAP_FAILED)
        return false;
    pthread_jit_write_protect_np(0);
    std::memcpy(memory, code.data(), code.size());
    pthread_jit_write_protect_np(1);
    munmap(pages.pages, pages.mapped);
    pages.pages = pages.code = static_cast<std::byte*>(memory);
    pages.mapped = code.size();
    return true;
}

/// On arm64 there are none for memory of a program.
void ask_for_huge_pages(void*, std::size_t) {}

} // namespace tilefold::system
