// tests/cuda/shim.h - runs emitted CUDA C++ on the host: every thread of a
// block is a fibre, and a barrier is where fibres change places.
//
//  1. A block's threads run in one of several orders, warp by warp in some; a
//     kernel that is free of races gives the same bits in each.
//  2. All threads of a block meet at the same barrier, or the launch fails.
//  3. Shared memory is NaN when a block begins.
//  4. What the lanes of a warp do together waits until all 32 are there.
//  5. What a thread copies to shared memory is there at once or, in another
//     order of threads, not before the thread has waited for it.
//  6. PTX is in helpers (device/ptx.cuh) that have twins here.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <math.h>
#include <numeric>
#include <utility>
#include <vector>

#include <setjmp.h>
#include <sys/mman.h>
#include <ucontext.h>

#define TILEFOLD_HOST 1
#define __device__
#define __global__
#define __forceinline__ inline
#define __noinline__
#define __launch_bounds__(...)
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
static inline unsigned __float_as_uint(float x) {
    return tilefold_bits<unsigned>(x);
}
static inline double __longlong_as_double(long long x) {
    return tilefold_bits<double>(x);
}

/// As on the device: results below the smallest normal number are 0.
#define DYNAMIC_SHARED(Type, name) __shared__ Type name

using SharedAddress = const char*;
static inline SharedAddress ptx_shared_address(const void* of) {
    return static_cast<const char*>(of);
}
template <class T> static inline T ptx_load_shared(SharedAddress at) {
    return *reinterpret_cast<const T*>(at);
}

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
static inline float ptx_larger(float a, float b) {
    return a > b || a != a ? a : b;
}
static inline float ptx_smaller(float a, float b) {
    return a < b || a != a ? a : b;
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

/// Where a fibre goes on. It is begun by ucontext and changes places by
/// _longjmp, which asks nothing of the kernel: swapcontext's two calls for the
/// signals took half of the tests' time.
struct Place {
    jmp_buf registers;
};

/// The fibres of the one block that runs; each runs block after block.
struct Block {
    Place scheduler;
    std::vector<Place> fibres;
    std::vector<bool> is_begun; ///< by fibre
    /// Line of a barrier; 0: done; negative: of all that a warp has done
    /// together, the number.
    std::vector<int> waits_at;
    std::vector<int> exchanges; ///< by thread
    /// By thread: what it shows the other lanes.
    std::vector<std::array<double, 16>> shown;
    /// By thread: copies that it has begun and not waited for. In the first
    /// order of threads there are none: they are done at once.
    std::vector<std::vector<std::pair<void*, const char*>>> begun;
    bool copies_late = false;
    char* stacks = nullptr;
    std::size_t stacks_size = 0;
    unsigned current = 0;
    void (*kernel)(const void* call) = nullptr;
    const void* call = nullptr;
};
static Block block;

/// Goes on where the fibre is resumed.
static __attribute__((noinline)) void leave_fibre() {
    if (_setjmp(block.fibres[block.current].registers) == 0)
        _longjmp(block.scheduler.registers, 1);
}

static inline void barrier(int line) {
    block.waits_at[block.current] = line;
    leave_fibre();
}

/// Until all lanes of the warp are here as often.
static inline void meet_warp() {
    block.waits_at[block.current] = --block.exchanges[block.current];
    leave_fibre();
}

/// Shows the lane's values to its warp; then `read` reads those of any lane.
template <std::size_t N, class Read>
static inline auto exchanged(const double (&own)[N], const Read& read) {
    const unsigned me = threadIdx.x;
    std::copy(own, own + N, block.shown[me].begin());
    meet_warp();
    const auto result = read([me](unsigned lane) -> const auto& {
        return block.shown[me / 32 * 32 + lane];
    });
    meet_warp();
    return result;
}

static void fibre_main() {
    for (;;) {
        block.kernel(block.call);
        block.waits_at[block.current] = 0;
        leave_fibre();
    }
}

static void begin_fibre(unsigned number) {
    ucontext_t start;
    getcontext(&start);
    start.uc_stack.ss_sp = block.stacks + number * stack_bytes;
    start.uc_stack.ss_size = stack_bytes;
    makecontext(&start, fibre_main, 0);
    block.is_begun[number] = true;
    setcontext(&start);
}

/// Until the fibre leaves.
static __attribute__((noinline)) void resume_fibre(unsigned number) {
    block.current = threadIdx.x = number;
    if (_setjmp(block.scheduler.registers) != 0)
        return;
    if (block.is_begun[number])
        _longjmp(block.fibres[number].registers, 1);
    begin_fibre(number);
}

static inline std::vector<unsigned> order_of(unsigned threads, int order) {
    std::vector<unsigned> numbers(threads);
    std::iota(numbers.begin(), numbers.end(), 0u);
    if (order == 1)
        numbers = {numbers.rbegin(), numbers.rend()};
    if (order > 1) {
        unsigned short state[3] = {0, 0, (unsigned short)(order)};
        for (unsigned k = threads; k > 1; --k)
            std::swap(numbers[k - 1], numbers[unsigned(nrand48(state)) % k]);
    }
    return numbers;
}

static inline void begin(unsigned threads) {
    const std::size_t size = threads * stack_bytes;
    if (block.stacks_size < size) {
        if (block.stacks)
            munmap(block.stacks, block.stacks_size);
        block.is_begun.clear();
        block.stacks = static_cast<char*>(
            mmap(nullptr, size, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
        block.stacks_size = size;
    }
    block.fibres.resize(threads);
    block.is_begun.resize(threads);
    block.waits_at.assign(threads, 0);
    block.exchanges.assign(threads, 0);
    block.shown.assign(threads, {});
    block.begun.assign(threads, {});
}

static inline void resume(const std::vector<unsigned>& numbers) {
    for (unsigned k : numbers)
        resume_fibre(k);
}

static inline bool lanes_meet(const std::vector<unsigned>& lanes) {
    const int at = block.waits_at[lanes[0]];
    return at < 0 && std::all_of(
                         lanes.begin(), lanes.end(),
                         [&](unsigned k) { return block.waits_at[k] == at; });
}

/// Runs one warp after the other, each as far as it comes alone, those first
/// whose lanes are. `from_barrier`: none has gone on from there.
static inline void run_warps(const std::vector<unsigned>& numbers,
                             bool from_barrier) {
    std::vector<unsigned> begun(numbers.size() / 32 + 1);
    for (unsigned number : numbers) {
        if (begun[number / 32]++)
            continue;
        std::vector<unsigned> lanes;
        for (unsigned k : numbers)
            if (k / 32 == number / 32)
                lanes.push_back(k);
        if (from_barrier)
            resume(lanes);
        while (lanes_meet(lanes))
            resume(lanes);
    }
}

/// One block to its end; false where its threads part at a barrier.
static inline bool run_block(unsigned threads, int order) {
    begin(threads);
    block.copies_late = order > 0;
    const std::vector<unsigned> numbers = order_of(threads, order);
    // In the first order all threads go on from a barrier before a warp does
    // something together; in others a warp may be far ahead of the next.
    const bool by_warps = order > 0;
    for (;;) {
        if (!by_warps)
            resume(numbers);
        run_warps(numbers, by_warps);
        for (int line : block.waits_at)
            if (line != block.waits_at[0] || line < 0)
                return false;
        if (block.waits_at[0] == 0)
            return true;
    }
}

/// 0, or 1 where threads of a block do not meet at one barrier. Shared memory
/// is [shared, shared_end).
static inline int launch(unsigned threads, const unsigned (&grid)[3], int order,
                         char* shared, char* shared_end,
                         void (*kernel)(const void* call), const void* call) {
    block.kernel = kernel;
    block.call = call;
    gridDim = {grid[0], grid[1], grid[2]};
    const unsigned blocks = grid[0] * grid[1] * grid[2];
    for (unsigned k = 0; k < blocks; ++k) {
        const unsigned number = order == 1 ? blocks - 1 - k : k;
        blockIdx = {number % grid[0], number / grid[0] % grid[1],
                    number / grid[0] / grid[1]};
        std::memset(shared, 0xff, std::size_t(shared_end - shared));
        if (!run_block(threads, order)) {
            block.is_begun.clear(); // none ends what it is in
            return 1;
        }
    }
    return 0;
}

} // namespace tilefold_shim

static inline double of_lane(double value, int apart) {
    const unsigned from = threadIdx.x % 32 ^ unsigned(apart);
    return tilefold_shim::exchanged(
        {value}, [&](const auto& lane) { return lane(from)[0]; });
}
static inline float of_lane(float value, int apart) {
    return float(of_lane(double(value), apart));
}
static inline bool of_lane(bool value, int apart) {
    return of_lane(double(value), apart) != 0;
}
static inline long long of_lane(long long value, int apart) {
    return tilefold_bits<long long>(
        of_lane(tilefold_bits<double>(value), apart));
}
static inline int of_lane(int value, int apart) {
    return int(of_lane(double(value), apart));
}

/// The nearest, ties to even, of what a half holds as a normal number.
static inline unsigned half_of(float x) {
    int exponent = 0;
    const float size = std::fabs(x), fraction = std::frexp(size, &exponent);
    unsigned bits = 0x7c00u;
    if (size < 0x1p-14f)
        bits = unsigned(std::nearbyint(size * 0x1p24f));
    else if (size < 65520)
        bits = unsigned(exponent + 13) * 1024 +
               unsigned(std::nearbyint(fraction * 2048));
    return std::isnan(x) ? 0x7fffu : bits | (std::signbit(x) ? 0x8000u : 0);
}

static inline unsigned ptx_two_f16(float lower, float upper) {
    return half_of(upper) << 16 | half_of(lower);
}
static inline unsigned bfloat_of(float x) {
    const unsigned bits = __float_as_uint(x);
    return std::isnan(x) ? 0x7fffu : (bits + 0x7fffu + (bits >> 16 & 1)) >> 16;
}
static inline unsigned ptx_two_bf16(float lower, float upper) {
    return bfloat_of(upper) << 16 | bfloat_of(lower);
}

namespace tilefold_shim {

/// c += a b of a warp's tile of 16 × 8: `of(word, half)` is the number in half
/// a word of a factor. The sum of a step is exact, then rounded to float.
template <int Halves, class Of>
static inline void multiply_tile(float* const (&c)[4], const unsigned (&a)[4],
                                 const unsigned (&b)[2], const Of& of) {
    const double own[] = {double(a[0]), double(a[1]), double(a[2]),
                          double(a[3]), double(b[0]), double(b[1])};
    const unsigned row = threadIdx.x % 32 / 4, column = threadIdx.x % 4 * 2;
    const auto sums = exchanged(own, [&](const auto& lane) {
        std::array<double, 4> result{};
        for (unsigned k = 0; k < 4; ++k)
            for (unsigned t = 0; t < 4; ++t)
                for (unsigned half = 0; half < 2; ++half)
                    for (int part = 0; part < Halves; ++part) {
                        const double x = lane(row * 4 + t)[k / 2 + 2 * half];
                        const double y =
                            lane((column + k % 2) * 4 + t)[4 + half];
                        result[k] +=
                            of(unsigned(x), part) * of(unsigned(y), part);
                    }
        return result;
    });
    for (unsigned k = 0; k < 4; ++k)
        *c[k] = float(double(*c[k]) + sums[k]);
}

} // namespace tilefold_shim

static inline void ptx_mma_tf32(float& c0, float& c1, float& c2, float& c3,
                                const unsigned (&a)[4],
                                const unsigned (&b)[2]) {
    tilefold_shim::multiply_tile<1>(
        {&c0, &c1, &c2, &c3}, a, b, [](unsigned word, int) {
            return double(__uint_as_float(word & ~0x1fffu));
        });
}
static inline void ptx_mma_bf16(float& c0, float& c1, float& c2, float& c3,
                                const unsigned (&a)[4],
                                const unsigned (&b)[2]) {
    tilefold_shim::multiply_tile<2>(
        {&c0, &c1, &c2, &c3}, a, b, [](unsigned word, int half) {
            return double(
                __uint_as_float(half ? word & 0xffff0000u : word << 16));
        });
}
static inline void ptx_mma_f16(float& c0, float& c1, float& c2, float& c3,
                               const unsigned (&a)[4], const unsigned (&b)[2]) {
    tilefold_shim::multiply_tile<2>(
        {&c0, &c1, &c2, &c3}, a, b, [](unsigned word, int half) {
            return double(half_to_float((unsigned short)(word >> 16 * half)));
        });
}

static inline void ptx_copy_16(void* to, const char* from) {
    using tilefold_shim::block;
    if (reinterpret_cast<std::uintptr_t>(to) % 16 ||
        reinterpret_cast<std::uintptr_t>(from) % 16)
        std::abort();
    if (block.copies_late)
        block.begun[threadIdx.x].emplace_back(to, from);
    else
        std::memcpy(to, from, 16);
}
static inline void ptx_wait_for_copies() {
    auto& begun = tilefold_shim::block.begun[threadIdx.x];
    for (const auto& [to, from] : begun)
        std::memcpy(to, from, 16);
    begun.clear();
}
static inline void ptx_load_transposed(const void* row, unsigned& a,
                                       unsigned& b, unsigned& c, unsigned& d) {
    const double own[] = {
        tilefold_bits<double>(reinterpret_cast<std::uintptr_t>(row))};
    const unsigned g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
    const auto words = tilefold_shim::exchanged(own, [&](const auto& lane) {
        std::array<unsigned, 4> result{};
        for (unsigned m = 0; m < 4; ++m)
            for (unsigned half = 0; half < 2; ++half) {
                const auto* from = reinterpret_cast<const unsigned short*>(
                    tilefold_bits<std::uintptr_t>(
                        lane(8 * m + 2 * t + half)[0]));
                result[m] |= unsigned(from[g]) << 16 * half;
            }
        return result;
    });
    a = words[0], b = words[1], c = words[2], d = words[3];
}
