// runtime/cpu/executable_memory.cpp - pages that are written, then executable.

#include "runtime/cpu/executable_memory.h"

#include "formulas/diagnostic.h"
#include "runtime/cpu/architecture.h"

#include <cerrno>
#include <cstring>
#include <string>
#include <sys/mman.h>
#include <unistd.h>

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

} // namespace

ExecutableMemory::ExecutableMemory(std::span<const std::byte> code)
    : size_(code.size()) {
    const std::size_t mapped = whole_pages(code.size()) + 2 * page_size();
    void* pages =
        mmap(nullptr, mapped, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED)
        fail(Code::OutOfMemory,
             {"loading a kernel", std::to_string(code.size()) + " bytes",
              "close other programs, or raise the limit"});
    at_.pages = static_cast<std::byte*>(pages);
    at_.mapped = mapped;
    at_.code = at_.pages + page_size();
    if (!write_then_execute(at_.code, code) &&
        !system::execute_otherwise(at_, code)) {
        const std::string why = std::strerror(errno);
        munmap(at_.pages, at_.mapped);
        fail(Code::NoExecutableMemory, {why});
    }
    forget_instructions(at_.code, code.size());
}

ExecutableMemory::~ExecutableMemory() {
    munmap(at_.pages, at_.mapped);
}

} // namespace tilefold::cpu
