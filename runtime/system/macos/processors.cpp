// runtime/system/macos/processors.cpp - what sysctl says of the processors.

#include "runtime/system/system.h"

#include <algorithm>
#include <cstdint>
#include <sys/sysctl.h>
#include <thread>

namespace tilefold::system {

/// The fast ones alone, as PyTorch and OpenBLAS count them: a piece of work
/// takes several times as long on the others, and a call ends with its last.
int usable_processors() {
    std::int32_t fast = 0;
    std::size_t bytes = sizeof fast;
    if (sysctlbyname("hw.perflevel0.physicalcpu", &fast, &bytes, nullptr, 0) !=
            0 ||
        fast < 1)
        fast = std::int32_t(std::thread::hardware_concurrency());
    return std::max(int(fast), 1);
}

std::string processor_name() {
    char name[128];
    std::size_t bytes = sizeof name;
    if (sysctlbyname("machdep.cpu.brand_string", name, &bytes, nullptr, 0) !=
            0 ||
        bytes == 0)
        return {};
    return {name, bytes - 1}; // without the zero at its end
}

// A thread's processor is the system's affair alone.

int current_processor() {
    return -1;
}

void leave_processor(int) {}

} // namespace tilefold::system
