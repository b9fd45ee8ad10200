// runtime/cache/key_file.cpp - see key_file.h. What is wrong is an error, not a
// miss: who asked for signatures must not go without.

#include "runtime/cache/key_file.h"

#include "formulas/diagnostic.h"
#include "runtime/cache/disk_file.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>

namespace tilefold {
namespace {

constexpr off_t least_bytes = 32;
constexpr off_t most_bytes = 4096;

[[noreturn]] void refuse_file(const std::string& path, const std::string& why) {
    fail(Code::BadOption,
         {"cache_key_file", "'" + path + "': " + why,
          "make one by head -c 32 /dev/urandom > FILE; chmod 600 FILE"});
}

} // namespace

SigningKey read_key_file(const std::string& path) {
    // Without blocking: nobody may write to a pipe of that name.
    const Descriptor file(
        open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
    struct stat status{};
    if (!file || fstat(file.number(), &status) != 0)
        refuse_file(path, std::strerror(errno));
    if (!S_ISREG(status.st_mode))
        refuse_file(path, "it is no regular file");
    if (!is_mine(status))
        refuse_file(path, "it belongs to another user");
    if (status.st_mode & (S_IRWXG | S_IRWXO))
        refuse_file(path, "others may read or write it");
    if (status.st_size < least_bytes || status.st_size > most_bytes)
        refuse_file(path, "it has " + std::to_string(status.st_size) +
                              " bytes, where 32 to 4096 are taken");
    const auto bytes = read_all(file, std::size_t(status.st_size));
    if (!bytes)
        refuse_file(path, "it cannot be read");
    return SigningKey(*bytes);
}

} // namespace tilefold
