// bench/roofline/timing.h - cycles and seconds of a call, and its port bound.
#pragma once

#include "processor.h"

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <vector>

namespace roofline {

// The port bound. Zen 5 has two pipes that multiply (FMA), two that add, each
// one 512-bit operation a cycle; vreduce and vscalef fill both adders for a
// cycle; a permutation takes one slot of either kind, two if it has two
// sources. Measured there with independent operations: 9 FMA + 8 additions run
// in 4.53 cycles, the float mix of D = 3 below in 4.52, the double one in 6.02.
// Zen 4 has the same pipes at half the width, and takes twice as long.
// Sapphire Rapids has two pipes in all for 512 bits; vreduce and vscalef are
// one operation on either (0.49 cycles), a permutation is one on the second
// (1.0). Loads and broadcasts have their own ports, and every kernel leaves
// them room. On a processor with other ports the share means nothing.

/// Operations for one vector of pairs.
struct Mix {
    double fma = 0;   ///< and multiplications
    double add = 0;   ///< and subtractions, minima, comparisons
    double round = 0; ///< vreduce and vscalef
    double permute = 0;
    double permute_two = 0; ///< of two sources
};

/// Returns what one exp2 of lanes.h takes, without what makes its argument.
inline Mix exp2_mix(bool is_float) {
    // q by Horner, and w f, w + (w f) q; + magic.
    Mix mix = {is_float ? 4.0 : 7.0, 1, 2, 0, 0};
    (is_float ? mix.permute : mix.permute_two) = 1;
    return mix;
}

inline Mix operator+(Mix a, const Mix& b) {
    return {a.fma + b.fma, a.add + b.add, a.round + b.round,
            a.permute + b.permute, a.permute_two + b.permute_two};
}

/// Cycles for one vector of pairs.
inline double bound(const Mix& mix) {
    if (__builtin_cpu_is("intel"))
        return (mix.fma + mix.add + mix.round + mix.permute + mix.permute_two) /
               2;
    const double add = mix.add + 2 * mix.round;
    const double all = mix.fma + add + mix.permute + 2 * mix.permute_two;
    const double zen5 = std::max({mix.fma / 2, add / 2, all / 4});
    return is_zen4() ? 2 * zen5 : zen5;
}

inline double now(clockid_t clock) {
    timespec t;
    clock_gettime(clock, &t);
    return double(t.tv_sec) + 1e-9 * double(t.tv_nsec);
}
inline double wall_seconds() {
    return now(CLOCK_MONOTONIC);
}
inline double thread_seconds() {
    return now(CLOCK_THREAD_CPUTIME_ID);
}

/// Core cycles a second, now: a chain of dependent multiplications runs at one
/// in three cycles on every x86-64. (Additions of constants are folded while
/// they are renamed since Golden Cove.)
inline double core_clock() {
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

inline double median(std::vector<double> v) {
    std::nth_element(v.begin(), v.begin() + v.size() / 2, v.end());
    return v[v.size() / 2];
}

struct Sample {
    double seconds; ///< by the wall clock
    double cycles;  ///< of the calling thread
};

template <class Run> Sample time_once(Run&& run, int threads) {
    const double before = core_clock();
    const double wall = wall_seconds(), thread = thread_seconds();
    run(threads);
    const double used = thread_seconds() - thread;
    const double elapsed = wall_seconds() - wall;
    return {elapsed, used * std::max(before, core_clock())};
}

/// How often, and on how many threads beside one.
struct Effort {
    int repeats, threads;
};

inline void print_head(const Effort& effort) {
    std::printf("%-18s  Gpairs/s  on %2d thr  scaling  cyc/16pr    bound    "
                "share     error\n",
                "", effort.threads);
}

/// Times run(threads) and prints a row.
template <class Run>
void print_row(const char* name, const Effort& effort, double pairs,
               double cycles_bound, double error, Run&& run) {
    std::vector<double> seconds1, cycles1, secondsN;
    for (int k = 0; k < effort.repeats; ++k) {
        const Sample sample = time_once(run, 1);
        seconds1.push_back(sample.seconds);
        cycles1.push_back(sample.cycles);
        secondsN.push_back(time_once(run, effort.threads).seconds);
    }
    const double cycles = median(cycles1) / pairs * 16;
    std::printf("%-18s %9.2f %9.2f %7.2fx %9.2f %8.2f %7.0f%% %9.1e\n", name,
                pairs / median(seconds1) / 1e9, pairs / median(secondsN) / 1e9,
                median(seconds1) / median(secondsN), cycles, cycles_bound,
                100 * cycles_bound / cycles, error);
    std::fflush(stdout);
}

} // namespace roofline
