// compiler/backends/llvm/image/link.h - an object to one flat,
// position-independent image, in memory.
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
    std::map<std::string, std::uint64_t> functions; ///< by name
};

/// Puts the object behind what `image` holds, with JITLink and a memory manager
/// that only keeps the bytes. The object may refer to functions of the image
/// and to nothing else; an undefined symbol or a fixup that is not PC-relative
/// is an InternalError.
void link_flat(llvm::ArrayRef<char> object, Image& image);

} // namespace tilefold::llvm_backend
