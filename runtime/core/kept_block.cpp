// runtime/core/kept_block.cpp - see kept_block.h.

#include "runtime/core/kept_block.h"

#include "runtime/core/per_thread.h"

#include <new>
#include <utility>

namespace tilefold {
namespace {

struct KeptBlock {
    void* block = nullptr;
    std::size_t bytes = 0;

    KeptBlock() = default;
    ~KeptBlock() { ::operator delete(block); }
    KeptBlock(const KeptBlock&) = delete;
    KeptBlock& operator=(const KeptBlock&) = delete;
};

} // namespace

void* take_block(std::size_t bytes) {
    KeptBlock* kept = PerThread<KeptBlock>::find();
    if (kept && kept->block && kept->bytes == bytes)
        return std::exchange(kept->block, nullptr);
    return ::operator new(bytes);
}

void give_block(void* block, std::size_t bytes) noexcept {
    if (KeptBlock* kept = PerThread<KeptBlock>::find()) {
        std::swap(kept->block, block);
        kept->bytes = bytes;
    }
    ::operator delete(block);
}

} // namespace tilefold
