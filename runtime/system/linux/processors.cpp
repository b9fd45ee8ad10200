// runtime/system/linux/processors.cpp - the processors that this process may
// use, and those that its threads are on.

#include "runtime/system/system.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sched.h>
#include <string>
#include <thread>
#include <vector>

namespace tilefold::system {
namespace {

int processors_by_affinity() {
    // The kernel may know of more processors than cpu_set_t has room for.
    for (std::size_t room = CPU_SETSIZE; room <= (1u << 18); room *= 2) {
        std::vector<cpu_set_t> set(room / CPU_SETSIZE);
        std::size_t bytes = set.size() * sizeof(cpu_set_t);
        if (sched_getaffinity(0, bytes, set.data()) == 0)
            return CPU_COUNT_S(bytes, set.data());
    }
    return int(std::thread::hardware_concurrency());
}

/// "200000 100000": processors, or infinity for "max" or no such file.
double quota_of(const std::string& folder) {
    std::ifstream file(folder + "/cpu.max");
    std::string quota;
    double period = 0;
    if (!(file >> quota >> period) || quota == "max" || period <= 0)
        return INFINITY;
    return std::strtod(quota.c_str(), nullptr) / period;
}

/// The older hierarchy, where it is mounted in the usual place.
double quota_of_version_1() {
    std::ifstream quota_file("/sys/fs/cgroup/cpu/cpu.cfs_quota_us");
    std::ifstream period_file("/sys/fs/cgroup/cpu/cpu.cfs_period_us");
    double quota = 0, period = 0;
    if (!(quota_file >> quota) || !(period_file >> period) || quota <= 0 ||
        period <= 0)
        return INFINITY;
    return quota / period;
}

/// The least quota of our control group and those above it.
double processors_by_quota() {
    const std::string root = "/sys/fs/cgroup";
    std::string path;
    std::ifstream groups("/proc/self/cgroup");
    for (std::string line; std::getline(groups, line);)
        if (line.starts_with("0::"))
            path = line.substr(3);
    double least = std::min(quota_of(root), quota_of_version_1());
    for (; path.size() > 1; path.erase(path.rfind('/')))
        least = std::min(least, quota_of(root + path));
    return least;
}

} // namespace

int usable_processors() {
    double quota = std::ceil(processors_by_quota());
    int processors = processors_by_affinity();
    return std::max(quota < processors ? int(quota) : processors, 1);
}

/// MIDR_EL1 of AArch64, which says implementer, part, variant and revision. An
/// x86 processor is asked itself.
std::string processor_name() {
    std::ifstream file(
        "/sys/devices/system/cpu/cpu0/regs/identification/midr_el1");
    std::string word;
    if (!(file >> word))
        return {};
    const auto bits = std::strtoull(word.c_str(), nullptr, 16);
    const auto field = [&](int first, int count) {
        return unsigned(bits >> first & ((1ull << count) - 1));
    };
    char text[64];
    std::snprintf(text, sizeof text, "%02x/%03x/r%up%u", field(24, 8),
                  field(4, 12), field(20, 4), field(0, 4));
    return text;
}

int current_processor() {
    return sched_getcpu();
}

void leave_processor(int processor) {
    cpu_set_t all;
    if (sched_getcpu() != processor || sched_getaffinity(0, sizeof all, &all))
        return;
    cpu_set_t others = all;
    CPU_CLR(processor, &others);
    if (CPU_COUNT(&others) > 0 && !sched_setaffinity(0, sizeof others, &others))
        sched_setaffinity(0, sizeof all, &all);
}

} // namespace tilefold::system
