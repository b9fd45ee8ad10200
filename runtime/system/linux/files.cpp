// runtime/system/linux/files.cpp - see system.h.

#include "runtime/system/system.h"

namespace tilefold::system {

std::timespec modified(const struct stat& status) {
    return status.st_mtim;
}

} // namespace tilefold::system
