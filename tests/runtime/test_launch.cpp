// tests/runtime/test_launch.cpp - pieces, merges, threads and batches give
// what a plain loop gives, with the same bits for any number of threads.

#include "tests/runtime/sum_problem.h"

#include "formulas/diagnostic.h"
#include "runtime/cpu/float_mode.h"
#include "runtime/schedule/partition.h"
#include TILEFOLD_MACHINE_HEADER

#include <chrono>
#include <cmath>
#include <gtest/gtest.h>
#include <numeric>

namespace tilefold::test {
namespace {

class Launch : public testing::Test {
protected:
    void SetUp() override { witness().reset(); }
    void TearDown() override {
        EXPECT_EQ(witness().complaints, std::set<std::string>());
    }
};

TEST_F(Launch, SumsAreRightAroundEveryEdge) {
    for (std::int64_t rows : {1, 15, 16, 17, 63, 64, 65, 129, 300})
        for (std::int64_t columns : {1, 31, 32, 33, 65, 257, 1000})
            for (double nanoseconds : {0.5, 500.0}) {
                SumProblem problem(sum_kernel(nanoseconds), rows, columns, 2);
                problem.run(2);
                for (std::int64_t i = 0; i < rows; ++i)
                    for (std::int64_t e = 0; e < 2; ++e)
                        ASSERT_NEAR(problem.out[std::size_t(2 * i + e)],
                                    problem.expected(i, e), 1e-9)
                            << rows << "x" << columns;
            }
}

TEST_F(Launch, BitsDoNotDependOnThreads) {
    for (LoopKind loop : {LoopKind::Reduce, LoopKind::FoldRows})
        for (auto [rows, columns] : {std::pair{40, 4000}, {700, 3000}}) {
            std::vector<double> first;
            for (int threads : {1, 2, 3, 8}) {
                SumProblem problem(sum_kernel(200), rows, columns, 3);
                problem.loop = loop;
                problem.run(threads);
                if (first.empty())
                    first = problem.out;
                EXPECT_EQ(first, problem.out) << threads << " threads";
            }
        }
}

TEST_F(Launch, FoldedRowsSumToOneResult) {
    for (auto [rows, columns] :
         {std::pair{1, 1}, {65, 33}, {700, 1}, {1000, 2000}, {1, 3000}}) {
        SumProblem problem(sum_kernel(100), rows, columns);
        problem.loop = LoopKind::FoldRows;
        problem.run(2);
        double expected = 0;
        for (std::int64_t i = 0; i < rows; ++i)
            expected += problem.expected(i);
        EXPECT_NEAR(problem.out[0], expected, 1e-8 * rows) << rows;
        if (rows > 1) {
            EXPECT_EQ(problem.out[1], -7);
        }
    }
}

TEST_F(Launch, TiesGoToTheFirstColumnAcrossSegments) {
    SumProblem problem(argmin_kernel(2000), 20, 3000);
    for (std::size_t j = 0; j < problem.y.size(); ++j)
        problem.y[j] = double(j % 500);
    for (std::size_t i = 0; i < problem.x.size(); ++i)
        problem.x[i] = double(20 * i);
    ASSERT_GT(partition_of(problem.job()).parts, 4);
    problem.run(3);
    auto* indices = reinterpret_cast<std::int64_t*>(problem.out.data());
    for (std::int64_t i = 0; i < 20; ++i)
        EXPECT_EQ(indices[i], 20 * i);
}

TEST_F(Launch, NoColumnsGiveTheIdentityAndNoRowsNothing) {
    SumProblem empty(sum_kernel(), 5, 0);
    empty.run(2);
    EXPECT_EQ(empty.out, std::vector<double>(5, 0.0));
    SumProblem fold(sum_kernel(), 1, 0);
    fold.loop = LoopKind::FoldRows;
    fold.rows = 0;
    fold.run(2);
    EXPECT_EQ(fold.out[0], 0);
    SumProblem nothing(sum_kernel(), 0, 100);
    nothing.run(2);
    EXPECT_EQ(witness().accumulated, 0);
}

TEST_F(Launch, AccumulatesWhereAsked) {
    SumProblem problem(sum_kernel(), 30, 40);
    problem.run(1);
    std::vector<double> once = problem.out;
    Job job = problem.job();
    job.target.accumulate = true;
    ThreadPool pool(1);
    launch(job, pool, {});
    for (std::size_t i = 0; i < once.size(); ++i)
        EXPECT_DOUBLE_EQ(problem.out[i], 2 * once[i]);
}

TEST_F(Launch, ZipAndDenseCoverEveryPair) {
    SumProblem zip(sum_kernel(300), 500, 500);
    zip.loop = LoopKind::Pairwise;
    zip.run(2);
    for (std::size_t k = 0; k < 500; ++k)
        ASSERT_EQ(zip.out[k], zip.p * pair_term(zip.x[k], zip.y[k]));
    SumProblem dense(sum_kernel(300), 130, 70);
    dense.loop = LoopKind::Dense;
    dense.out.assign(130 * 70, -7);
    Job job = dense.job();
    job.target.row = 8 * 70;
    job.target.column = 8;
    ThreadPool pool(3);
    launch(job, pool, {});
    for (std::size_t i = 0; i < 130; ++i)
        for (std::size_t j = 0; j < 70; ++j)
            ASSERT_EQ(dense.out[i * 70 + j],
                      dense.p * pair_term(dense.x[i], dense.y[j]));
}

TEST_F(Launch, ListedRowsAndColumnsAreUsed) {
    SumProblem problem(sum_kernel(), 10, 40);
    std::vector<std::int64_t> listed_rows{7, 0, 7}, listed_columns{3, 39};
    Job job = problem.job();
    job.rows = 3;
    job.columns = 2;
    job.row_index = listed_rows.data();
    job.column_index = listed_columns.data();
    ThreadPool pool(1);
    launch(job, pool, {});
    for (std::size_t k = 0; k < 3; ++k) {
        double x = problem.x[std::size_t(listed_rows[k])];
        double expected = 0;
        for (std::int64_t j : listed_columns)
            expected += problem.p * pair_term(x, problem.y[std::size_t(j)]) *
                        problem.b[std::size_t(j)];
        EXPECT_DOUBLE_EQ(problem.out[k], expected);
    }
}

TEST_F(Launch, EightThreadsAskedAreEightThreadsRun) {
    SumProblem problem(sum_kernel(1e4), 512, 512);
    witness().rendezvous = 8;
    problem.run(8);
    EXPECT_EQ(witness().threads.size(), 8u);
}

TEST_F(Launch, SmallProblemsStayOnTheCaller) {
    SumProblem problem(sum_kernel(), 50, 60);
    problem.run(8);
    EXPECT_EQ(witness().threads,
              std::set<std::thread::id>{std::this_thread::get_id()});
}

TEST_F(Launch, CallersFloatingPointModeIsLeftAlone) {
    const cpu::FloatMode own(machine::callers_mode);
    const auto mode = [] {
        return cpu::FloatMode().callers() & machine::mode_bits;
    };
    ASSERT_EQ(mode(), machine::callers_mode);
    SumProblem small(sum_kernel(), 50, 60);
    small.run(1);
    const unsigned after_small = mode();
    SumProblem large(sum_kernel(500), 500, 600);
    unsigned in_poll = 0;
    witness().microseconds = 3000;
    large.run(2, [&](double, double) {
        in_poll = mode();
        return true;
    });
    const unsigned after_large = mode();
    EXPECT_EQ(after_small, machine::callers_mode);
    EXPECT_EQ(after_large, machine::callers_mode);
    EXPECT_EQ(in_poll, machine::callers_mode);
}

TEST_F(Launch, ProgressGrowsAndEndsWithinTheTotal) {
    for (int threads : {1, 3}) {
        SumProblem problem(sum_kernel(5000), 512, 512);
        witness().microseconds = 5000;
        std::vector<double> seen;
        double last_total = 0;
        problem.run(threads, [&](double done, double total) {
            seen.push_back(done);
            last_total = total;
            return true;
        });
        ASSERT_GE(seen.size(), 2u);
        EXPECT_TRUE(std::is_sorted(seen.begin(), seen.end()));
        EXPECT_EQ(last_total, 512.0 * 512.0);
        EXPECT_LE(seen.back(), last_total);
    }
}

/// From "false" to the end of the run.
std::chrono::steady_clock::duration time_to_cancel(int threads) {
    using Clock = std::chrono::steady_clock;
    SumProblem problem(sum_kernel(5000), 600, 600);
    Clock::time_point asked;
    try {
        problem.run(threads, [&](double, double) {
            if (asked == Clock::time_point())
                asked = Clock::now();
            return false;
        });
        ADD_FAILURE() << "was not cancelled";
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), Code::Cancelled);
    }
    return Clock::now() - asked;
}

TEST_F(Launch, FalseFromTheCallbackCancelsSoon) {
    using namespace std::chrono_literals;
    witness().microseconds = 2000;
    for (int threads : {1, 3}) {
        auto taken = time_to_cancel(threads);
        // A busy machine may take a thread away for longer; not every time.
        for (int k = 0; k < 10 && taken > 100ms && !HasFailure(); ++k)
            taken = time_to_cancel(threads);
        EXPECT_LT(taken, 100ms);
    }
}

TEST_F(Launch, AnExceptionOfTheCallbackComesThrough) {
    SumProblem problem(sum_kernel(5000), 1000, 1000);
    witness().microseconds = 2000;
    EXPECT_THROW(
        problem.run(
            3, [](double, double) -> bool { throw std::range_error("mine"); }),
        std::range_error);
}

TEST_F(Launch, ACallbackMayStartARunOfItsOwn) {
    SumProblem outer(sum_kernel(5000), 500, 500);
    SumProblem inner(sum_kernel(), 50, 60);
    witness().microseconds = 2000;
    for (int threads : {1, 2})
        outer.run(threads, [&](double, double) {
            inner.run(1);
            return true;
        });
    witness().microseconds = 0;
    for (std::int64_t i = 0; i < 500; ++i)
        ASSERT_NEAR(outer.out[std::size_t(i)], outer.expected(i), 1e-9);
    for (std::int64_t i = 0; i < 50; ++i)
        ASSERT_NEAR(inner.out[std::size_t(i)], inner.expected(i), 1e-9);
}

} // namespace
} // namespace tilefold::test
