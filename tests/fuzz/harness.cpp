// tests/fuzz/harness.cpp - a child that runs inputs, and a parent that watches.
#include "tests/fuzz/harness.h"

#include <CLI/CLI.hpp>
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
#include <fstream>

namespace tilefold::tests {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double hang_seconds = 60; // of a clock
constexpr int most_failures = 20;
constexpr std::uint64_t no_limit = ~std::uint64_t(0);

struct Settings {
    double seconds = 20;
    std::uint64_t inputs = no_limit;
    std::uint64_t first = 0;
    std::uint32_t seed = 1;
};

/// Shared by parent and child.
struct Progress {
    std::atomic<std::uint64_t> input; ///< now running, or next
    std::atomic<std::uint64_t> half, end;
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

/// From here on the peak is that of what follows.
void forget_peak() {
    std::ofstream("/proc/self/clear_refs") << 5;
}

/// A line of /proc/self/status, such as "VmHWM", in megabytes.
double megabytes(const std::string& name) {
    std::ifstream file("/proc/self/status");
    for (std::string word; file >> word;)
        if (double kilobytes = 0; word == name + ":" && file >> kilobytes)
            return kilobytes / 1024;
    return 0;
}

class Fuzzer {
public:
    Fuzzer(const Target& target, const Settings& settings)
        : target_(target), settings_(settings) {}

    int run() {
        void* shared = mmap(nullptr, sizeof(Progress), PROT_READ | PROT_WRITE,
                            MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        if (shared == MAP_FAILED)
            return 2;
        progress_ = new (shared) Progress{};
        progress_->input = settings_.first;
        for (;;) {
            std::fflush(stdout);
            const pid_t child = fork();
            if (child == 0)
                run_child();
            if (is_done(wait_for(child)))
                break;
            ++progress_->failures;
            report(progress_->input++, "crashed or hung");
        }
        return summary();
    }

private:
    Random numbers(std::uint64_t input) const {
        std::seed_seq words{std::uint64_t(settings_.seed), input};
        return Random(words);
    }

    void report(std::uint64_t input, const std::string& what) const {
        Random random = numbers(input);
        std::printf("%s: --seed %u --only %llu\n  %s\n", what.c_str(),
                    settings_.seed, static_cast<unsigned long long>(input),
                    target_.describe(random).c_str());
        std::fflush(stdout);
    }

    /// What is wrong with a run: what it throws, a long time, much memory.
    std::string failure_of(std::uint64_t input) const {
        Random random = numbers(input);
        forget_peak();
        const double before = megabytes("VmRSS");
        const double start = processor_seconds();
        try {
            const Reached reached = target_.run(random);
            progress_->half += reached != Reached::Refused;
            progress_->end += reached == Reached::End;
        } catch (const std::exception& error) {
            return std::string("threw ") + error.what();
        }
        const double took = processor_seconds() - start;
        if (took > target_.most_seconds)
            return "took " + std::to_string(took) + " s";
        const double grew = megabytes("VmHWM") - before;
        if (grew > target_.most_megabytes)
            return "took " + std::to_string(grew) + " MB";
        return "";
    }

    [[noreturn]] void run_child() const {
        const Clock::time_point start = start_;
        while (progress_->input < settings_.inputs &&
               progress_->failures < most_failures &&
               seconds_since(start) < settings_.seconds) {
            const std::uint64_t input = progress_->input;
            if (const std::string what = failure_of(input); !what.empty()) {
                ++progress_->failures;
                report(input, what);
            }
            ++progress_->input;
        }
        std::exit(0);
    }

    /// Waits for the child; kills it when one input takes too long.
    int wait_for(pid_t child) const {
        std::uint64_t input = progress_->input;
        Clock::time_point since = Clock::now();
        for (;;) {
            int status = 0;
            if (waitpid(child, &status, WNOHANG) == child)
                return status;
            usleep(20'000);
            if (progress_->input != input) {
                input = progress_->input;
                since = Clock::now();
            }
            if (seconds_since(since) > hang_seconds)
                kill(child, SIGKILL);
        }
    }

    static bool is_done(int status) {
        return WIFEXITED(status) && WEXITSTATUS(status) == 0;
    }

    int summary() const {
        const std::uint64_t count = progress_->input - settings_.first;
        std::printf(
            "seed %u: %llu inputs, %llu %s, %llu %s, %d failures, "
            "%.0f s\n",
            settings_.seed, static_cast<unsigned long long>(count),
            static_cast<unsigned long long>(progress_->half), target_.half,
            static_cast<unsigned long long>(progress_->end), target_.end,
            int(progress_->failures), seconds_since(start_));
        if (count >= 500 &&
            double(progress_->end) < double(count) * target_.least_at_end) {
            std::printf("too few %s: this fuzzes little\n", target_.end);
            return 1;
        }
        return progress_->failures ? 1 : 0;
    }

    const Target& target_;
    const Settings settings_;
    const Clock::time_point start_ = Clock::now();
    Progress* progress_ = nullptr;
};

} // namespace

int fuzz(const Target& target, int count, char** words) {
    Settings settings;
    std::uint64_t only = no_limit;
    CLI::App app("Runs random inputs, each in turn.");
    app.add_option("--seconds", settings.seconds, "How long, 20 if not said");
    app.add_option("--inputs", settings.inputs, "How many, whatever they take");
    app.add_option("--seed", settings.seed, "Of the random numbers");
    app.add_option("--only", only, "The number of the one to run");
    CLI11_PARSE(app, count, words);
    if (only != no_limit) {
        settings.first = only;
        settings.inputs = only + 1;
    }
    if (settings.inputs != no_limit)
        settings.seconds = 1e9;
    return Fuzzer(target, settings).run();
}

} // namespace tilefold::tests
