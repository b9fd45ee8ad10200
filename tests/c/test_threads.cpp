// tests/c/test_threads.cpp - one session, used by many threads at once, and in
// children of the process.
#include "tests/c/arrays.h"

#include <atomic>
#include <cmath>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace tilefold::test {

namespace {

class CThreads : public SessionTest {
protected:
    /// Parses, binds and runs by itself; whether the results are right.
    bool computes(int number) {
        Array<double> x{{9, 3}, unsigned(number)}, out{{9}};
        const std::string text =
            "sum_j " + std::to_string(number % 4 + 1) + " exp(-|x_i - x_j|^2)";
        const tilefold_argument given = TILEFOLD_ARRAY("x", &x.tensor);
        const DLTensor* outs[] = {&out.tensor};
        tilefold_formula* formula = nullptr;
        tilefold_bound* bound = nullptr;
        tilefold_error* error =
            tilefold_formula_parse(session.get(), text.c_str(), &formula);
        if (!error)
            error = tilefold_bind(formula, &given, 1, nullptr, &bound);
        for (int round = 0; round < 20 && !error; ++round)
            error = tilefold_bound_run(bound, outs, 1, nullptr);
        const bool failed = error != nullptr;
        tilefold_error_free(error);
        tilefold_bound_free(bound);
        tilefold_formula_free(formula);
        if (failed)
            return false;
        for (std::int64_t i = 0; i < 9; ++i) {
            double sum = 0;
            for (std::int64_t j = 0; j < 9; ++j) {
                double square = 0;
                for (std::int64_t d = 0; d < 3; ++d)
                    square += std::pow(x(i, d) - x(j, d), 2);
                sum += (number % 4 + 1) * std::exp(-square);
            }
            if (!(std::abs(out[i] - sum) < 1e-12))
                return false;
        }
        return true;
    }
};

} // namespace

TEST_F(CThreads, SixtyFourThreadsShareASession) {
    std::atomic<int> right = 0;
    std::vector<std::thread> threads;
    for (int number = 0; number < 64; ++number)
        threads.emplace_back([&, number] { right += computes(number); });
    for (std::thread& thread : threads)
        thread.join();
    EXPECT_EQ(right, 64);
}

TEST_F(CThreads, ABoundIsRunByThreadsWithOutputsOfTheirOwn) {
    Array<double> x{{40, 3}};
    const auto bound = bind(parse("sum_j exp(-|x_i - x_j|^2)"),
                            {TILEFOLD_ARRAY("x", &x.tensor)});
    Array<double> expected{{40}};
    const DLTensor* first[] = {&expected.tensor};
    expect_success(tilefold_bound_run(bound.get(), first, 1, nullptr));
    std::atomic<int> right = 0;
    std::vector<std::thread> threads;
    for (int number = 0; number < 8; ++number)
        threads.emplace_back([&] {
            Array<double> out{{40}};
            const DLTensor* outs[] = {&out.tensor};
            for (int round = 0; round < 50; ++round)
                expect_success(
                    tilefold_bound_run(bound.get(), outs, 1, nullptr));
            right += out.values == expected.values;
        });
    for (std::thread& thread : threads)
        thread.join();
    EXPECT_EQ(right, 8);
}

TEST_F(CThreads, ACallbackMayCallAgain) {
    Array<double> x{{9, 3}}, out{{9}};
    Array<float> many{{60000, 3}, 8};
    const auto bound = bind(parse("sum_j exp(-|x_i - x_j|^2)"),
                            {TILEFOLD_ARRAY("x", &x.tensor)});
    const auto large = bind(parse("sum_j exp(-|z_i - z_j|^2)"),
                            {TILEFOLD_ARRAY("z", &many.tensor)});
    struct Inner {
        tilefold_bound* bound;
        const DLTensor* out;
        int calls = 0;
    } inner{bound.get(), &out.tensor};
    tilefold_run_options options = TILEFOLD_RUN_OPTIONS_INIT;
    options.context = &inner;
    options.poll = [](void* context, double, double) -> std::int32_t {
        Inner& own = *static_cast<Inner*>(context);
        expect_success(tilefold_bound_run(own.bound, &own.out, 1, nullptr));
        return ++own.calls < 3;
    };
    Array<float> result{{60000}};
    const DLTensor* outs[] = {&result.tensor};
    EXPECT_EQ(code_of(tilefold_bound_run(large.get(), outs, 1, &options)),
              "Cancelled");
    EXPECT_EQ(inner.calls, 3);
    EXPECT_GT(out[0], 1);
}

TEST_F(CThreads, AChildComputesToo) {
    EXPECT_TRUE(computes(1));
    const pid_t child = fork();
    if (child == 0) {
        alarm(60);
        _exit(computes(1) && computes(2) ? 0 : 1);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
    EXPECT_TRUE(computes(3));
}

} // namespace tilefold::test
