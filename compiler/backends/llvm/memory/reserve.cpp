// compiler/backends/llvm/memory/reserve.cpp - one block for all compiles of a
// process.

#include "compiler/backends/llvm/memory/reserve.h"

#include <atomic>
#include <cstdlib>
#include <new>

namespace tilefold::llvm_backend {
namespace {

std::atomic<int> users = 0;
std::atomic<void*> block = nullptr;

} // namespace

bool has_reserve() {
    if (block)
        return true;
    void* made = std::malloc(reserve_bytes);
    void* none = nullptr;
    if (made && !block.compare_exchange_strong(none, made))
        std::free(made); // another thread was faster
    return made;
}

void give_reserve_back() {
    std::free(block.exchange(nullptr));
}

Reserve::Reserve() {
    ++users;
    if (has_reserve())
        return;
    --users;
    throw std::bad_alloc();
}

Reserve::~Reserve() {
    if (--users == 0)
        give_reserve_back();
}

} // namespace tilefold::llvm_backend
