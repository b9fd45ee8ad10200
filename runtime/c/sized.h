// runtime/c/sized.h - structures that begin with their size, which may be that
// of an earlier header or of a later one.
#pragma once

#include "runtime/c/guard.h"

#include <algorithm>
#include <cstddef>
#include <cstring>

namespace tilefold::c {

/// No structure is ever larger: a larger size is a mistake.
inline constexpr std::uint64_t most_struct_bytes = 4096;

/// Throws Error(StructSize) for what cannot be a size.
void require_size(const char* type, std::uint64_t size);
/// Throws Error(StructTail) where a byte of [known, size) is set.
void require_zeros(const char* type, const void* given, std::uint64_t known,
                   std::uint64_t size);

/// What the caller has set of a structure; the rest, or all where it is NULL,
/// is 0. `type` is its name in C. Throws as above.
template <class T> T read_sized(const char* type, const T* given) {
    T read{};
    if (!given)
        return read;
    std::uint64_t size = 0;
    std::memcpy(&size, given, sizeof size);
    require_size(type, size);
    require_zeros(type, given, sizeof(T), size);
    std::memcpy(&read, given, std::min<std::size_t>(size, sizeof(T)));
    return read;
}

/// Writes to a structure of the caller's what it has room for. Throws
/// StructSize.
template <class T> void write_sized(const char* type, T values, T& out) {
    require_size(type, out.size);
    values.size = out.size;
    std::memcpy(&out, &values, std::min<std::size_t>(out.size, sizeof(T)));
}

} // namespace tilefold::c
