// tests/c/test_layout.cpp - where the fields of public structures are: programs
// that were compiled with this header rely on it for ever.
#include <tilefold/tilefold.h>

#include <cstddef>
#include <cstring>
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <set>
#include <string>

namespace tilefold::test {

#define AT(type, field, place) static_assert(offsetof(type, field) == (place))

static_assert(sizeof(tilefold_options) == 72);
AT(tilefold_options, size, 0);
AT(tilefold_options, threads, 8);
AT(tilefold_options, log, 12);
AT(tilefold_options, tune, 16);
AT(tilefold_options, untrusted, 20);
AT(tilefold_options, tolerance, 24);
AT(tilefold_options, cache_size, 32);
AT(tilefold_options, device_bytes, 40);
AT(tilefold_options, cache_directory, 48);
AT(tilefold_options, isa, 56);
AT(tilefold_options, devices, 64);

static_assert(sizeof(tilefold_statistics) == 64);
AT(tilefold_statistics, compiles, 8);
AT(tilefold_statistics, memory_hits, 16);
AT(tilefold_statistics, disk_hits, 24);
AT(tilefold_statistics, runs, 32);
AT(tilefold_statistics, tiles_met, 40);
AT(tilefold_statistics, tiles_left_out, 48);
AT(tilefold_statistics, compile_milliseconds, 56);

static_assert(sizeof(tilefold_argument) == 32);
AT(tilefold_argument, name, 0);
AT(tilefold_argument, array, 8);
AT(tilefold_argument, number, 16);
AT(tilefold_argument, axes, 24);
AT(tilefold_argument, reserved, 28);

static_assert(sizeof(tilefold_bind_options) == 72);
AT(tilefold_bind_options, want, 8);
AT(tilefold_bind_options, on_host, 12);
AT(tilefold_bind_options, rows_i, 16);
AT(tilefold_bind_options, rows_j, 24);
AT(tilefold_bind_options, rows_i_count, 32);
AT(tilefold_bind_options, rows_j_count, 40);
AT(tilefold_bind_options, ranges, 48);
AT(tilefold_bind_options, sum_batch, 56);
AT(tilefold_bind_options, sum_batch_count, 64);

static_assert(sizeof(tilefold_run_options) == 40);
AT(tilefold_run_options, accumulate, 8);
AT(tilefold_run_options, reserved, 12);
AT(tilefold_run_options, poll, 16);
AT(tilefold_run_options, context, 24);
AT(tilefold_run_options, stream, 32);

static_assert(sizeof(tilefold_solve_options) == 40);
AT(tilefold_solve_options, ridge, 8);
AT(tilefold_solve_options, rtol, 16);
AT(tilefold_solve_options, maxiter, 24);
AT(tilefold_solve_options, method, 32);
AT(tilefold_solve_options, preconditioner, 36);

static_assert(sizeof(tilefold_solve_outcome) == 32);
AT(tilefold_solve_outcome, iterations, 8);
AT(tilefold_solve_outcome, residual, 16);
AT(tilefold_solve_outcome, converged, 24);
AT(tilefold_solve_outcome, reserved, 28);

#undef AT

TEST(CLayout, InitialisersSetTheSizeAlone) {
    const auto check = [](const auto& made) {
        auto expected = made;
        std::memset(&expected, 0, sizeof expected);
        expected.size = sizeof expected;
        EXPECT_EQ(std::memcmp(&made, &expected, sizeof expected), 0);
    };
    check(tilefold_options TILEFOLD_OPTIONS_INIT);
    check(tilefold_statistics TILEFOLD_STATISTICS_INIT);
    check(tilefold_bind_options TILEFOLD_BIND_OPTIONS_INIT);
    check(tilefold_run_options TILEFOLD_RUN_OPTIONS_INIT);
    check(tilefold_solve_options TILEFOLD_SOLVE_OPTIONS_INIT);
    check(tilefold_solve_outcome TILEFOLD_SOLVE_OUTCOME_INIT);
}

} // namespace tilefold::test
