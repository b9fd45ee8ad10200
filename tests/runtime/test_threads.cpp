// tests/runtime/test_threads.cpp - the crew: as many threads as asked, in
// children too, and nobody waits for ever.

#include "tests/runtime/child.h"
#include "tests/runtime/sum_problem.h"

#include "runtime/core/fork.h"
#include "runtime/schedule/threads.h"

#include <atomic>
#include <gtest/gtest.h>
#include <mutex>
#include <sched.h>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>

namespace tilefold::test {
namespace {

using namespace std::chrono_literals;

/// Different threads that meet in one party; waits for them a second.
std::size_t threads_met(Crew& crew) {
    std::mutex mutex;
    std::set<std::thread::id> met;
    auto count = [&] {
        std::lock_guard lock(mutex);
        return met.size();
    };
    auto share = [&] {
        {
            std::lock_guard lock(mutex);
            met.insert(std::this_thread::get_id());
        }
        auto end = std::chrono::steady_clock::now() + 1s;
        while (count() < std::size_t(crew.threads()) &&
               std::chrono::steady_clock::now() < end)
            std::this_thread::yield();
    };
    EXPECT_TRUE(crew.together(crew.threads() - 1, share, [] {}));
    return count();
}

TEST(Crew, RunsAsManyThreadsAsAsked) {
    for (int threads : {1, 2, 8, 33}) {
        Crew crew(threads);
        EXPECT_EQ(threads_met(crew), std::size_t(threads));
        EXPECT_EQ(threads_met(crew), std::size_t(threads));
    }
}

TEST(Crew, HelpersMayRunWhereTheCallerMay) {
    cpu_set_t allowed;
    ASSERT_EQ(sched_getaffinity(0, sizeof allowed, &allowed), 0);
    Crew crew(4);
    crew.start();
    std::atomic<int> others = 0;
    auto share = [&] {
        cpu_set_t own;
        if (sched_getaffinity(0, sizeof own, &own) ||
            !CPU_EQUAL(&own, &allowed))
            ++others;
        std::this_thread::sleep_for(20ms); // so that all take part
    };
    EXPECT_TRUE(crew.together(3, share, [] {}));
    EXPECT_EQ(others, 0);
}

TEST(Crew, ServesSeveralCallersAtOnce) {
    Crew crew(4);
    std::atomic<int> done = 0;
    std::vector<std::thread> callers;
    for (int k = 0; k < 6; ++k)
        callers.emplace_back([&] {
            for (int round = 0; round < 500; ++round) {
                std::atomic<int> next = 0, sum = 0;
                auto share = [&] {
                    for (int n = next++; n < 20; n = next++)
                        sum += n;
                };
                EXPECT_TRUE(crew.together(3, share, [] {}));
                EXPECT_EQ(sum, 190);
                ++done;
            }
        });
    for (std::thread& caller : callers)
        caller.join();
    EXPECT_EQ(done, 3000);
}

TEST(Crew, CallsWaitingWhileOnlyHelpersWork) {
    Crew crew(2);
    std::atomic<int> waited = 0;
    std::thread::id caller = std::this_thread::get_id();
    auto share = [&] {
        if (std::this_thread::get_id() != caller) {
            while (waited < 2)
                std::this_thread::yield();
            return;
        }
        std::this_thread::sleep_for(20ms); // until the helper is in
    };
    EXPECT_TRUE(crew.together(1, share, [&] {
        EXPECT_EQ(std::this_thread::get_id(), caller);
        ++waited;
    }));
}

/// Two threads in a party, of which one throws while the other is inside: the
/// other has left before anything is thrown on.
class Thrower {
public:
    explicit Thrower(bool caller_throws) : caller_throws_(caller_throws) {}

    std::string caught(Crew& crew) {
        try {
            (void)crew.together(1, [this] { share(); }, [] {});
            return "nothing";
        } catch (const std::runtime_error& error) {
            return inside_ > 0 ? "somebody is inside" : error.what();
        }
    }

private:
    void share() {
        const bool is_caller = std::this_thread::get_id() == caller_;
        ++inside_;
        ++met_;
        while (met_ < 2)
            std::this_thread::yield();
        if (is_caller != caller_throws_)
            std::this_thread::sleep_for(20ms);
        --inside_;
        if (is_caller == caller_throws_)
            throw std::runtime_error(is_caller ? "caller" : "helper");
    }

    const bool caller_throws_;
    const std::thread::id caller_ = std::this_thread::get_id();
    std::atomic<int> inside_ = 0, met_ = 0;
};

TEST(Crew, WhatAShareThrowsIsThrownOnOnceAllHaveLeft) {
    Crew crew(2);
    for (int round = 0; round < 5; ++round) {
        EXPECT_EQ(Thrower(true).caught(crew), "caller");
        EXPECT_EQ(Thrower(false).caught(crew), "helper");
    }
    EXPECT_EQ(threads_met(crew), 2u);
}

TEST(Crew, WhatWaitingThrowsIsThrownOnOnceAllHaveLeft) {
    Crew crew(2);
    const std::thread::id caller = std::this_thread::get_id();
    std::atomic<bool> is_in = false, has_left = false;
    const auto share = [&] {
        if (std::this_thread::get_id() == caller) {
            while (!is_in)
                std::this_thread::yield();
            return;
        }
        is_in = true;
        std::this_thread::sleep_for(120ms);
        has_left = true;
    };
    const auto waiting = [] { throw std::runtime_error("enough"); };
    EXPECT_THROW((void)crew.together(1, share, waiting), std::runtime_error);
    EXPECT_TRUE(has_left);
}

/// A crew that a fork finds.
class GuardedCrew : public ForkGuarded {
public:
    explicit GuardedCrew(int threads) : crew(threads) { enlist(); }
    ~GuardedCrew() { dismiss(); }
    void before_fork() override {}
    void after_fork(bool in_child) override {
        if (in_child)
            crew.renew_in_child();
    }

    Crew crew;
};

TEST(Crew, AChildOfAWarmParentRunsAsManyThreads) {
    GuardedCrew guarded(8);
    ASSERT_EQ(threads_met(guarded.crew), 8u);
    EXPECT_EQ(in_child([&] { return int(threads_met(guarded.crew)); }), 8);
    EXPECT_EQ(threads_met(guarded.crew), 8u);
}

TEST(Crew, AForkDuringRunsOfOtherThreadsDoesNotHang) {
    GuardedCrew guarded(4);
    std::atomic<bool> stop = false;
    std::vector<std::thread> busy;
    for (int k = 0; k < 3; ++k)
        busy.emplace_back([&] {
            while (!stop) {
                SumProblem problem(sum_kernel(2000), 300, 300);
                launch(problem.job(), guarded.crew, {});
            }
        });
    for (int trial = 0; trial < 20; ++trial) {
        std::this_thread::sleep_for(3ms);
        EXPECT_EQ(in_child([&] { return int(threads_met(guarded.crew)); }), 4);
    }
    stop = true;
    for (std::thread& thread : busy)
        thread.join();
}

TEST(Crew, AForkInTheCallbackEndsTheRunInTheChildOnly) {
    GuardedCrew guarded(3);
    witness().reset();
    witness().microseconds = 3000;
    SumProblem problem(sum_kernel(5000), 1000, 1000);
    pid_t parent = getpid(), child = 0;
    int code = 0;
    try {
        launch(problem.job(), guarded.crew, [&](double, double) {
            if (child == 0 && getpid() == parent)
                child = fork();
            return true;
        });
    } catch (...) {
        code = 5;
    }
    if (getpid() != parent)
        _exit(code);
    EXPECT_EQ(code, 0);
    EXPECT_EQ(wait_for(child), 5);
    witness().microseconds = 0;
    for (std::int64_t i = 0; i < 1000; i += 100)
        EXPECT_NEAR(problem.out[std::size_t(i)], problem.expected(i), 1e-9);
}

TEST(Crew, SignalsGoToTheProgramsOwnThreads) {
    Crew crew(2);
    std::thread::id caller = std::this_thread::get_id();
    std::atomic<int> helper_blocks = -1;
    auto share = [&] {
        if (std::this_thread::get_id() == caller) {
            while (helper_blocks < 0)
                std::this_thread::yield();
            return;
        }
        sigset_t blocked;
        pthread_sigmask(SIG_BLOCK, nullptr, &blocked);
        helper_blocks = sigismember(&blocked, SIGINT);
    };
    EXPECT_TRUE(crew.together(1, share, [] {}));
    EXPECT_EQ(helper_blocks, 1);
}

} // namespace
} // namespace tilefold::test
