// tests/runtime/test_processes.cpp - sessions across fork(), long runs and
// many calls: nobody hangs, nothing grows.

#include "tests/runtime/child.h"
#include "tests/runtime/session_fixture.h"

#include <atomic>
#include <chrono>
#include <fstream>
#include <thread>

namespace tilefold::test {
namespace {

using Clock = std::chrono::steady_clock;

/// Bytes of memory in use now, and at the highest since clear_peak().
std::int64_t status_bytes(const std::string& field) {
    std::ifstream status("/proc/self/status");
    for (std::string line; std::getline(status, line);)
        if (line.starts_with(field + ":"))
            return std::stoll(line.substr(field.size() + 1)) * 1024;
    return 0;
}
void clear_peak() {
    std::ofstream("/proc/self/clear_refs") << "5";
}

constexpr bool sanitized =
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    true;
#else
    false;
#endif

class ProcessTest : public SessionTest {
protected:
    Values<float> x{{2000, 3}, 1}, b{{2000}, 2};
    std::array<NamedView, 3> arguments{named("x", x), named("b", b),
                                       named("l", 0.5)};
    const char* formula = "sum_j exp(-|x_i-x_j|²/2l²) b_j";
};

TEST_F(ProcessTest, AChildOfAWarmParentComputesAndCompiles) {
    Session wide(options(4));
    auto compiled = wide.formula(formula);
    Array expected = compiled(arguments);
    EXPECT_EQ(in_child([&] {
                  bool same = compiled(arguments).bytes == expected.bytes;
                  wide.formula("logsumexp_j(-|x_i-x_j|²) + 0*sum_j b_j");
                  Array other = wide.formula("sum_j |x_i-x_j| b_j")(
                      std::span(arguments).first(2));
                  return same && other.shape[0] == 2000 ? 7 : 1;
              }),
              7);
    EXPECT_EQ(compiled(arguments).bytes, expected.bytes);
}

TEST_F(ProcessTest, ForksDuringCompilesAndRunsDoNotHang) {
    Session wide(options(3));
    auto compiled = wide.formula(formula);
    Array expected = compiled(arguments);
    std::atomic<bool> stop = false;
    std::atomic<int> failures = 0;
    std::thread runs([&] {
        while (!stop)
            failures += compiled(arguments).bytes != expected.bytes;
    });
    std::thread compiles([&] {
        for (int k = 2; !stop; ++k) {
            std::string text = "sum_j |x_i-x_j|^" + std::to_string(k) + " b_j";
            wide.formula(text)(std::span(arguments).first(2));
        }
    });
    for (int trial = 0; trial < 15; ++trial) {
        std::this_thread::sleep_for(std::chrono::milliseconds(7));
        EXPECT_EQ(in_child([&] {
                      std::string text = "sum_j |x_i-x_j|^" +
                                         std::to_string(1000 + trial) + " b_j";
                      wide.formula(text)(std::span(arguments).first(2));
                      return compiled(arguments).bytes == expected.bytes ? 7
                                                                         : 1;
                  }),
                  7);
    }
    stop = true;
    runs.join();
    compiles.join();
    EXPECT_EQ(failures, 0);
}

/// Formulas that take some tenths of a second to compile.
class LongCompileTest : public ProcessTest {
protected:
    Values<double> sequences{{30, 12}, 3};
    std::array<NamedView, 1> arguments{named("x", sequences)};
    const char* formula = "sum_j softdtw(x_i, x_j, 0.5)";
};

TEST_F(LongCompileTest, IsLeftAtOnceAndEndsSoonAfter) {
    const auto before = Clock::now();
    Clock::time_point asked;
    {
        Session own(options());
        EXPECT_EQ(message_of([&] {
                      own.formula(formula).bind(
                          arguments, {.goes_on = [&] {
                              asked = Clock::now();
                              return asked - before <
                                     std::chrono::milliseconds(60);
                          }});
                  }),
                  "cancelled after a part of the work");
        EXPECT_EQ(own.statistics().compiles, 0);
    }
    if (!sanitized) {
        EXPECT_LT(Clock::now() - asked, std::chrono::milliseconds(100));
    }
    Array out = session.formula(formula)(arguments);
    EXPECT_EQ(out.shape[0], 30);
}

TEST_F(LongCompileTest, GoesOnWhileAnybodyWaits) {
    Session own(options());
    const Formula compiled = own.formula(formula);
    std::atomic<bool> is_under_way = false;
    std::thread patient([&] {
        const Bound bound = compiled.bind(arguments, {.goes_on = [&] {
                                              is_under_way = true;
                                              return true;
                                          }});
        EXPECT_EQ(bound.shape()[0], 30);
    });
    while (!is_under_way)
        std::this_thread::yield();
    EXPECT_EQ(message_of([&] {
                  compiled.bind(arguments, {.goes_on = [] { return false; }});
              }),
              "cancelled after a part of the work");
    patient.join();
    EXPECT_EQ(own.statistics().compiles, 1);
}

/// The child of a thread that waits, where another one waits, too.
TEST_F(LongCompileTest, AForkMeanwhileLeavesBothWhole) {
    auto own = std::make_unique<Session>(options(3));
    const pid_t parent = getpid();
    pid_t child = 0;
    std::atomic<bool> other_waits = false, ended = false;
    std::thread other([&, compiled = own->formula(formula)] {
        compiled.bind(arguments,
                      {.goes_on = [&] { return other_waits = true; }});
        ended = true;
    });
    Array out;
    {
        const Formula compiled = own->formula(formula);
        compiled.bind(arguments, {.goes_on = [&] {
                          if (other_waits && child == 0 && getpid() == parent) {
                              child = fork();
                              alarm(child == 0 ? 30 : 0);
                          }
                          return true;
                      }});
        out = compiled(arguments);
    }
    if (getpid() != parent) {
        own.reset();
        _exit(out.shape[0] == 30 ? 7 : 1);
    }
    ASSERT_NE(child, 0);
    EXPECT_EQ(wait_for(child), 7);
    other.join();
    EXPECT_TRUE(ended);
}

TEST_F(ProcessTest, AChildMayEndItsSession) {
    auto own = std::make_unique<Session>(options(3));
    own->formula(formula)(arguments);
    EXPECT_EQ(in_child([&] {
                  own.reset();
                  return 7;
              }),
              7);
}

TEST_F(ProcessTest, ProcessesShareACache) {
    std::vector<pid_t> children;
    for (int k = 0; k < 8; ++k) {
        pid_t child = fork();
        if (child == 0) {
            Session own(options());
            Array out = own.formula(formula)(arguments);
            _exit(out.shape[0] == 2000 ? 7 : 1);
        }
        children.push_back(child);
    }
    for (pid_t child : children)
        EXPECT_EQ(wait_for(child), 7);
    Session last(options());
    last.formula(formula)(arguments);
    EXPECT_EQ(last.statistics().disk_hits, 1);
}

/// 10^12 pairs, given up after `runs_for`.
struct Cancelled {
    std::vector<double> shares; ///< done of total, at each call of the callback
    Clock::duration stopped_after{};
};
Cancelled cancelled_run(const Bound& bound, const Output& out,
                        Clock::duration runs_for) {
    Cancelled seen;
    Clock::time_point start = Clock::now(), asked;
    auto poll = [&](double done, double total) {
        seen.shares.push_back(done / total);
        asked = Clock::now();
        return asked - start < runs_for;
    };
    EXPECT_THROW(bound.run(out, {.accumulate = false, .poll = poll}), Error);
    seen.stopped_after = Clock::now() - asked;
    return seen;
}

TEST_F(ProcessTest, ALongRunStopsSoonAndStaysSmall) {
    using namespace std::chrono_literals;
    constexpr std::int64_t many = 1'000'000;
    Values<float> points({many, 3}), weights({many}), out({many});
    Session wide(options(8));
    NamedView long_arguments[] = {named("x", points), named("b", weights),
                                  named("l", 0.5)};
    Bound bound = wide.formula(formula).bind(long_arguments);
    clear_peak();
    std::int64_t before = status_bytes("VmHWM");
    Cancelled seen = cancelled_run(bound, out.output(), 500ms);
    EXPECT_GE(seen.shares.size(), 2u);
    EXPECT_TRUE(std::is_sorted(seen.shares.begin(), seen.shares.end()));
    if (!sanitized) {
        EXPECT_LT(status_bytes("VmHWM") - before, std::int64_t(64) << 20);
    }
    // A busy machine may well take a thread away for longer; not every time.
    for (int k = 0; k < 10 && seen.stopped_after > 100ms; ++k)
        seen = cancelled_run(bound, out.output(), 50ms);
    EXPECT_LT(seen.stopped_after, 100ms);
}

TEST_F(ProcessTest, AThousandFormulasAndManyCallsDoNotGrow) {
    if (sanitized)
        GTEST_SKIP() << "sanitizers keep what is freed";
    Values<float> small({50, 3}), weights({50});
    std::array<NamedView, 2> few{named("x", small), named("b", weights)};
    auto round = [&](int from, int to) {
        for (int k = from; k < to; ++k) {
            std::string text =
                "sum_j exp(-|x_i-x_j|²*" + std::to_string(k) + ".5) b_j";
            session.formula(text)(few);
        }
    };
    auto compiled = session.formula("sum_j exp(-|x_i-x_j|²) b_j");
    auto calls = [&](int count) {
        for (int k = 0; k < count; ++k)
            compiled(few);
    };
    round(0, 2000);
    calls(1000);
    std::int64_t before = status_bytes("VmRSS");
    round(2000, 4000);
    calls(100'000);
    EXPECT_LT(status_bytes("VmRSS") - before, std::int64_t(4) << 20);
    EXPECT_EQ(session.statistics().compiles, 2);
}

TEST_F(ProcessTest, ClosedSessionsGiveTheirKernelsBack) {
    auto mappings = [] {
        std::ifstream maps("/proc/self/maps");
        std::int64_t executable = 0;
        for (std::string line; std::getline(maps, line);)
            executable +=
                line.find("r-xp 00000000 00:00 0") != std::string::npos;
        return executable;
    };
    std::int64_t before = mappings();
    {
        Session own(options());
        own.formula(formula)(arguments);
        EXPECT_EQ(mappings(), before + 1);
    }
    EXPECT_EQ(mappings(), before);
}

TEST_F(ProcessTest, ASessionDoesNothingUntilItIsUsed) {
    auto threads = [] { return status_bytes("Threads") / 1024; };
    std::int64_t before = threads();
    Session idle(options(8));
    EXPECT_EQ(threads(), before);
    EXPECT_FALSE(std::filesystem::exists(cache()));
}

} // namespace
} // namespace tilefold::test
