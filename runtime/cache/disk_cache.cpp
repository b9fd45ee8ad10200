// runtime/cache/disk_cache.cpp - entries by key, the size cap, the sweep, and
// what `tilefold cache` shows.

#include "runtime/cache/disk_cache.h"

#include "runtime/cache/key_file.h"

#include <algorithm>
#include <ctime>

namespace tilefold {
namespace {

constexpr std::string_view suffix = ".tilefold";
/// A temporary older than this belongs to a process that was killed.
constexpr std::time_t stale_seconds = 15 * 60;

std::string name_of(const Key& key) {
    return key.hex() + std::string(suffix);
}

bool is_entry(const FileNote& file) {
    return !file.temporary && file.name.ends_with(suffix);
}

bool used_before(const FileNote& a, const FileNote& b) {
    return std::pair(a.used.tv_sec, a.used.tv_nsec) <
           std::pair(b.used.tv_sec, b.used.tv_nsec);
}

/// Removes stale temporaries and, oldest first, entries beyond the cap;
/// `kept` stays whatever its size.
void sweep(const Descriptor& folder, std::int64_t most_bytes,
           const std::string& kept) {
    std::vector<FileNote> files = list_files(folder);
    std::time_t now = std::time(nullptr);
    std::int64_t total = 0;
    for (const FileNote& file : files) {
        if (file.temporary && now - file.used.tv_sec > stale_seconds)
            remove_file(folder, file.name);
        if (is_entry(file))
            total += file.bytes;
    }
    if (total <= most_bytes)
        return;
    std::sort(files.begin(), files.end(), used_before);
    for (const FileNote& file : files) {
        if (total <= most_bytes)
            return;
        if (is_entry(file) && file.name != kept &&
            remove_file(folder, file.name))
            total -= file.bytes;
    }
}

} // namespace

std::string_view spelling_of(DiskMiss miss) {
    switch (miss) {
    case DiskMiss::None:
        return "found";
    case DiskMiss::Off:
        return "off";
    case DiskMiss::Unusable:
        return "cache directory unusable";
    case DiskMiss::Absent:
        return "absent";
    case DiskMiss::Damaged:
        return "damaged";
    case DiskMiss::Unsigned:
        return "not signed with the cache's key";
    }
    return "";
}

DiskCache::DiskCache(const Options& options)
    : DiskCache(*options.cache_directory, *options.cache_size) {
    if (!options.cache_key_file->empty())
        signer_ = read_key_file(*options.cache_key_file);
}

DiskCache::Found DiskCache::load(const Key& key) const {
    if (directory_.empty())
        return {std::nullopt, DiskMiss::Off};
    const Descriptor from = folder(true);
    if (!from)
        return {std::nullopt, DiskMiss::Unusable};
    FileRead file = read_file(from, name_of(key), writers(), true);
    if (!file.bytes)
        return {std::nullopt,
                file.absent ? DiskMiss::Absent : DiskMiss::Damaged};
    std::optional<DecodedEntry> entry = decode_entry(*file.bytes);
    if (!entry || entry->key != key.hex())
        return {std::nullopt, DiskMiss::Damaged};
    if (!is_signed(*entry))
        return {std::nullopt, DiskMiss::Unsigned};
    return {std::vector(entry->payload.begin(), entry->payload.end()),
            DiskMiss::None};
}

void DiskCache::store(const Key& key, const EntryNotes& notes,
                      const std::vector<std::byte>& payload) const {
    const Descriptor into = folder(true);
    if (!into)
        return;
    std::string name = name_of(key);
    if (publish_file(into, name,
                     encode_entry(key.hex(), notes, payload, signer_)))
        sweep(into, most_bytes_, name);
}

std::vector<CacheEntry> DiskCache::list(bool verify) const {
    std::vector<CacheEntry> entries;
    const Descriptor from = folder(false);
    if (!from)
        return entries;
    std::vector<FileNote> files = list_files(from);
    std::erase_if(files, [](const FileNote& file) { return !is_entry(file); });
    std::sort(files.begin(), files.end(),
              [](const auto& a, const auto& b) { return used_before(b, a); });
    for (const FileNote& file : files) {
        std::string key = file.name.substr(0, file.name.size() - suffix.size());
        CacheEntry listed;
        listed.key = key;
        listed.bytes = file.bytes;
        FileRead content = read_file(from, file.name, writers(), false);
        auto bytes = content.bytes.value_or(std::vector<std::byte>());
        auto entry = verify ? decode_entry(bytes) : decode_header(bytes);
        if (entry) {
            listed.compiler = entry->notes.compiler;
            listed.isa = entry->notes.isa;
            listed.summary = entry->notes.summary;
            listed.miss = entry->key != key              ? DiskMiss::Damaged
                          : verify && !is_signed(*entry) ? DiskMiss::Unsigned
                                                         : DiskMiss::None;
        }
        entries.push_back(std::move(listed));
    }
    return entries;
}

std::int64_t DiskCache::clear() const {
    const Descriptor of = folder(false);
    if (!of)
        return 0;
    std::int64_t removed = 0;
    for (const FileNote& file : list_files(of))
        if (is_entry(file) || file.temporary)
            removed += remove_file(of, file.name);
    return removed;
}

} // namespace tilefold
