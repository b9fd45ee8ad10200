// runtime/c/sized.cpp - see sized.h.

#include "runtime/c/sized.h"

namespace tilefold::c {

void require_size(const char* type, std::uint64_t size) {
    if (size < sizeof size || size > most_struct_bytes)
        fail(Code::StructSize, {type, std::to_string(size)});
}

void require_zeros(const char* type, const void* given, std::uint64_t known,
                   std::uint64_t size) {
    const auto* bytes = static_cast<const unsigned char*>(given);
    for (std::uint64_t k = known; k < size; ++k)
        if (bytes[k] != 0)
            fail(Code::StructTail, {type, std::to_string(known)});
}

} // namespace tilefold::c
