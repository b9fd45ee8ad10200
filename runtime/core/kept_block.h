// runtime/core/kept_block.h - memory for one large object a call.
#pragma once

#include <cstddef>

namespace tilefold {

/// Memory of the calling thread's last object of this size, or new memory.
/// malloc() hands on what is below 1 KiB by itself; above, it takes a tenth of
/// a small call. Throws std::bad_alloc.
void* take_block(std::size_t bytes);
/// Keeps the memory for the calling thread's next object, or frees it.
void give_block(void* block, std::size_t bytes) noexcept;

/// For std::allocate_shared.
template <class T> struct KeptBlockAllocator {
    using value_type = T;

    KeptBlockAllocator() = default;
    template <class Other>
    KeptBlockAllocator(const KeptBlockAllocator<Other>&) {}

    T* allocate(std::size_t count) {
        return static_cast<T*>(take_block(count * sizeof(T)));
    }
    void deallocate(T* block, std::size_t count) noexcept {
        give_block(block, count * sizeof(T));
    }
    template <class Other>
    bool operator==(const KeptBlockAllocator<Other>&) const {
        return true;
    }
};

} // namespace tilefold
