// runtime/scratch.cpp - aligned bytes that a thread keeps.

#include "runtime/scratch.h"

#include "formulas/diagnostic.h"

#include <cstdlib>
#include <string>

namespace tilefold {
namespace {

struct Own {
    Scratch scratch;
    bool leased = false;
};
thread_local Own threads_own;

} // namespace

void Scratch::Free::operator()(std::byte* bytes) const {
    std::free(bytes);
}

ScratchLease::ScratchLease()
    : scratch_(threads_own.leased ? &fresh_ : &threads_own.scratch) {
    if (scratch_ != &fresh_)
        threads_own.leased = true;
}

ScratchLease::~ScratchLease() {
    if (scratch_ == &fresh_)
        return;
    scratch_->trim();
    threads_own.leased = false;
}

std::byte* Scratch::reserve(std::size_t bytes) {
    if (bytes <= size_)
        return bytes_.get();
    std::size_t size = Carver::rounded(bytes);
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
