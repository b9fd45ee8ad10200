// runtime/core/scratch.cpp - aligned bytes that a thread keeps.

#include "runtime/core/scratch.h"

#include "formulas/diagnostic.h"
#include "runtime/core/per_thread.h"

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <memory>
#include <string>

namespace tilefold {
namespace {

#ifdef TILEFOLD_POISONS_SCRATCH
/// Fills memory that no run reads before it wrote there, in builds of the tests
/// where TILEFOLD_POISON is set: with zeros, NaN, huge and ordinary numbers in
/// turn, so that a result which depends on it has other bits when it is
/// repeated.
void poison(std::byte* bytes, std::size_t size) {
    static const bool poisons = std::getenv("TILEFOLD_POISON");
    static std::atomic<unsigned> turn = 0;
    constexpr int fillings[] = {0xff, 0x00, 0x7f, 0x3f};
    if (poisons && size > 0)
        std::memset(bytes, fillings[turn++ % std::size(fillings)], size);
}
#else
void poison(std::byte*, std::size_t) {}
#endif

} // namespace

/// What a thread keeps.
struct ScratchLease::Own {
    Scratch scratch;
    bool leased = false;
};

void Scratch::Free::operator()(std::byte* bytes) const {
    std::free(bytes);
}

ScratchLease::ScratchLease() : own_(PerThread<Own>::find()) {
    if (own_ && own_->leased)
        own_ = nullptr;
    if (own_)
        own_->leased = true;
}

ScratchLease::~ScratchLease() {
    if (!own_)
        return;
    own_->scratch.trim();
    own_->leased = false;
}

std::byte* ScratchLease::reserve(std::size_t bytes) {
    return (own_ ? own_->scratch : fresh_).reserve(bytes);
}

std::byte* Scratch::reserve(std::size_t bytes) {
    if (bytes <= size_) {
        poison(bytes_.get(), bytes);
        return bytes_.get();
    }
    std::size_t size = BumpAllocator::rounded(bytes);
    bytes_.reset();
    size_ = 0;
    bytes_.reset(static_cast<std::byte*>(std::aligned_alloc(64, size)));
    if (!bytes_)
        fail(Code::OutOfMemory,
             {"the state of a block of rows", std::to_string(size) + " bytes",
              "split the columns of the wide argument into several calls"});
    size_ = size;
    poison(bytes_.get(), size);
    return bytes_.get();
}

void Scratch::trim() {
    if (size_ <= kept)
        return;
    bytes_.reset();
    size_ = 0;
}

} // namespace tilefold
