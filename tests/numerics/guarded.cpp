// tests/numerics/guarded.cpp - memory between forbidden pages.

#include "tests/numerics/guarded.h"

#include <cstring>
#include <new>

#include <sys/mman.h>
#include <unistd.h>

namespace tilefold::test {

Guarded::Guarded(std::size_t bytes, Flush flush, std::size_t alignment,
                 unsigned char poison)
    : bytes_(bytes) {
    const auto page = std::size_t(sysconf(_SC_PAGESIZE));
    const std::size_t used = (bytes + page - 1) / page * page + page;
    mapped_ = used + 2 * page;
    void* pages =
        mmap(nullptr, mapped_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED)
        throw std::bad_alloc();
    pages_ = static_cast<char*>(pages);
    char* inside = pages_ + page;
    if (mprotect(inside, used, PROT_READ | PROT_WRITE) != 0)
        throw std::bad_alloc();
    std::memset(inside, poison, used);
    data_ = inside;
    if (flush == Flush::Back)
        data_ = inside + (used - bytes) / alignment * alignment;
}

Guarded::~Guarded() {
    munmap(pages_, mapped_);
}

} // namespace tilefold::test
