// runtime/core/write_all.h - bytes to a file, however many calls it takes.
#pragma once

#include <cerrno>
#include <cstddef>
#include <span>
#include <unistd.h>

namespace tilefold {

/// Whether all were written; errno says why not.
inline bool write_all(int file, std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
        const ssize_t written = write(file, bytes.data(), bytes.size());
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return false;
        bytes = bytes.subspan(std::size_t(written));
    }
    return true;
}

} // namespace tilefold
