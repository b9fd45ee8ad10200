// tests/runtime/test_options.cpp - settings come from the caller, then the
// environment, then the machine.

#include "tests/runtime/child.h"
#include "tests/runtime/temporary_folder.h"

#include "runtime/cpu/environment.h"
#include "runtime/cpu/isa.h"
#include "runtime/cpu/thread_limit.h"
#include "runtime/schedule/thread_pool.h"
#include "runtime/system/system.h"

#include "formulas/diagnostic.h"

#include <cstdlib>
#include <filesystem>
#include <gtest/gtest.h>
#include <map>
#include <sched.h>
#include <string>
#include <sys/auxv.h>
#include <unistd.h>
#include <utility>

namespace tilefold::test {
namespace {

/// Sets or unsets a variable; what it was comes back.
class Environment {
public:
    void set(const std::string& name, const char* value) {
        if (!before_.contains(name)) {
            const char* now = std::getenv(name.c_str());
            before_[name] =
                now ? std::optional<std::string>(now) : std::nullopt;
        }
        if (value)
            setenv(name.c_str(), value, 1);
        else
            unsetenv(name.c_str());
    }
    ~Environment() {
        for (auto& [name, value] : before_)
            value ? setenv(name.c_str(), value->c_str(), 1)
                  : unsetenv(name.c_str());
    }

private:
    std::map<std::string, std::optional<std::string>> before_;
};

class OptionsTest : public testing::Test {
protected:
    OptionsTest() {
        for (const char* name :
             {"OMP_NUM_THREADS", "TILEFOLD_NUM_THREADS", "TILEFOLD_CACHE_DIR",
              "TILEFOLD_CACHE_SIZE", "TILEFOLD_ISA", "TILEFOLD_LOG",
              "TILEFOLD_PERF_MAP", "TILEFOLD_CUDA_DRIVER", "TILEFOLD_NVRTC",
              "TILEFOLD_TOLERANCE", "TILEFOLD_DEVICES", "TILEFOLD_DEVICE_BYTES",
              "CONDA_PREFIX", "CUDA_HOME", "CUDA_PATH", "XDG_CACHE_HOME"})
            environment.set(name, nullptr);
        environment.set("HOME", "/home/somebody");
    }
    Environment environment;
};

TEST_F(OptionsTest, SayWhereLibrariesForGpusAre) {
    environment.set("TILEFOLD_CUDA_DRIVER", "/a/libcuda.so");
    environment.set("TILEFOLD_NVRTC", "/b/libnvrtc.so");
    environment.set("CONDA_PREFIX", "/conda");
    environment.set("CUDA_HOME", "/cuda");
    const Options options = resolve({});
    EXPECT_EQ(options.cuda_driver, "/a/libcuda.so");
    EXPECT_EQ(options.nvrtc, "/b/libnvrtc.so");
    Options given;
    given.cuda_driver = "mine.so";
    EXPECT_EQ(resolve(given).cuda_driver, "mine.so");
    const std::vector<std::string> folders = {"/conda/lib", "/cuda/lib64"};
    EXPECT_EQ(library_folders(), folders);
}

TEST_F(OptionsTest, NameDevices) {
    const std::vector<int> none, one = {0}, two = {3, 11}, all = {every_device};
    EXPECT_EQ(parse_devices(""), none);
    EXPECT_EQ(parse_devices("cuda:0"), one);
    EXPECT_EQ(parse_devices("cuda:3,cuda:11"), two);
    EXPECT_EQ(parse_devices("cuda"), all);
    for (const char* text : {"gpu", "cuda:", "cuda:-1", "cuda:1,", ",cuda:1",
                             "cuda:1,cuda:1", "cuda,cuda:1", "cuda:1x"})
        EXPECT_THROW(parse_devices(text), Error) << text;
}

TEST_F(OptionsTest, AreSpelledInOneWay) {
    Options given;
    given.plan = "  " + print(Plan{});
    given.isa = "x86-64-v4";
    const Options options = resolve(given);
    EXPECT_EQ(options.plan, print(Plan{}));
    EXPECT_EQ(options.isa, "x86-64-v4");
    for (auto text : {&Options::isa, &Options::plan, &Options::devices}) {
        Options bad;
        bad.*text = "none of these";
        EXPECT_THROW(normalised(bad), Error);
        EXPECT_THROW(resolve(bad), Error);
    }
}

TEST_F(OptionsTest, HaveDefaults) {
    Options options = resolve({});
    EXPECT_EQ(options.threads, system::usable_processors());
    EXPECT_EQ(options.cache_directory, "/home/somebody/.cache/tilefold");
    EXPECT_EQ(options.cache_size, std::int64_t(1) << 30);
    EXPECT_EQ(options.cache_key_file, "");
    EXPECT_EQ(options.isa, spelling_of(*cpu::host_isa()));
    EXPECT_EQ(options.log, false);
    EXPECT_EQ(options.cuda_driver, "libcuda.so.1");
    EXPECT_EQ(options.nvrtc, std::nullopt);
    EXPECT_EQ(options.tolerance, 0);
    EXPECT_EQ(options.devices, "");
    EXPECT_EQ(options.segment, std::nullopt);
    EXPECT_EQ(options.device_bytes, std::int64_t(256) << 20);
    EXPECT_TRUE(library_folders().empty());
    EXPECT_FALSE(perf_map_wanted());
}

TEST_F(OptionsTest, ComeFromTheEnvironment) {
    environment.set("TILEFOLD_NUM_THREADS", "5");
    environment.set("TILEFOLD_CACHE_DIR", "/somewhere");
    environment.set("TILEFOLD_CACHE_SIZE", "1000");
    environment.set("TILEFOLD_CACHE_KEY_FILE", "~/secret");
    environment.set("TILEFOLD_ISA", "x86-64-v3");
    environment.set("TILEFOLD_LOG", "1");
    environment.set("TILEFOLD_PERF_MAP", "1");
    environment.set("TILEFOLD_TOLERANCE", "1e-5");
    environment.set("TILEFOLD_DEVICES", "cuda:1,cuda:0");
    environment.set("TILEFOLD_DEVICE_BYTES", "70000");
    Options options = resolve({});
    EXPECT_EQ(options.threads, 5);
    EXPECT_EQ(options.cache_directory, "/somewhere");
    EXPECT_EQ(options.cache_size, 1000);
    EXPECT_EQ(options.cache_key_file, "/home/somebody/secret");
    EXPECT_EQ(options.isa, "x86-64-v3");
    EXPECT_EQ(options.log, true);
    EXPECT_EQ(options.tolerance, 1e-5);
    EXPECT_EQ(options.devices, "cuda:1,cuda:0");
    EXPECT_EQ(options.device_bytes, 70000);
    EXPECT_TRUE(perf_map_wanted());
}

TEST_F(OptionsTest, ThreadsAreAShareOfTheProcessors) {
    const int all = system::usable_processors();
    for (const auto& [text, threads] :
         {std::pair("1", 1), std::pair(" 1,4", 1), std::pair("100000", all),
          std::pair("", all), std::pair("0", all), std::pair("-2", all),
          std::pair("many", all), std::pair("  ", all)}) {
        environment.set("OMP_NUM_THREADS", text);
        EXPECT_EQ(resolve({}).threads, threads) << text;
        EXPECT_EQ(default_threads(), threads) << text;
    }
    environment.set("OMP_NUM_THREADS", "1");
    environment.set("TILEFOLD_NUM_THREADS", "5");
    EXPECT_EQ(default_threads(), 5);
    EXPECT_EQ(usual_threads(), 5);
}

TEST_F(OptionsTest, ThreadsOfAllSessionsHaveALimit) {
    environment.set("TILEFOLD_NUM_THREADS", "4");
    ThreadPool pool(8);
    EXPECT_EQ(pool.threads(), 8);
    set_thread_limit(3);
    EXPECT_EQ(usual_threads(), 3);
    EXPECT_EQ(pool.threads(), 3);
    set_thread_limit(0);
    EXPECT_EQ(pool.threads(), 1);
    set_thread_limit(4); // as many as there are without
    EXPECT_EQ(pool.threads(), 8);
    environment.set("TILEFOLD_NUM_THREADS", "none");
    EXPECT_EQ(usual_threads(), system::usable_processors());
}

TEST_F(OptionsTest, OfTheCallerGoFirst) {
    environment.set("TILEFOLD_NUM_THREADS", "5");
    environment.set("TILEFOLD_CACHE_DIR", "/somewhere");
    Options given;
    given.threads = 3;
    given.cache_directory = "";
    Options options = resolve(given);
    EXPECT_EQ(options.threads, 3);
    EXPECT_EQ(options.cache_directory, "");
    environment.set("TILEFOLD_TOLERANCE", "1e-5");
    given.tolerance = 0;
    EXPECT_EQ(resolve(given).tolerance, 0);
}

TEST_F(OptionsTest, CacheFollowsXdgAndDoesWithoutAHome) {
    environment.set("XDG_CACHE_HOME", "/x");
    EXPECT_EQ(resolve({}).cache_directory, "/x/tilefold");
    environment.set("XDG_CACHE_HOME", "relative"); // to be ignored, says XDG
    EXPECT_EQ(resolve({}).cache_directory, "/home/somebody/.cache/tilefold");
    environment.set("HOME", nullptr);
    EXPECT_EQ(resolve({}).cache_directory, "");
    environment.set("TILEFOLD_CACHE_DIR", "");
    EXPECT_EQ(resolve({}).cache_directory, "");
}

/// This program once more, set-uid of root and started by nobody.
int run_set_uid(const char* test) {
    namespace fs = std::filesystem;
    const TemporaryFolder folder;
    fs::permissions(folder.path(), fs::perms(0755));
    const fs::path program = folder.path() / "set_uid";
    fs::copy_file("/proc/self/exe", program);
    fs::permissions(program, fs::perms(04755));
    return in_child([&] {
        constexpr int nobody = 65534;
        setenv("TILEFOLD_TEST_IS_SET_UID", "1", 1);
        if (setgid(nobody) != 0 || setuid(nobody) != 0 || chdir("/") != 0)
            return 98;
        execl(program.c_str(), program.c_str(),
              ("--gtest_filter=" + std::string(test)).c_str(), nullptr);
        return 97;
    });
}

TEST_F(OptionsTest, ASetUidProgramReadsNoVariables) {
    if (std::getenv("TILEFOLD_TEST_IS_SET_UID")) {
        ASSERT_NE(getauxval(AT_SECURE), 0u);
        environment.set("TILEFOLD_CACHE_DIR", "/chosen/by/others");
        environment.set("TILEFOLD_CACHE_KEY_FILE", "/chosen/by/others.key");
        environment.set("TILEFOLD_CUDA_DRIVER", "/chosen/by/others.so");
        environment.set("TILEFOLD_NVRTC", "/chosen/by/others.so");
        const Options options = resolve({});
        EXPECT_EQ(options.cache_directory, "");
        EXPECT_EQ(options.cache_key_file, "");
        EXPECT_EQ(options.cuda_driver, "libcuda.so.1");
        EXPECT_EQ(options.nvrtc.value_or(""), "");
        return;
    }
    if (geteuid() != 0)
        GTEST_SKIP() << "needs root";
    EXPECT_EQ(run_set_uid("OptionsTest.ASetUidProgramReadsNoVariables"), 0);
}

TEST_F(OptionsTest, PathsMayBeAtHome) {
    environment.set("TILEFOLD_CACHE_DIR", "~/kept");
    environment.set("TILEFOLD_CUDA_DRIVER", "~/libcuda.so");
    environment.set("TILEFOLD_NVRTC", "~/libnvrtc.so");
    Options options = resolve({});
    EXPECT_EQ(options.cache_directory, "/home/somebody/kept");
    EXPECT_EQ(options.cuda_driver, "/home/somebody/libcuda.so");
    EXPECT_EQ(options.nvrtc, "/home/somebody/libnvrtc.so");
    Options given;
    given.cache_directory = "~";
    EXPECT_EQ(resolve(given).cache_directory, "/home/somebody");
    given.cache_directory = "/a/~/b";
    EXPECT_EQ(resolve(given).cache_directory, "/a/~/b");
    given.cache_directory = "~other";
    EXPECT_EQ(resolve(given).cache_directory, "~other");
    environment.set("HOME", nullptr);
    given.cache_directory = "~/kept";
    EXPECT_EQ(resolve(given).cache_directory, "~/kept");
}

std::string message_of(const Options& given) {
    try {
        resolve(given);
        return "";
    } catch (const Error& error) {
        return error.what();
    }
}

TEST_F(OptionsTest, ThatMakeNoSenseAreNamed) {
    environment.set("TILEFOLD_NUM_THREADS", "many");
    EXPECT_EQ(message_of({}),
              "the option TILEFOLD_NUM_THREADS cannot be 'many'\n"
              "give a number of threads from 1 to 4096");
    environment.set("TILEFOLD_NUM_THREADS", nullptr);
    Options none;
    none.threads = 0;
    EXPECT_EQ(message_of(none), "the option threads cannot be 0\n"
                                "give a number of threads from 1 to 4096");
    environment.set("TILEFOLD_LOG", "yes");
    EXPECT_EQ(message_of({}),
              "the option TILEFOLD_LOG cannot be 'yes'\nset it to 0 or 1");
    environment.set("TILEFOLD_LOG", nullptr);
    environment.set("TILEFOLD_CACHE_SIZE", "1GB");
    EXPECT_EQ(message_of({}), "the option TILEFOLD_CACHE_SIZE cannot be '1GB'\n"
                              "give a number of bytes");
    environment.set("TILEFOLD_CACHE_SIZE", nullptr);
    for (const char* text : {"-1", "nan", "inf", "1e-6x", "small"}) {
        environment.set("TILEFOLD_TOLERANCE", text);
        EXPECT_EQ(message_of({}),
                  "the option TILEFOLD_TOLERANCE cannot be '" +
                      std::string(text) +
                      "'\ngive a number that is at least 0, such as 1e-6");
    }
    environment.set("TILEFOLD_TOLERANCE", nullptr);
    Options negative;
    negative.tolerance = -0.5;
    EXPECT_EQ(message_of(negative),
              "the option tolerance cannot be -0.5\n"
              "give a number that is at least 0, such as 1e-6");
    environment.set("TILEFOLD_ISA", "sparc");
    EXPECT_EQ(message_of({}),
              "unknown instruction set 'sparc'\n"
              "use one of x86-64-v3, x86-64-v4, "
              "x86-64-v4-vnni, x86-64-v4-bf16, znver4, znver5, x86-64-v4-amx, "
              "aarch64");
}

TEST_F(OptionsTest, DefaultThreadsFollowTheAffinity) {
    cpu_set_t before, one;
    ASSERT_EQ(sched_getaffinity(0, sizeof before, &before), 0);
    CPU_ZERO(&one);
    CPU_SET(0, &one);
    if (sched_setaffinity(0, sizeof one, &one) != 0)
        GTEST_SKIP() << "processor 0 is not ours";
    EXPECT_EQ(system::usable_processors(), 1);
    sched_setaffinity(0, sizeof before, &before);
}

} // namespace
} // namespace tilefold::test
