// runtime/system/macos/process.cpp - see system.h.

#include "runtime/system/system.h"

#include <cstdlib>
#include <dlfcn.h>
#include <unistd.h>

namespace tilefold::system {

std::string path_of_code(const void* address) {
    Dl_info info{};
    return dladdr(address, &info) != 0 && info.dli_fname ? info.dli_fname : "";
}

const char* environment_variable(const char* name) {
    return issetugid() ? nullptr : std::getenv(name);
}

/// There is no sigtimedwait: of signals that are pending, sigwait takes one
/// without waiting.
void discard_pending(const sigset_t& blocked) {
    for (int signal = 1; signal < NSIG; ++signal) {
        sigset_t pending, one;
        sigemptyset(&one);
        sigaddset(&one, signal);
        if (sigismember(&blocked, signal) == 1 && sigpending(&pending) == 0 &&
            sigismember(&pending, signal) == 1)
            sigwait(&one, &signal);
    }
}

} // namespace tilefold::system
