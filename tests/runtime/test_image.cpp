// tests/runtime/test_image.cpp - code in memory is run, never written, and
// goes when its last user does.

#include "tests/runtime/child.h"

#include "runtime/cache/cache.h"
#include "runtime/cpu/image.h"
#include "runtime/cpu/isa.h"
#include TILEFOLD_MACHINE_HEADER

#include "formulas/diagnostic.h"

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <future>
#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <memory>
#include <sstream>
#include <string>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <thread>
#include <unistd.h>

namespace tilefold::test {
namespace {

/// `init` writes 42 to *state.
Artifact artifact_42() {
    Artifact artifact;
    for (const std::uint8_t byte : machine::stores_42)
        artifact.code.push_back(std::byte(byte));
    artifact.entries.init = 0;
    return artifact;
}

std::int64_t run_42(const Kernel& kernel) {
    std::int64_t state = 0;
    kernel.init(nullptr, reinterpret_cast<double*>(&state), 1);
    return state;
}

/// "r-xp" of the mapping that holds `address`; empty where there is none.
std::string permissions_of(const void* address) {
    auto at = reinterpret_cast<std::size_t>(address);
    std::ifstream maps("/proc/self/maps");
    for (std::string line; std::getline(maps, line);) {
        std::istringstream words(line);
        std::size_t begin = 0, end = 0;
        char dash = 0;
        std::string permissions;
        words >> std::hex >> begin >> dash >> end >> permissions;
        if (begin <= at && at < end)
            return permissions;
    }
    return {};
}

TEST(Image, RunsAndIsNotWritable) {
    const std::byte* code = nullptr;
    {
        cpu::Image image(artifact_42());
        code = image.code();
        EXPECT_EQ(run_42(image.kernel()), 42);
        EXPECT_EQ(permissions_of(code), "r-xp");
        EXPECT_EQ(image.kernel().merge, nullptr);
    }
    EXPECT_NE(permissions_of(code), "r-xp");
}

TEST(Image, LiesBetweenPagesThatNothingMayTouch) {
    const cpu::Image image(artifact_42());
    const std::size_t page = std::size_t(sysconf(_SC_PAGESIZE));
    EXPECT_EQ(permissions_of(image.code() - 1), "---p");
    EXPECT_EQ(permissions_of(image.code() + page), "---p");
}

/// 104 images, made by eight threads.
std::vector<std::unique_ptr<cpu::Image>> many_images() {
    std::vector<std::thread> threads;
    std::vector<std::unique_ptr<cpu::Image>> images(104);
    for (std::size_t thread = 0; thread < 8; ++thread)
        threads.emplace_back([&images, thread] {
            for (std::size_t k = thread; k < images.size(); k += 8)
                images[k] = std::make_unique<cpu::Image>(artifact_42());
        });
    for (std::thread& thread : threads)
        thread.join();
    return images;
}

bool has_page_to_write_and_execute() {
    std::ifstream maps("/proc/self/maps");
    for (std::string line; std::getline(maps, line);)
        if (line.find(" rwx") != std::string::npos)
            return true;
    return false;
}

TEST(Image, NoPageIsEverWritableAndExecutable) {
    const auto images = many_images();
    EXPECT_FALSE(has_page_to_write_and_execute());
    for (const auto& image : images)
        EXPECT_EQ(run_42(image->kernel()), 42);
}

/// Memory that was written may not become executable, as systemd's
/// MemoryDenyWriteExecute and SELinux have it.
bool deny_write_then_execute() {
    constexpr int set_mdwe = 65, refuse_exec_gain = 1; // <linux/prctl.h>
    return prctl(set_mdwe, refuse_exec_gain, 0, 0, 0) == 0;
}

/// memfd_create() fails, as under a filter of a container.
bool deny_files_in_memory() {
    sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_memfd_create, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const sock_fprog program{std::size(filter), filter};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

/// Whether a descriptor of this process is a file in memory.
bool has_file_in_memory() {
    for (const auto& entry :
         std::filesystem::directory_iterator("/proc/self/fd")) {
        std::error_code closed; // that of the iterator itself
        const auto target = std::filesystem::read_symlink(entry, closed);
        if (target.string().starts_with("/memfd:"))
            return true;
    }
    return false;
}

TEST(Image, RunsWhereWhatWasWrittenMayNotBeExecuted) {
    enum Outcome { Right, Wrong, Writable, LeftOpen, Refused };
    EXPECT_EQ(in_child([] {
                  if (!deny_write_then_execute())
                      return Refused; // Linux before 6.3
                  const cpu::Image image(artifact_42());
                  if (run_42(image.kernel()) != 42)
                      return Wrong;
                  if (permissions_of(image.code()) != "r-xp" ||
                      permissions_of(image.code() - 1) != "---p")
                      return Writable;
                  const auto others = many_images();
                  if (has_page_to_write_and_execute())
                      return Writable;
                  return has_file_in_memory() ? LeftOpen : Right;
              }),
              Right);
}

TEST(Image, SaysWhatRefusesItWhereNothingWrittenMayBeExecuted) {
    EXPECT_EQ(in_child([] {
                  if (!deny_write_then_execute() || !deny_files_in_memory())
                      return 1;
                  try {
                      const cpu::Image image(artifact_42());
                      return 2;
                  } catch (const Error& error) {
                      return error.code() == Code::NoExecutableMemory ? 0 : 3;
                  }
              }),
              0);
}

TEST(Image, RefusesEntriesOutsideTheCode) {
    Artifact artifact = artifact_42();
    artifact.entries.merge = artifact.code.size();
    EXPECT_THROW(cpu::Image{artifact}, Error);
    EXPECT_THROW(cpu::Image{Artifact{}}, Error);
}

TEST(Image, IsListedForPerf) {
    cpu::Image image(artifact_42());
    cpu::write_perf_map(image, "abc");
    std::string path = "/tmp/perf-" + std::to_string(getpid()) + ".map";
    std::ifstream map(path);
    std::string address, size, name;
    map >> address >> size >> name;
    unlink(path.c_str());
    std::ostringstream expected;
    expected << std::hex << reinterpret_cast<std::size_t>(image.code());
    EXPECT_EQ(address, expected.str());
    std::ostringstream bytes;
    bytes << std::hex << sizeof machine::stores_42;
    EXPECT_EQ(size, bytes.str());
    EXPECT_EQ(name, "tilefold:abc");
}

TEST(Image, APipeInThePlaceOfTheListIsNotWaitedFor) {
    cpu::Image image(artifact_42());
    const std::string path = "/tmp/perf-" + std::to_string(getpid()) + ".map";
    ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
    cpu::write_perf_map(image, "abc");
    unlink(path.c_str());
}

TEST(Isa, ThisMachineRunsTheBestItReports) {
    ASSERT_TRUE(cpu::host_isa());
    EXPECT_TRUE(cpu::runs(*cpu::host_isa()));
    EXPECT_TRUE(cpu::runs(cpu::least_isa()));
}

TEST(Isa, OfAmdFamilies25And26WhatHasAvx512IsAZen4Or5) {
    const auto is_of = [](const char* family) {
        return cpu::processor().starts_with(family) &&
               cpu::runs(Isa::X86_64_V4);
    };
    EXPECT_EQ(*cpu::host_isa() == Isa::Zen4, is_of("AuthenticAMD 25/"));
    EXPECT_EQ(*cpu::host_isa() == Isa::Zen5, is_of("AuthenticAMD 26/"));
}

Key key_of(std::uint64_t number) {
    return {{number, ~number}};
}

TEST(KernelCache, AKeyIsMadeOnceHoweverManyAsk) {
    KernelCache<LoadedKernel> cache;
    std::atomic<int> made = 0, found = 0;
    std::vector<std::thread> threads;
    for (int k = 0; k < 8; ++k)
        threads.emplace_back([&] {
            auto got = cache.get(key_of(1), [&] {
                ++made;
                std::this_thread::sleep_for(std::chrono::milliseconds(20));
                return std::make_shared<LoadedKernel>(artifact_42());
            });
            found += got.was_there;
            EXPECT_EQ(run_42(got.kernel->image.kernel()), 42);
        });
    for (std::thread& thread : threads)
        thread.join();
    EXPECT_EQ(made, 1);
    EXPECT_EQ(found, 7);
}

TEST(KernelCache, AFailureReachesTheCallerAndIsForgotten) {
    KernelCache<LoadedKernel> cache;
    auto fails = []() -> KernelPointer { throw std::range_error("no"); };
    EXPECT_THROW(cache.get(key_of(1), fails), std::range_error);
    EXPECT_THROW(cache.get(key_of(1), fails), std::range_error);
    auto make = [] { return std::make_shared<LoadedKernel>(artifact_42()); };
    EXPECT_FALSE(cache.get(key_of(1), make).was_there);
    EXPECT_TRUE(cache.get(key_of(1), make).was_there);
}

/// Joined once more, by a thread that waits as long as `goes_on` says.
std::string waited(KernelCache<LoadedKernel>& cache, const GoesOn& goes_on) {
    const auto [making, is_new] = cache.join(key_of(1));
    EXPECT_FALSE(is_new);
    try {
        return run_42(
                   cache.wait(key_of(1), *making, goes_on)->image.kernel()) ==
                       42
                   ? "42"
                   : "wrong";
    } catch (const Error& error) {
        return std::string(error.code_name());
    }
}

TEST(KernelCache, WhoeverLeavesTakesNothingFromThoseWhoWait) {
    KernelCache<LoadedKernel> cache;
    const auto [making, is_new] = cache.join(key_of(1));
    ASSERT_TRUE(is_new);
    const auto leaves = [] { return false; };
    auto patient = std::async(
        std::launch::async, [&] { return waited(cache, [] { return true; }); });
    EXPECT_EQ(waited(cache, leaves), "Cancelled");
    EXPECT_FALSE(making->is_abandoned());
    cache.make(key_of(1), *making,
               [] { return std::make_shared<LoadedKernel>(artifact_42()); });
    EXPECT_EQ(patient.get(), "42");
    EXPECT_EQ(waited(cache, leaves), "42"); // it is there
}

TEST(KernelCache, WhatNobodyWaitsForIsMadeAnew) {
    KernelCache<LoadedKernel> cache;
    const auto first = cache.join(key_of(1));
    EXPECT_THROW(cache.wait(key_of(1), *first.making, [] { return false; }),
                 Error);
    EXPECT_TRUE(first.making->is_abandoned());
    const auto second = cache.join(key_of(1));
    EXPECT_TRUE(second.is_new);
    // The first one ends late, and changes nothing.
    cache.make(key_of(1), *first.making,
               []() -> KernelPointer { throw std::range_error("abandoned"); });
    cache.make(key_of(1), *second.making,
               [] { return std::make_shared<LoadedKernel>(artifact_42()); });
    EXPECT_EQ(waited(cache, {}), "42");
}

TEST(KernelCache, OldKernelsGoUnlessTheyAreHeld) {
    KernelCache<LoadedKernel> cache;
    auto make = [] { return std::make_shared<LoadedKernel>(artifact_42()); };
    KernelPointer held = cache.get(key_of(0), make).kernel;
    std::weak_ptr<const LoadedKernel> dropped =
        cache.get(key_of(1), make).kernel;
    for (std::size_t k = 2; k < KernelCache<LoadedKernel>::most + 2; ++k)
        cache.get(key_of(k), make);
    EXPECT_TRUE(dropped.expired());
    EXPECT_EQ(run_42(held->image.kernel()), 42);
    EXPECT_FALSE(cache.get(key_of(0), make).was_there);
}

} // namespace
} // namespace tilefold::test
