// bench/roofline/call.h - what every call does around its kernel.
#pragma once

#include "codes.h"
#include "pool.h"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <new>
#include <system_error>
#include <thread>
#include <vector>
#include <xmmintrin.h>

namespace roofline {

struct AlignedDelete {
    void operator()(void* p) const {
        ::operator delete(p, std::align_val_t(64));
    }
};
template <class U> using Aligned = std::unique_ptr<U[], AlignedDelete>;

/// Memory that begins on 64 bytes and holds nothing yet.
template <class U> Aligned<U> aligned(std::size_t count) {
    void* p = ::operator new(count * sizeof(U), std::align_val_t(64));
    return Aligned<U>(static_cast<U*>(p));
}

// The caller's rounding mode must not reach the result. Subnormal results are
// flushed: they cost 100 ns each on Intel's cores.
class DefaultFloatEnvironment {
public:
    DefaultFloatEnvironment() : saved_(_mm_getcsr()) { _mm_setcsr(0x9f80); }
    ~DefaultFloatEnvironment() { _mm_setcsr(saved_); }

private:
    unsigned saved_;
};

inline bool has_avx512() {
    return __builtin_cpu_supports("avx512f") &&
           __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512vl") &&
           __builtin_cpu_supports("avx512bw");
}

inline int threads_of(int asked) {
    return asked > 0 ? asked
                     : int(std::max(1u, std::thread::hardware_concurrency()));
}

/// The code of a call that does body(), where this processor can.
template <class Body> int guarded(Body&& body) {
    if (!has_avx512())
        return TilefoldRooflineNoAvx512;
    try {
        body();
    } catch (const std::bad_alloc&) {
        return TilefoldRooflineOutOfMemory;
    } catch (const std::system_error&) {
        return TilefoldRooflineOutOfMemory;
    }
    return TilefoldRooflineOk;
}

/// Calls body(begin, end, scratch) for blocks of `step` out of `count`, on all
/// threads; each has scratch of its own.
template <class Body>
void for_blocks(int threads, std::ptrdiff_t count, std::ptrdiff_t step,
                std::size_t scratch_floats, Body&& body) {
    std::vector<Aligned<float>> scratch(threads);
    for (auto& own : scratch)
        own = aligned<float>(scratch_floats);
    run_tasks(threads, (count + step - 1) / step,
              [&](int worker, std::ptrdiff_t block) {
                  DefaultFloatEnvironment environment;
                  const std::ptrdiff_t begin = block * step;
                  body(begin, std::min(begin + step, count),
                       scratch[worker].get());
              });
}

} // namespace roofline
