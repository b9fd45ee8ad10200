// bench/ceiling/ceiling_bench.cpp - pairs/s, share of the port bound, error.
//
//   ceiling_bench [repeats] [threads] [exp2 stride]      (default 15, all, 37)
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
#include "points.h"
#include "sweep.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <limits>
#include <thread>
#include <vector>

namespace {

using ceiling::check_exp2;
using ceiling::Exp2Error;
using ceiling::Points;

// The port bound. Zen 5 has two pipes that multiply (FMA), two that add, each
// one 512-bit operation a cycle; vreduce and vscalef fill both adders for a
// cycle; a permutation takes one slot of either kind, two if it has two
// sources. Measured there with independent operations: 9 FMA + 8 additions run
// in 4.53 cycles, the float mix of D = 3 below in 4.52, the double one in 6.02.
// Sapphire Rapids has two pipes in all for 512 bits; vreduce and vscalef are
// one operation on either (0.49 cycles), a permutation is one on the second
// (1.0). Loads and broadcasts have their own ports, and every kernel leaves
// them room. On a processor with other ports the share means nothing.
double bound_cycles_per_16_pairs(bool is_float, int d) {
    const bool intel = __builtin_cpu_is("intel");
    const int degree = is_float ? 3 : 6;
    const int rounding = intel ? 1 : 2; // slots of vreduce, and of vscalef
    const int fma = d                   // squares
                    + 1                 // scale
                    + (degree - 1)      // q by Horner
                    + 3;                // w f, w + (w f) q, times b
    const int add = d                   // differences
                    + 1                 // + magic
                    + 2 * rounding;
    const int permutation = is_float || intel ? 1 : 2;
    const int all = fma + add + permutation;
    const double cycles =
        intel ? all / 2.0 : std::max({fma / 2.0, add / 2.0, all / 4.0});
    return is_float ? cycles : 2 * cycles;
}

double now(clockid_t clock) {
    timespec t;
    clock_gettime(clock, &t);
    return double(t.tv_sec) + 1e-9 * double(t.tv_nsec);
}
double wall_seconds() {
    return now(CLOCK_MONOTONIC);
}
double thread_seconds() {
    return now(CLOCK_THREAD_CPUTIME_ID);
}

/// Core cycles a second, now: a chain of dependent multiplications runs at one
/// in three cycles on every x86-64. (Additions of constants are folded while
/// they are renamed since Golden Cove.)
double core_clock() {
    const long turns = 10000, chain = 64, latency = 3;
    const double start = thread_seconds();
    long left = turns, product = 3;
    asm volatile("1:\n\t.rept 64\n\timul %0, %0\n\t.endr\n\t"
                 "dec %1\n\tjnz 1b"
                 : "+r"(product), "+r"(left)
                 :
                 : "cc");
    return turns * chain * latency / (thread_seconds() - start);
}

double median(std::vector<double> v) {
    std::nth_element(v.begin(), v.begin() + v.size() / 2, v.end());
    return v[v.size() / 2];
}

struct Sample {
    double seconds; ///< by the wall clock
    double cycles;  ///< of the calling thread
};

template <class T> Sample time_once(Points<T>& points, int threads) {
    const double before = core_clock();
    const double wall = wall_seconds(), thread = thread_seconds();
    points.run(threads);
    const double used = thread_seconds() - thread;
    const double elapsed = wall_seconds() - wall;
    return {elapsed, used * std::max(before, core_clock())};
}

template <class T>
bool run_case(const char* type, int n, int d, int repeats, int threads) {
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
    std::vector<double> seconds1, cycles1, secondsN;
    for (int k = 0; k < repeats; ++k) {
        const Sample sample = time_once(points, 1);
        seconds1.push_back(sample.seconds);
        cycles1.push_back(sample.cycles);
        secondsN.push_back(time_once(points, threads).seconds);
    }
    const double pairs = double(n) * n;
    const double cycles = median(cycles1) / pairs * 16;
    const double bound =
        bound_cycles_per_16_pairs(sizeof(T) == sizeof(float), d);
    std::printf("%s %4d %9.2f %9.2f %7.2fx %9.2f %8.2f %7.0f%% %9.1e\n", type,
                d, pairs / median(seconds1) / 1e9,
                pairs / median(secondsN) / 1e9,
                median(seconds1) / median(secondsN), cycles, bound,
                100 * bound / cycles, error);
    std::fflush(stdout);
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
    if (tilefold_ceiling_gaussian_f32(0, 0, 1, nullptr, nullptr, nullptr, 1,
                                      &probe, 1) == TilefoldCeilingNoAvx512) {
        std::puts("this processor has no AVX-512");
        return 0;
    }
    bool good = report_exp2("f32", check_exp2<float>(stride));
    good &= report_exp2("f64", check_exp2<double>(stride));
    good &= ceiling::sweep();
    if (!good)
        return 1;
    std::printf("sizes, limits and threads: right\n");
    std::printf("core clock %.2f GHz, medians of %d\n", core_clock() / 1e9,
                repeats);
    std::printf("type   D  Gpairs/s  on %2d thr  scaling  cyc/16pr    bound"
                "    share     error\n",
                threads);
    good &= run_case<float>("f32", 40960, 3, repeats, threads);
    good &= run_case<float>("f32", 24576, 16, repeats, threads);
    good &= run_case<float>("f32", 14336, 64, repeats, threads);
    good &= run_case<double>("f64", 24576, 3, repeats, threads);
    good &= run_case<double>("f64", 16384, 16, repeats, threads);
    good &= run_case<double>("f64", 10240, 64, repeats, threads);
    return good ? 0 : 1;
}
