// runtime/core/scratch.cpp - aligned bytes that a thread keeps.

#include "runtime/core/scratch.h"

#include "formulas/diagnostic.h"

#include <cstdlib>
#include <memory>
#include <new>
#include <pthread.h>
#include <string>

namespace tilefold {

/// What a thread keeps. By a key, not a thread_local: where memory runs out,
/// the C library ends a process that registers a destructor.
struct ScratchLease::Own {
    Scratch scratch;
    bool leased = false;

    /// The memory of the calling thread; null where there is none for it.
    static Own* find() {
        static const Key key;
        if (!key.is_made)
            return nullptr;
        auto* own = static_cast<Own*>(pthread_getspecific(key.key));
        if (own)
            return own;
        std::unique_ptr<Own> made(new (std::nothrow) Own);
        if (!made || pthread_setspecific(key.key, made.get()) != 0)
            return nullptr;
        return made.release();
    }

private:
    struct Key {
        Key() : is_made(pthread_key_create(&key, &end) == 0) {}
        static void end(void* own) { delete static_cast<Own*>(own); }
        pthread_key_t key{};
        bool is_made;
    };
};

void Scratch::Free::operator()(std::byte* bytes) const {
    std::free(bytes);
}

ScratchLease::ScratchLease() : own_(Own::find()) {
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
    if (bytes <= size_)
        return bytes_.get();
    std::size_t size = BumpAllocator::rounded(bytes);
    bytes_.reset();
    size_ = 0;
    bytes_.reset(static_cast<std::byte*>(std::aligned_alloc(64, size)));
    if (!bytes_)
        fail(Code::OutOfMemory,
             {"the state of a block of rows", std::to_string(size) + " bytes",
              "split the columns of the wide argument into several calls"});
    size_ = size;
    return bytes_.get();
}

void Scratch::trim() {
    if (size_ <= kept)
        return;
    bytes_.reset();
    size_ = 0;
}

} // namespace tilefold
