// runtime/cache/disk_cache.cpp - entries by key, the size cap, the sweep, and
// what `tilefold cache` shows.

#include "runtime/cache/disk_cache.h"

#include "runtime/cache/disk_file.h"

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
    }
    return "";
}

DiskCache::Found DiskCache::load(const Key& key) const {
    if (directory_.empty())
        return {std::nullopt, DiskMiss::Off};
    Descriptor folder = open_folder(directory_, true);
    if (!folder)
        return {std::nullopt, DiskMiss::Unusable};
    FileRead file = read_file(folder, name_of(key), true);
    if (!file.bytes)
        return {std::nullopt,
                file.absent ? DiskMiss::Absent : DiskMiss::Damaged};
    std::optional<DecodedEntry> entry = decode_entry(*file.bytes);
    if (!entry || entry->key != key.hex())
        return {std::nullopt, DiskMiss::Damaged};
    return {std::vector(entry->payload.begin(), entry->payload.end()),
            DiskMiss::None};
}

void DiskCache::store(const Key& key, const EntryNotes& notes,
                      const std::vector<std::byte>& payload) const {
    Descriptor folder = open_folder(directory_, true);
    if (!folder)
        return;
    std::string name = name_of(key);
    if (publish_file(folder, name, encode_entry(key.hex(), notes, payload)))
        sweep(folder, most_bytes_, name);
}

std::vector<CacheEntry> list_cache(const std::string& directory, bool verify) {
    std::vector<CacheEntry> entries;
    Descriptor folder = open_folder(directory, false);
    if (!folder)
        return entries;
    std::vector<FileNote> files = list_files(folder);
    std::erase_if(files, [](const FileNote& file) { return !is_entry(file); });
    std::sort(files.begin(), files.end(),
              [](const auto& a, const auto& b) { return used_before(b, a); });
    for (const FileNote& file : files) {
        std::string key = file.name.substr(0, file.name.size() - suffix.size());
        CacheEntry listed{key, file.bytes, {}, {}, {}, false};
        FileRead content = read_file(folder, file.name, false);
        auto bytes = content.bytes.value_or(std::vector<std::byte>());
        auto entry = verify ? decode_entry(bytes) : decode_header(bytes);
        if (entry) {
            listed.compiler = entry->notes.compiler;
            listed.isa = entry->notes.isa;
            listed.summary = entry->notes.summary;
            listed.valid = entry->key == key;
        }
        entries.push_back(std::move(listed));
    }
    return entries;
}

std::int64_t clear_cache(const std::string& directory) {
    Descriptor folder = open_folder(directory, false);
    if (!folder)
        return 0;
    std::int64_t removed = 0;
    for (const FileNote& file : list_files(folder))
        if (is_entry(file) || file.temporary)
            removed += remove_file(folder, file.name);
    return removed;
}

} // namespace tilefold
