// runtime/cache/disk_cache.h - compiled kernels on disk, one file each.
//
// What holds:
//  1. Nothing here fails: whatever is wrong with a file, the folder or the
//     disk is a miss, and a store that cannot be done is not done.
//  2. The bytes returned are the bytes whose checksum was verified, read
//     once from a regular file that only its owner (me or root) may write,
//     in a folder of which the same is true. With a key, that of
//     Options::cache_key_file, file and folder may be anybody's, and the
//     bytes are signed with the key.
//  3. A reader sees a whole entry or none: entries appear by rename.
//  4. Any number of processes, on any number of machines, may use a folder.
#pragma once

#include "compiler/artifact/key.h"
#include "runtime/cache/cache_entry.h"
#include "runtime/cache/disk_file.h"
#include "runtime/core/options.h"

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
    Unsigned,
};
std::string_view spelling_of(DiskMiss miss);

/// An entry, as `tilefold cache` lists it.
struct CacheEntry {
    std::string key; ///< 64 hexadecimal digits
    std::int64_t bytes = 0;
    std::string compiler; ///< "LLVM 22.1.0"
    std::string isa;
    std::string summary;               ///< first line of the graph
    DiskMiss miss = DiskMiss::Damaged; ///< that a load would find
};

class DiskCache {
public:
    /// `directory` empty: off. `most_bytes`: size cap of the folder. `signer`:
    /// signs entries, and takes its own alone.
    DiskCache(std::string directory, std::int64_t most_bytes,
              std::optional<SigningKey> signer = {})
        : directory_(std::move(directory)), most_bytes_(most_bytes),
          signer_(signer) {}
    /// Of resolved options. Throws BadOption for a key file that is none.
    explicit DiskCache(const Options& options);

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

    /// All entries, the last used first. `verify`: each is read whole.
    std::vector<CacheEntry> list(bool verify) const;
    /// Removes every entry and orphan; returns how many files.
    std::int64_t clear() const;

private:
    Writers writers() const {
        return signer_ ? Writers::Anybody : Writers::Trusted;
    }
    Descriptor folder(bool make) const {
        return open_folder(directory_, writers(), make);
    }
    bool is_signed(const DecodedEntry& entry) const {
        return !signer_ || entry.is_signed_by(*signer_);
    }

    std::string directory_;
    std::int64_t most_bytes_;
    std::optional<SigningKey> signer_;
};

} // namespace tilefold
