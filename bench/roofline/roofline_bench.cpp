// bench/roofline/roofline_bench.cpp - pairs/s, share of the port bound, error.
//
//   roofline_bench [repeats] [threads] [exp2 stride]      (default 15, all, 37)
//
// Speed is measured only after the results are right: exp2 within 1.1 ulp, the
// sweep of sizes and limits, and for every case the error against long double
// on a sample of rows and the same bits from one thread and from all.
//
// Pairs/s are by the wall clock. Cycles are by the processor time of the one
// thread, which a busy machine changes little, times the core clock, measured
// before and after each sample with a loop of known length. One thread and all
// threads take turns; medians are printed.

#include "exp2_check.h"
#include "kernels_bench.h"
#include "points.h"
#include "sweep.h"
#include "timing.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <string>
#include <thread>
#include <vector>

namespace {

using roofline::check_exp2;
using roofline::core_clock;
using roofline::Effort;
using roofline::Exp2Error;
using roofline::Mix;
using roofline::Points;

/// Returns what a pair of the Gaussian sum takes: differences, squares, scale,
/// exp2, times b.
Mix gaussian_mix(bool is_float, int d) {
    return Mix{d + 2.0, double(d)} + roofline::exp2_mix(is_float);
}

template <class T>
bool run_case(const char* type, int n, int d, const Effort& effort) {
    const int threads = effort.threads;
    Points<T> points(n, n, d);
    points.run(1);
    const std::vector<T> one = points.out;
    points.run(threads);
    const bool same =
        std::memcmp(one.data(), points.out.data(), n * sizeof(T)) == 0;
    const double error = points.error(997);
    const double eps = std::numeric_limits<T>::epsilon();
    if (!same || !(error < 16 * eps)) {
        std::printf("%s D=%-3d WRONG: error %.1e, bits of 1 and %d threads "
                    "%s\n",
                    type, d, error, threads, same ? "same" : "differ");
        return false;
    }
    const bool is_float = sizeof(T) == sizeof(float);
    const double vectors = is_float ? 1 : 2; // of 16 pairs
    const std::string name = std::string(type) + " D=" + std::to_string(d);
    roofline::print_row(name.c_str(), effort, double(n) * n,
                        vectors * roofline::bound(gaussian_mix(is_float, d)),
                        error, [&](int threads) { points.run(threads); });
    return true;
}

bool report_exp2(const char* type, Exp2Error error) {
    const bool good =
        error.normal <= 1.1 && error.subnormal <= 1.1 && error.limits;
    std::printf("exp2 %s: %.3f ulp, %.3f where the result is subnormal, "
                "limits %s\n",
                type, error.normal, error.subnormal,
                error.limits ? "right" : "WRONG");
    return good;
}

} // namespace

int main(int argc, char** argv) {
    const int repeats = argc > 1 ? std::atoi(argv[1]) : 15;
    int threads = argc > 2 ? std::atoi(argv[2]) : 0;
    const int stride = argc > 3 ? std::atoi(argv[3]) : 37;
    if (threads <= 0)
        threads = std::max(1u, std::thread::hardware_concurrency());

    float probe = 0;
    if (tilefold_roofline_gaussian_f32(0, 0, 1, nullptr, nullptr, nullptr, 1,
                                       &probe, 1) == TilefoldRooflineNoAvx512) {
        std::puts("this processor has no AVX-512");
        return 0;
    }
    bool good = report_exp2("f32", check_exp2<float>(stride));
    good &= report_exp2("f64", check_exp2<double>(stride));
    good &= roofline::sweep();
    if (!good)
        return 1;
    std::printf("sizes, limits and threads: right\n");
    std::printf("core clock %.2f GHz, medians of %d\n", core_clock() / 1e9,
                repeats);
    const Effort effort = {repeats, threads};
    roofline::print_head(effort);
    good &= run_case<float>("f32", 40960, 3, effort);
    good &= run_case<float>("f32", 24576, 16, effort);
    good &= run_case<float>("f32", 14336, 64, effort);
    good &= run_case<double>("f64", 24576, 3, effort);
    good &= run_case<double>("f64", 16384, 16, effort);
    good &= run_case<double>("f64", 10240, 64, effort);
    good &= roofline::run_kernels(effort);
    return good ? 0 : 1;
}
