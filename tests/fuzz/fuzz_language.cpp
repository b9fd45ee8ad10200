// tests/fuzz/fuzz_language.cpp - fuzzes the parser and the compiler up to the
// key: every input is refused with a user's error or compiled, within a second.
//
//   fuzz_language --seconds 600 --seed 7     ten minutes of other inputs
//   fuzz_language --inputs 2000              so many
//   fuzz_language --seed 7 --only 1234       one input again
//
// Inputs run in a child, so that a crash, a report of a sanitizer or a hang
// has an input: the parent prints it, and the child after it goes on.
#include "tests/fuzz/target.h"

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <exception>
#include <string>
#include <string_view>

namespace tilefold::tests {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double most_seconds = 1;  // of a processor, for one input
constexpr double hang_seconds = 60; // of a clock
constexpr int most_failures = 20;

struct Settings {
    double seconds = 20;
    std::uint64_t inputs = ~std::uint64_t(0);
    std::uint64_t first = 0;
    std::uint32_t seed = 1;
};

/// Shared by parent and child.
struct Progress {
    std::atomic<std::uint64_t> input; ///< now running, or next
    std::atomic<std::uint64_t> parsed, compiled;
    std::atomic<int> failures;
};

double seconds_since(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
}

double processor_seconds() {
    timespec now{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return double(now.tv_sec) + 1e-9 * double(now.tv_nsec);
}

Input input_of(const Settings& settings, std::uint64_t number) {
    std::seed_seq words{std::uint64_t(settings.seed), number};
    Random random(words);
    return random_input(random);
}

void report(const Settings& settings, std::uint64_t number, const char* what) {
    std::printf("%s: --seed %u --only %llu\n  %s\n", what, settings.seed,
                static_cast<unsigned long long>(number),
                describe(input_of(settings, number)).c_str());
    std::fflush(stdout);
}

/// Runs one input; what it throws is a failure, as is a long time.
void run_one(const Settings& settings, std::uint64_t number,
             Progress& progress) {
    const Input input = input_of(settings, number);
    const double start = processor_seconds();
    std::string failure;
    try {
        const Reached reached = run(input);
        progress.parsed += reached != Reached::Refused;
        progress.compiled += reached == Reached::Compiled;
    } catch (const std::exception& error) {
        failure = std::string("threw ") + error.what();
    }
    const double took = processor_seconds() - start;
    if (failure.empty() && took > most_seconds)
        failure = "took " + std::to_string(took) + " s";
    if (!failure.empty()) {
        ++progress.failures;
        report(settings, number, failure.c_str());
    }
}

[[noreturn]] void run_child(const Settings& settings, Clock::time_point start,
                            Progress& progress) {
    while (progress.input < settings.inputs &&
           progress.failures < most_failures &&
           seconds_since(start) < settings.seconds) {
        run_one(settings, progress.input, progress);
        ++progress.input;
    }
    std::exit(0);
}

/// Waits for the child; kills it when one input takes too long.
int wait_for(pid_t child, const Progress& progress) {
    std::uint64_t input = progress.input;
    Clock::time_point since = Clock::now();
    for (;;) {
        int status = 0;
        if (waitpid(child, &status, WNOHANG) == child)
            return status;
        usleep(20'000);
        if (progress.input != input) {
            input = progress.input;
            since = Clock::now();
        }
        if (seconds_since(since) > hang_seconds)
            kill(child, SIGKILL);
    }
}

bool is_done(int status) {
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

int fuzz(const Settings& settings) {
    void* shared = mmap(nullptr, sizeof(Progress), PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED)
        return 2;
    Progress& progress = *new (shared) Progress{};
    progress.input = settings.first;
    const Clock::time_point start = Clock::now();
    for (;;) {
        std::fflush(stdout);
        const pid_t child = fork();
        if (child == 0)
            run_child(settings, start, progress);
        if (is_done(wait_for(child, progress)))
            break;
        ++progress.failures;
        report(settings, progress.input++, "crashed or hung");
    }
    const std::uint64_t count = progress.input - settings.first;
    std::printf("seed %u: %llu inputs, %llu parsed, %llu compiled, "
                "%d failures, %.0f s\n",
                settings.seed, static_cast<unsigned long long>(count),
                static_cast<unsigned long long>(progress.parsed),
                static_cast<unsigned long long>(progress.compiled),
                int(progress.failures), seconds_since(start));
    if (count >= 500 && progress.compiled < count / 20) {
        std::printf("too few compiled: this fuzzes little\n");
        return 1;
    }
    return progress.failures ? 1 : 0;
}

int usage() {
    std::fprintf(stderr, "usage: fuzz_language [--seconds S] [--inputs N] "
                         "[--seed S] [--only N]\n");
    return 2;
}

} // namespace
} // namespace tilefold::tests

int main(int count, char** words) {
    using namespace tilefold::tests;
    Settings settings;
    for (int k = 1; k + 1 < count; k += 2) {
        const std::string_view name = words[k];
        const char* value = words[k + 1];
        if (name == "--seconds") {
            settings.seconds = std::atof(value);
        } else if (name == "--inputs") {
            settings.inputs = std::strtoull(value, nullptr, 10);
            settings.seconds = 1e9;
        } else if (name == "--seed") {
            settings.seed = std::uint32_t(std::atol(value));
        } else if (name == "--only") {
            settings.first = std::strtoull(value, nullptr, 10);
            settings.inputs = settings.first + 1;
        } else {
            return usage();
        }
    }
    return count % 2 ? fuzz(settings) : usage();
}
