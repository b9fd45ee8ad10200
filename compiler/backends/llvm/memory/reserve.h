// compiler/backends/llvm/memory/reserve.h - memory kept back for the rest of a
// pass.
//
// LLVM is built without exceptions, and ends the process where it is refused
// memory. Between passes a compile can end; within one it must not run out.
//
// 1. While anything is compiled, a block is kept. Where memory is refused, it
//    is given back, and the call that was refused is tried again
//    (allocation.cpp).
// 2. Between passes a block is taken again; where there is none to be had, the
//    compile ends there.
#pragma once

#include <cstddef>

namespace tilefold::llvm_backend {

/// The block has so many bytes, of which no page is touched.
inline constexpr std::size_t reserve_bytes = std::size_t(32) << 20;

/// While one lives, a block is kept; all of them together keep one. Throws
/// std::bad_alloc where there is none to be had.
class Reserve {
public:
    Reserve();
    ~Reserve();
    Reserve(const Reserve&) = delete;
    Reserve& operator=(const Reserve&) = delete;
};

/// Asked between passes: whether the block is there, or could be taken again.
bool has_reserve();

/// Gives the block back, if there is one. Whoever is refused memory calls it.
void give_reserve_back();

} // namespace tilefold::llvm_backend
