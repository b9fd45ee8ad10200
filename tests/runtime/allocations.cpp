// tests/runtime/allocations.cpp - counts by standing before glibc's functions,
// as `operator new` calls these, too.

#include "tests/runtime/allocations.h"

#include <atomic>
#include <cstddef>

namespace {
std::atomic<std::int64_t> count = 0;
} // namespace

namespace tilefold::test {
std::int64_t allocations() {
    return count.load();
}
} // namespace tilefold::test

extern "C" {

void* __libc_malloc(std::size_t size);
void* __libc_calloc(std::size_t number, std::size_t size);
void* __libc_realloc(void* memory, std::size_t size);
void* __libc_memalign(std::size_t alignment, std::size_t size);

void* malloc(std::size_t size) {
    count.fetch_add(1, std::memory_order_relaxed);
    return __libc_malloc(size);
}

void* calloc(std::size_t number, std::size_t size) {
    count.fetch_add(1, std::memory_order_relaxed);
    return __libc_calloc(number, size);
}

void* realloc(void* memory, std::size_t size) {
    count.fetch_add(1, std::memory_order_relaxed);
    return __libc_realloc(memory, size);
}

void* aligned_alloc(std::size_t alignment, std::size_t size) {
    count.fetch_add(1, std::memory_order_relaxed);
    return __libc_memalign(alignment, size);
}

} // extern "C"
