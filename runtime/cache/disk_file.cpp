// runtime/cache/disk_file.cpp - see disk_file.h. No function here throws or
// leaves a temporary behind; only a killed process does, and its is swept
// later.

#include "runtime/cache/disk_file.h"

#include "runtime/core/write_all.h"
#include "runtime/system/system.h"

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <dirent.h>
#include <fcntl.h>
#include <filesystem>
#include <functional>
#include <memory>
#include <string_view>
#include <sys/random.h>
#include <sys/stat.h>
#include <system_error>
#include <thread>
#include <unistd.h>

namespace tilefold {
namespace {

constexpr std::string_view temporary_prefix = ".tmp-";
/// No kernel comes near; a larger file is none of ours.
constexpr std::int64_t most_file_bytes = std::int64_t(256) << 20;
/// A use is recorded at most this often: the cap needs no more, and network
/// homes are spared.
constexpr std::time_t seconds_between_marks = 60;

bool trusted(const struct stat& status) {
    return is_mine(status) && (status.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

void mark_as_used(int file, const struct stat& status) {
    std::timespec now{};
    clock_gettime(CLOCK_REALTIME, &now);
    if (now.tv_sec - system::modified(status).tv_sec > seconds_between_marks)
        static_cast<void>(futimens(file, nullptr));
}

/// Beyond a file size limit the system sends SIGXFSZ, which kills. While it
/// lives, the write fails instead.
class FileSizeSignalBlocked {
public:
    FileSizeSignalBlocked() {
        sigemptyset(&signal_);
        sigaddset(&signal_, SIGXFSZ);
        pthread_sigmask(SIG_BLOCK, &signal_, &saved_);
    }
    ~FileSizeSignalBlocked() {
        if (sigismember(&saved_, SIGXFSZ) == 0)
            system::discard_pending(signal_);
        pthread_sigmask(SIG_SETMASK, &saved_, nullptr);
    }

private:
    sigset_t signal_;
    sigset_t saved_;
};

std::string temporary_name() {
    std::timespec now{};
    clock_gettime(CLOCK_REALTIME, &now); // where there are no random numbers
    const auto thread =
        std::hash<std::thread::id>()(std::this_thread::get_id());
    auto number = std::uint64_t(now.tv_nsec) ^ std::uint64_t(thread) << 32;
    static_cast<void>(getentropy(&number, sizeof number) == 0);
    char text[64];
    std::snprintf(text, sizeof text, "%s%ld-%016llx", temporary_prefix.data(),
                  static_cast<long>(getpid()),
                  static_cast<unsigned long long>(number));
    return text;
}

/// Whether nobody else can put another folder in the place of `path`: each one
/// above it is mine or root's, and what others may write to keeps what is not
/// theirs (the sticky bit, as /tmp has).
bool parents_trusted(const std::string& path) {
    std::error_code error;
    std::filesystem::path at = std::filesystem::canonical(path, error);
    while (!error && at.has_relative_path()) {
        at = at.parent_path();
        struct stat status{};
        if (stat(at.c_str(), &status) != 0 ||
            !(trusted(status) ||
              (is_mine(status) && (status.st_mode & S_ISVTX))))
            return false;
    }
    return !error;
}

/// Creates `path` and its parents; errors show when it is opened.
void make_folders(const std::string& path) {
    for (std::size_t at = path.find('/', 1); at != std::string::npos;
         at = path.find('/', at + 1))
        mkdir(path.substr(0, at).c_str(), 0700);
    mkdir(path.c_str(), 0700);
}

} // namespace

bool is_mine(const struct stat& status) {
    return status.st_uid == geteuid() || status.st_uid == 0;
}

Descriptor::~Descriptor() {
    if (number_ >= 0)
        close(number_);
}

std::optional<std::vector<std::byte>> read_all(const Descriptor& file,
                                               std::size_t size) {
    std::vector<std::byte> bytes(size + 1);
    std::size_t have = 0;
    while (have < bytes.size()) {
        ssize_t got =
            read(file.number(), bytes.data() + have, bytes.size() - have);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return std::nullopt;
        if (got == 0)
            break;
        have += std::size_t(got);
    }
    if (have != size)
        return std::nullopt;
    bytes.resize(size);
    return bytes;
}

Descriptor open_folder(const std::string& path, Writers writers, bool make) {
    if (path.empty())
        return Descriptor();
    if (make)
        make_folders(path);
    Descriptor folder(
        open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    struct stat status{};
    if (!folder || fstat(folder.number(), &status) != 0)
        return Descriptor();
    if (writers == Writers::Trusted &&
        !(trusted(status) && parents_trusted(path)))
        return Descriptor();
    return folder;
}

FileRead read_file(const Descriptor& folder, const std::string& name,
                   Writers writers, bool mark_used) {
    // The file is opened without blocking: a pipe of that name must not stop
    // us.
    Descriptor file(openat(folder.number(), name.c_str(),
                           O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    if (!file)
        return {std::nullopt, errno == ENOENT};
    struct stat status{};
    if (fstat(file.number(), &status) != 0 || !S_ISREG(status.st_mode) ||
        status.st_size > most_file_bytes ||
        (writers == Writers::Trusted && !trusted(status)))
        return {};
    auto bytes = read_all(file, std::size_t(status.st_size));
    if (bytes && mark_used)
        mark_as_used(file.number(), status);
    return {std::move(bytes), false};
}

bool publish_file(const Descriptor& folder, const std::string& name,
                  std::span<const std::byte> bytes) {
    std::string temporary = temporary_name();
    Descriptor file(openat(folder.number(), temporary.c_str(),
                           O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                           0600));
    if (!file)
        return false;
    bool written = false;
    {
        FileSizeSignalBlocked blocked;
        written = write_all(file.number(), bytes) && fsync(file.number()) == 0;
    }
    if (written && renameat(folder.number(), temporary.c_str(), folder.number(),
                            name.c_str()) == 0)
        return true;
    remove_file(folder, temporary);
    return false;
}

std::vector<FileNote> list_files(const Descriptor& folder) {
    std::vector<FileNote> files;
    // A descriptor of its own: closedir() closes it.
    int again =
        openat(folder.number(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    std::unique_ptr<DIR, int (*)(DIR*)> stream(
        again < 0 ? nullptr : fdopendir(again), closedir);
    if (!stream)
        return files;
    while (const dirent* entry = readdir(stream.get())) {
        std::string name = entry->d_name;
        struct stat status{};
        if (fstatat(folder.number(), name.c_str(), &status,
                    AT_SYMLINK_NOFOLLOW) == 0 &&
            S_ISREG(status.st_mode))
            files.push_back({name, status.st_size, system::modified(status),
                             name.starts_with(temporary_prefix)});
    }
    return files;
}

bool remove_file(const Descriptor& folder, const std::string& name) {
    return unlinkat(folder.number(), name.c_str(), 0) == 0;
}

} // namespace tilefold
