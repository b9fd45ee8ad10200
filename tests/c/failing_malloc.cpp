// tests/c/failing_malloc.cpp - stands before glibc's functions, as
// `operator new` calls these, too.

#include "tests/c/failing_malloc.h"

#include <cerrno>
#include <cstddef>

namespace {

// Plain numbers: a thread's variables that are made when first used would
// allocate.
thread_local std::int64_t before = -1, left = 0, failed = 0;

bool fails() {
    if (before < 0)
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

void* malloc(std::size_t size) {
    return fails() ? nullptr : __libc_malloc(size);
}

void* calloc(std::size_t number, std::size_t size) {
    return fails() ? nullptr : __libc_calloc(number, size);
}

void* realloc(void* memory, std::size_t size) {
    return fails() ? nullptr : __libc_realloc(memory, size);
}

void* aligned_alloc(std::size_t alignment, std::size_t size) {
    return fails() ? nullptr : __libc_memalign(alignment, size);
}

} // extern "C"
