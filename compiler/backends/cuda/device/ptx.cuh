// compiler/backends/cuda/device/ptx.cuh - single instructions. This is the one
// file with PTX in it; TILEFOLD_HOST is where a host that runs kernels has
// functions of the same names, of the same or a smaller error.

#ifndef TILEFOLD_HOST
/// A block's shared memory, of which the launch says how much: of more than
/// 48 KB a kernel cannot say so itself.
#define DYNAMIC_SHARED(Type, name)                                             \
    extern __shared__ __align__(16) char dynamic_shared[];                     \
    Type& name = *reinterpret_cast<Type*>(dynamic_shared)

/// The place of something within shared memory.
using SharedAddress = unsigned;
static __device__ __forceinline__ SharedAddress
ptx_shared_address(const void* of) {
    SharedAddress address;
    asm("{\n\t.reg .u64 at;\n\tcvta.to.shared.u64 at, %1;\n\t"
        "cvt.u32.u64 %0, at;\n\t}"
        : "=r"(address)
        : "l"(of));
    return address;
}
/// What lies there, of a size and an alignment that 8 divides, or 16.
template <class T>
static __device__ __forceinline__ T ptx_load_shared(SharedAddress at) {
    union Words {
        unsigned word[sizeof(T) / 4];
        T value;
        __device__ Words() {}
    } words;
    constexpr int step = sizeof(T) % 16 == 0 ? 4 : 2;
#pragma unroll
    for (int k = 0; k < int(sizeof(T) / 4); k += step) {
        unsigned(&word)[sizeof(T) / 4] = words.word;
        if (step == 4)
            asm volatile("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4];"
                         : "=r"(word[k]), "=r"(word[k + 1]),
                           "=r"(word[k + 2]), "=r"(word[k + 3])
                         : "r"(at + k * 4)
                         : "memory");
        else
            asm volatile("ld.shared.v2.u32 {%0, %1}, [%2];"
                         : "=r"(word[k]), "=r"(word[k + 1])
                         : "r"(at + k * 4)
                         : "memory");
    }
    return words.value;
}

/// 2^x within 2^-22; 0 where that is below the smallest normal number.
static __device__ __forceinline__ float ptx_ex2(float x) {
    float y;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}
/// The square root within 2^-23; 0 of a subnormal number.
static __device__ __forceinline__ float ptx_sqrt(float x) {
    float y;
    asm("sqrt.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}
/// a / b within 2 ulp.
static __device__ __forceinline__ float ptx_div(float a, float b) {
    float y;
    asm("div.full.f32 %0, %1, %2;" : "=f"(y) : "f"(a), "f"(b));
    return y;
}
/// 1 / x within 2^-20, of a normal number.
static __device__ __forceinline__ double ptx_reciprocal(double x) {
    double y;
    asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(y) : "d"(x));
    return y;
}
/// The larger and the smaller one; where one is NaN, NaN.
static __device__ __forceinline__ float ptx_larger(float a, float b) {
#if __CUDA_ARCH__ >= 800
    float y;
    asm("max.NaN.f32 %0, %1, %2;" : "=f"(y) : "f"(a), "f"(b));
    return y;
#else
    return a > b || a != a ? a : b;
#endif
}
static __device__ __forceinline__ float ptx_smaller(float a, float b) {
#if __CUDA_ARCH__ >= 800
    float y;
    asm("min.NaN.f32 %0, %1, %2;" : "=f"(y) : "f"(a), "f"(b));
    return y;
#else
    return a < b || a != a ? a : b;
#endif
}
/// A half, exactly.
static __device__ __forceinline__ float half_to_float(unsigned short x) {
    float y;
    asm("cvt.f32.f16 %0, %1;" : "=f"(y) : "h"(x));
    return y;
}
#endif
