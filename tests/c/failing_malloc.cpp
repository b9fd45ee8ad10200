// tests/c/failing_malloc.cpp - stands before glibc's functions, as
// `operator new` calls these, too.

#include "tests/c/failing_malloc.h"

#include <cerrno>
#include <cstddef>
#include <malloc.h>

namespace {

// Plain numbers: a thread's variables that are made when first used would
// allocate.
thread_local std::int64_t before = -1, left = 0, failed = 0;
thread_local bool has_some = false;

/// A block that is given back is memory for whoever asks for less.
constexpr std::size_t large = std::size_t(16) << 20;

bool fails(std::size_t size) {
    if (before < 0 || (has_some && size < large))
        return false;
    if (before > 0) {
        --before;
        return false;
    }
    if (left == 0)
        return false;
    --left;
    ++failed;
    errno = ENOMEM;
    return true;
}

} // namespace

namespace tilefold::test {

void let_allocations_fail(std::int64_t first, std::int64_t count) {
    failed = 0;
    left = count;
    has_some = false;
    before = first;
}

std::int64_t stop_failing() {
    before = -1;
    return failed;
}

} // namespace tilefold::test

extern "C" {

void* __libc_malloc(std::size_t size);
void* __libc_calloc(std::size_t number, std::size_t size);
void* __libc_realloc(void* memory, std::size_t size);
void* __libc_memalign(std::size_t alignment, std::size_t size);
void __libc_free(void* memory);

void* malloc(std::size_t size) {
    return fails(size) ? nullptr : __libc_malloc(size);
}

void* calloc(std::size_t number, std::size_t size) {
    return fails(number * size) ? nullptr : __libc_calloc(number, size);
}

void* realloc(void* memory, std::size_t size) {
    return fails(size) ? nullptr : __libc_realloc(memory, size);
}

void* aligned_alloc(std::size_t alignment, std::size_t size) {
    return fails(size) ? nullptr : __libc_memalign(alignment, size);
}

void free(void* memory) {
    if (before == 0 && left > 0 && memory &&
        malloc_usable_size(memory) >= large)
        has_some = true;
    __libc_free(memory);
}

} // extern "C"
