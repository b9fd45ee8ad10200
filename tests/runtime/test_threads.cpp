// tests/runtime/test_threads.cpp - the pool: as many threads as asked, in
// children too, and nobody waits for ever.

#include "tests/runtime/child.h"
#include "tests/runtime/sum_problem.h"

#include "runtime/core/fork.h"
#include "runtime/schedule/thread_pool.h"

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

/// Different threads that meet in one group; waits for them a second.
std::size_t threads_met(ThreadPool& pool) {
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
        while (count() < std::size_t(pool.threads()) &&
               std::chrono::steady_clock::now() < end)
            std::this_thread::yield();
    };
    EXPECT_TRUE(pool.together(pool.threads() - 1, share, [] {}));
    return count();
}

TEST(ThreadPool, RunsAsManyThreadsAsAsked) {
    for (int threads : {1, 2, 8, 33}) {
        ThreadPool pool(threads);
        EXPECT_EQ(threads_met(pool), std::size_t(threads));
        EXPECT_EQ(threads_met(pool), std::size_t(threads));
    }
}

TEST(ThreadPool, HelpersMayRunWhereTheCallerMay) {
    cpu_set_t allowed;
    ASSERT_EQ(sched_getaffinity(0, sizeof allowed, &allowed), 0);
    ThreadPool pool(4);
    pool.start();
    std::atomic<int> others = 0;
    auto share = [&] {
        cpu_set_t own;
        if (sched_getaffinity(0, sizeof own, &own) ||
            !CPU_EQUAL(&own, &allowed))
            ++others;
        std::this_thread::sleep_for(20ms); // so that all take part
    };
    EXPECT_TRUE(pool.together(3, share, [] {}));
    EXPECT_EQ(others, 0);
}

TEST(ThreadPool, ServesSeveralCallersAtOnce) {
    ThreadPool pool(4);
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
                EXPECT_TRUE(pool.together(3, share, [] {}));
                EXPECT_EQ(sum, 190);
                ++done;
            }
        });
    for (std::thread& caller : callers)
        caller.join();
    EXPECT_EQ(done, 3000);
}

TEST(ThreadPool, CallsWaitingWhileOnlyHelpersWork) {
    ThreadPool pool(2);
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
    EXPECT_TRUE(pool.together(1, share, [&] {
        EXPECT_EQ(std::this_thread::get_id(), caller);
        ++waited;
    }));
}

/// Two threads in a group, of which one throws while the other is inside: the
/// other has left before anything is thrown on.
class Thrower {
public:
    explicit Thrower(bool caller_throws) : caller_throws_(caller_throws) {}

    std::string caught(ThreadPool& pool) {
        try {
            (void)pool.together(1, [this] { share(); }, [] {});
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

TEST(ThreadPool, WhatAShareThrowsIsThrownOnOnceAllHaveLeft) {
    ThreadPool pool(2);
    for (int round = 0; round < 5; ++round) {
        EXPECT_EQ(Thrower(true).caught(pool), "caller");
        EXPECT_EQ(Thrower(false).caught(pool), "helper");
    }
    EXPECT_EQ(threads_met(pool), 2u);
}

TEST(ThreadPool, WhatWaitingThrowsIsThrownOnOnceAllHaveLeft) {
    ThreadPool pool(2);
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
    EXPECT_THROW((void)pool.together(1, share, waiting), std::runtime_error);
    EXPECT_TRUE(has_left);
}

/// A pool that a fork finds.
class GuardedPool : public ForkGuarded {
public:
    explicit GuardedPool(int threads) : pool(threads) { enlist(); }
    ~GuardedPool() { dismiss(); }
    void before_fork() override {}
    void after_fork(bool in_child) override {
        if (in_child)
            pool.renew_in_child();
    }

    ThreadPool pool;
};

TEST(ThreadPool, AChildOfAWarmParentRunsAsManyThreads) {
    GuardedPool guarded(8);
    ASSERT_EQ(threads_met(guarded.pool), 8u);
    EXPECT_EQ(in_child([&] { return int(threads_met(guarded.pool)); }), 8);
    EXPECT_EQ(threads_met(guarded.pool), 8u);
}

TEST(ThreadPool, AForkDuringRunsOfOtherThreadsDoesNotHang) {
    GuardedPool guarded(4);
    std::atomic<bool> stop = false;
    std::vector<std::thread> busy;
    for (int k = 0; k < 3; ++k)
        busy.emplace_back([&] {
            while (!stop) {
                SumProblem problem(sum_kernel(2000), 300, 300);
                launch(problem.job(), guarded.pool, {});
            }
        });
    for (int trial = 0; trial < 20; ++trial) {
        std::this_thread::sleep_for(3ms);
        EXPECT_EQ(in_child([&] { return int(threads_met(guarded.pool)); }), 4);
    }
    stop = true;
    for (std::thread& thread : busy)
        thread.join();
}

TEST(ThreadPool, AForkInTheCallbackEndsTheRunInTheChildOnly) {
    GuardedPool guarded(3);
    witness().reset();
    witness().microseconds = 3000;
    SumProblem problem(sum_kernel(5000), 1000, 1000);
    pid_t parent = getpid(), child = 0;
    int code = 0;
    try {
        launch(problem.job(), guarded.pool, [&](double, double) {
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

TEST(ThreadPool, SignalsGoToTheProgramsOwnThreads) {
    ThreadPool pool(2);
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
    EXPECT_TRUE(pool.together(1, share, [] {}));
    EXPECT_EQ(helper_blocks, 1);
}

} // namespace
} // namespace tilefold::test
