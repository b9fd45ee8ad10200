// runtime/cache/disk_file.h - files of the cache folder, opened with suspicion
// and written so that nobody sees half of one. POSIX lives here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <ctime>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

struct stat;

namespace tilefold {

/// Whether a file or folder belongs to me or to root.
bool is_mine(const struct stat& status);

/// An open file or folder, closed with it.
class Descriptor {
public:
    explicit Descriptor(int number = -1) : number_(number) {}
    ~Descriptor();
    Descriptor(Descriptor&& other) noexcept
        : number_(std::exchange(other.number_, -1)) {}
    Descriptor& operator=(Descriptor&& other) noexcept {
        std::swap(number_, other.number_);
        return *this;
    }

    int number() const { return number_; }
    explicit operator bool() const { return number_ >= 0; }

private:
    int number_;
};

/// Whose files and folders are opened.
enum class Writers : std::uint8_t {
    Trusted, ///< me and root alone
    Anybody, ///< what is read is believed for another reason
};

/// A folder that only such writers may write, not a symbolic link, below
/// folders where nobody else can put another one in its place; closed
/// otherwise. `make`: created with its parents, mode 0700.
Descriptor open_folder(const std::string& path, Writers writers, bool make);

/// Exactly `size` bytes and then the end; none otherwise.
std::optional<std::vector<std::byte>> read_all(const Descriptor& file,
                                               std::size_t size);

/// A regular file of such writers, read whole and once.
struct FileRead {
    std::optional<std::vector<std::byte>> bytes;
    bool absent = false;
};
/// `mark_used`: its times become now, where that is allowed.
FileRead read_file(const Descriptor& folder, const std::string& name,
                   Writers writers, bool mark_used);

/// Writes a temporary file, syncs it and renames it to `name`. False, with
/// nothing left behind, where any of that fails.
bool publish_file(const Descriptor& folder, const std::string& name,
                  std::span<const std::byte> bytes);

struct FileNote {
    std::string name;
    std::int64_t bytes = 0;
    std::timespec used{};
    bool temporary = false; ///< left by publish_file
};
/// The regular files in the folder.
std::vector<FileNote> list_files(const Descriptor& folder);
bool remove_file(const Descriptor& folder, const std::string& name);

} // namespace tilefold
