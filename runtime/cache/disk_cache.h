// runtime/cache/disk_cache.h - compiled kernels on disk, one file each.
//
// What holds:
//  1. Nothing here fails: whatever is wrong with a file, the folder or the
//     disk is a miss, and a store that cannot be done is not done.
//  2. The bytes returned are the bytes whose checksum was verified, read
//     once from a regular file that only its owner (me or root) may write,
//     in a folder of which the same is true.
//  3. A reader sees a whole entry or none: entries appear by rename.
//  4. Any number of processes, on any number of machines, may use a folder.
#pragma once

#include "compiler/artifact/key.h"
#include "runtime/cache/cache_entry.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tilefold {

/// Why a kernel did not come from the disk.
enum class DiskMiss : std::uint8_t {
    None,
    Off,      ///< no cache directory
    Unusable, ///< the folder is missing, unreadable or not ours
    Absent,
    Damaged, ///< or of other ownership, or of another key
};
std::string_view spelling_of(DiskMiss miss);

class DiskCache {
public:
    /// `directory` empty: off. `most_bytes`: size cap of the folder.
    DiskCache(std::string directory, std::int64_t most_bytes)
        : directory_(std::move(directory)), most_bytes_(most_bytes) {}

    struct Found {
        std::optional<std::vector<std::byte>> payload;
        DiskMiss miss = DiskMiss::None;
    };
    /// The payload stored under `key`; marks the entry as used.
    Found load(const Key& key) const;
    /// Publishes an entry, then removes stale temporaries and, beyond the
    /// cap, the least recently used entries.
    void store(const Key& key, const EntryNotes& notes,
               const std::vector<std::byte>& payload) const;

private:
    std::string directory_;
    std::int64_t most_bytes_;
};

/// An entry of the disk cache, as `tilefold cache` lists it.
struct CacheEntry {
    std::string key; ///< 64 hexadecimal digits
    std::int64_t bytes = 0;
    std::string compiler; ///< "LLVM 22.1.0"
    std::string isa;
    std::string summary; ///< first line of the graph
    bool valid = false;  ///< checksum holds
};
std::vector<CacheEntry> list_cache(const std::string& directory, bool verify);
/// Removes every entry and orphan; returns how many files.
std::int64_t clear_cache(const std::string& directory);

} // namespace tilefold
