// runtime/core/scratch.h - memory a thread keeps between runs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

namespace tilefold {

/// 64-byte aligned bytes that grow on demand.
class Scratch {
public:
    /// What a thread may keep after a run.
    static constexpr std::size_t kept = std::size_t(1) << 20;

    /// Gives at least `bytes`, of undefined contents, valid until the next
    /// reserve() or trim(). Throws OutOfMemory.
    std::byte* reserve(std::size_t bytes);
    /// Gives back what exceeds `kept`.
    void trim();

private:
    struct Free {
        void operator()(std::byte* bytes) const;
    };
    std::unique_ptr<std::byte, Free> bytes_;
    std::size_t size_ = 0;
};

/// The calling thread's own Scratch, which spares small runs every
/// allocation; a fresh one while that is leased further up the stack (a
/// progress callback may start a run of its own), or where there is no memory
/// to note it.
class ScratchLease {
public:
    ScratchLease();
    ~ScratchLease();
    ScratchLease(const ScratchLease&) = delete;
    ScratchLease& operator=(const ScratchLease&) = delete;

    std::byte* reserve(std::size_t bytes);

private:
    struct Own;
    Own* own_; ///< null: fresh_
    Scratch fresh_;
};

/// Cuts one run of bytes into aligned pieces.
class BumpAllocator {
public:
    explicit BumpAllocator(std::byte* begin) : next_(begin) {}

    template <class T> T* take(std::int64_t count) {
        T* piece = reinterpret_cast<T*>(next_);
        next_ += rounded(std::size_t(count) * sizeof(T));
        return piece;
    }
    static constexpr std::size_t rounded(std::size_t bytes) {
        return (bytes + 63) & ~std::size_t(63);
    }

private:
    std::byte* next_;
};

} // namespace tilefold
