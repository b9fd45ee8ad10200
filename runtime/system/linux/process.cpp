// runtime/system/linux/process.cpp - see system.h.

#include "runtime/system/system.h"

#include <cstdlib>
#include <dlfcn.h>
#include <filesystem>
#include <link.h>
#include <system_error>

namespace tilefold::system {

std::string path_of_code(const void* address) {
    Dl_info info{};
    link_map* map = nullptr;
    dladdr1(address, &info, reinterpret_cast<void**>(&map), RTLD_DL_LINKMAP);
    if (map && *map->l_name)
        return map->l_name;
    std::error_code error; // the program itself has no name in the map
    return std::filesystem::read_symlink("/proc/self/exe", error).string();
}

const char* environment_variable(const char* name) {
    return secure_getenv(name);
}

void discard_pending(const sigset_t& blocked) {
    const std::timespec now{};
    while (sigtimedwait(&blocked, nullptr, &now) > 0) {
    }
}

} // namespace tilefold::system
