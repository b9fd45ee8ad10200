// compiler/backends/llvm/memory/allocation.cpp - memory for LLVM and for what
// is written around it: the library's own `new`, and what its calls of malloc
// become (the linker's --wrap). What they give is the C library's, so that
// anybody may free it.

#include "compiler/backends/llvm/memory/reserve.h"

#include <cstdlib>
#include <new>
#include <sched.h>

namespace {

/// It tries so often because other threads may be about to free some memory.
constexpr int most_tries = 20;

/// Returns what ask() gives; if that is nothing, it asks again with the
/// reserve given back.
template <class Ask> void* insist(const Ask& ask) {
    for (int tries = 0; tries < most_tries; ++tries) {
        if (void* memory = ask())
            return memory;
        tilefold::llvm_backend::give_reserve_back();
        sched_yield();
    }
    return nullptr;
}

std::size_t at_least_one(std::size_t size) {
    return size ? size : 1;
}

} // namespace

extern "C" {

void* __real_malloc(std::size_t size);
void* __real_calloc(std::size_t number, std::size_t size);
void* __real_realloc(void* memory, std::size_t size);

void* __wrap_malloc(std::size_t size) {
    return insist([=] { return __real_malloc(at_least_one(size)); });
}

void* __wrap_calloc(std::size_t number, std::size_t size) {
    return insist([=] {
        return __real_calloc(at_least_one(number), at_least_one(size));
    });
}

void* __wrap_realloc(void* memory, std::size_t size) {
    return insist([=] { return __real_realloc(memory, at_least_one(size)); });
}

} // extern "C"

namespace {

void* aligned(std::size_t size, std::align_val_t alignment) {
    const auto to = static_cast<std::size_t>(alignment);
    const std::size_t whole = (at_least_one(size) + to - 1) / to * to;
    return insist([=] { return std::aligned_alloc(to, whole); });
}

void* or_throw(void* memory) {
    if (!memory)
        throw std::bad_alloc();
    return memory;
}

} // namespace

void* operator new(std::size_t size) {
    return or_throw(__wrap_malloc(size));
}

void* operator new[](std::size_t size) {
    return or_throw(__wrap_malloc(size));
}

void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
    return __wrap_malloc(size);
}

void* operator new[](std::size_t size, const std::nothrow_t&) noexcept {
    return __wrap_malloc(size);
}

void* operator new(std::size_t size, std::align_val_t alignment) {
    return or_throw(aligned(size, alignment));
}

void* operator new[](std::size_t size, std::align_val_t alignment) {
    return or_throw(aligned(size, alignment));
}

void* operator new(std::size_t size, std::align_val_t alignment,
                   const std::nothrow_t&) noexcept {
    return aligned(size, alignment);
}

void* operator new[](std::size_t size, std::align_val_t alignment,
                     const std::nothrow_t&) noexcept {
    return aligned(size, alignment);
}

void operator delete(void* memory) noexcept {
    std::free(memory);
}

void operator delete[](void* memory) noexcept {
    std::free(memory);
}

void operator delete(void* memory, std::size_t) noexcept {
    std::free(memory);
}

void operator delete[](void* memory, std::size_t) noexcept {
    std::free(memory);
}

void operator delete(void* memory, std::align_val_t) noexcept {
    std::free(memory);
}

void operator delete[](void* memory, std::align_val_t) noexcept {
    std::free(memory);
}

void operator delete(void* memory, std::size_t, std::align_val_t) noexcept {
    std::free(memory);
}

void operator delete[](void* memory, std::size_t, std::align_val_t) noexcept {
    std::free(memory);
}
