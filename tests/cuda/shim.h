// tests/cuda/shim.h - runs emitted CUDA C++ on the host: every thread of a
// block is a fibre, and a barrier is where fibres change places.
//
//  1. A block's threads run in one of several orders; a kernel that is free of
//     races gives the same bits in each.
//  2. All threads of a block meet at the same barrier, or the launch fails.
//  3. Shared memory is NaN when a block begins.
//  4. PTX is in helpers (device/ptx.cuh) that have twins here.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <functional>
#include <math.h>
#include <numeric>
#include <random>
#include <vector>

#include <sys/mman.h>
#include <ucontext.h>

#define TILEFOLD_HOST 1
#define __device__
#define __global__
#define __forceinline__ inline
#define __noinline__
#define __launch_bounds__(threads)
#define __grid_constant__
#define __align__(bytes) alignas(bytes)
#define __syncthreads() tilefold_shim::barrier(__LINE__)

struct tilefold_index {
    unsigned x, y, z;
};
static tilefold_index threadIdx, blockIdx, gridDim;

static inline long long min(long long a, long long b) {
    return a < b ? a : b;
}
static inline long long max(long long a, long long b) {
    return a > b ? a : b;
}
static inline int min(int a, int b) {
    return a < b ? a : b;
}
static inline int max(int a, int b) {
    return a > b ? a : b;
}
static inline float rsqrt(float x) {
    return float(1 / std::sqrt(double(x)));
}
static inline double rsqrt(double x) {
    return 1 / std::sqrt(x);
}
template <class To, class From> static inline To tilefold_bits(From from) {
    To to;
    static_assert(sizeof to == sizeof from);
    std::memcpy(&to, &from, sizeof to);
    return to;
}
static inline float __int_as_float(int x) {
    return tilefold_bits<float>(x);
}
static inline float __uint_as_float(unsigned x) {
    return tilefold_bits<float>(x);
}
static inline double __longlong_as_double(long long x) {
    return tilefold_bits<double>(x);
}

/// As on the device: results below the smallest normal number are 0.
static inline float ptx_ex2(float x) {
    const float y = std::exp2(x);
    return y < 0x1p-126f ? 0 : y;
}
static inline float ptx_sqrt(float x) {
    return std::fabs(x) < 0x1p-126f ? 0 : std::sqrt(x);
}
static inline float ptx_div(float a, float b) {
    return a / b;
}
static inline double ptx_reciprocal(double x) {
    const double y = 1 / x;
    return __longlong_as_double(tilefold_bits<long long>(y) & ~0xffffffffLL);
}
static inline float half_to_float(unsigned short bits) {
    const int exponent = bits >> 10 & 31, fraction = bits & 1023;
    float size = exponent == 31 ? (fraction ? NAN : INFINITY)
                 : exponent     ? std::ldexp(1024.0f + fraction, exponent - 25)
                                : std::ldexp(float(fraction), -24);
    return bits & 0x8000 ? -size : size;
}

namespace tilefold_shim {

constexpr std::size_t stack_bytes = 256 * 1024;

/// The fibres of the one block that runs.
struct Block {
    ucontext_t scheduler;
    std::vector<ucontext_t> fibres;
    std::vector<int> waits_at; ///< line of a barrier; 0: done, -1: running
    char* stacks = nullptr;
    std::size_t stacks_size = 0;
    unsigned current = 0;
    const std::function<void()>* kernel = nullptr;
};
static Block block;

static inline void barrier(int line) {
    block.waits_at[block.current] = line;
    swapcontext(&block.fibres[block.current], &block.scheduler);
}

static void fibre_main() {
    (*block.kernel)();
    block.waits_at[block.current] = 0;
}

static inline std::vector<unsigned> order_of(unsigned threads, int order) {
    std::vector<unsigned> numbers(threads);
    std::iota(numbers.begin(), numbers.end(), 0u);
    if (order == 1)
        numbers = {numbers.rbegin(), numbers.rend()};
    if (order > 1) {
        std::mt19937 random{unsigned(order)};
        for (unsigned k = threads; k > 1; --k)
            std::swap(numbers[k - 1], numbers[random() % k]);
    }
    return numbers;
}

static inline void begin(unsigned threads) {
    const std::size_t size = threads * stack_bytes;
    if (block.stacks_size < size) {
        if (block.stacks)
            munmap(block.stacks, block.stacks_size);
        block.stacks = static_cast<char*>(
            mmap(nullptr, size, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
        block.stacks_size = size;
    }
    block.fibres.resize(threads);
    block.waits_at.assign(threads, -1);
    for (unsigned k = 0; k < threads; ++k) {
        getcontext(&block.fibres[k]);
        block.fibres[k].uc_stack.ss_sp = block.stacks + k * stack_bytes;
        block.fibres[k].uc_stack.ss_size = stack_bytes;
        block.fibres[k].uc_link = &block.scheduler;
        makecontext(&block.fibres[k], fibre_main, 0);
    }
}

/// One block to its end; false where its threads part at a barrier.
static inline bool run_block(unsigned threads, int order) {
    begin(threads);
    const std::vector<unsigned> numbers = order_of(threads, order);
    for (;;) {
        for (unsigned k : numbers) {
            block.current = threadIdx.x = k;
            swapcontext(&block.scheduler, &block.fibres[k]);
        }
        for (int line : block.waits_at)
            if (line != block.waits_at[0])
                return false;
        if (block.waits_at[0] == 0)
            return true;
    }
}

/// 0, or 1 where threads of a block do not meet at one barrier. Shared memory
/// is [shared, shared_end).
static inline int launch(unsigned threads, unsigned blocks, int order,
                         char* shared, char* shared_end,
                         const std::function<void()>& kernel) {
    block.kernel = &kernel;
    gridDim.x = blocks;
    for (unsigned k = 0; k < blocks; ++k) {
        blockIdx.x = order == 1 ? blocks - 1 - k : k;
        std::memset(shared, 0xff, std::size_t(shared_end - shared));
        if (!run_block(threads, order))
            return 1;
    }
    return 0;
}

} // namespace tilefold_shim
