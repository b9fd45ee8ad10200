// compiler/backends/llvm/link.h - an object to one flat, position-independent
// image, in memory.
#pragma once

#include <llvm/ADT/ArrayRef.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace tilefold::llvm_backend {

struct Image {
    std::vector<std::byte> code;
    std::map<std::string, std::uint64_t> entries; ///< exported, by name
};

/// Links with JITLink through a memory manager that only keeps the bytes.
/// The object may refer to nothing outside itself; an undefined symbol or a
/// fixup that is not PC-relative is an InternalError.
Image link_flat(llvm::ArrayRef<char> object);

} // namespace tilefold::llvm_backend
