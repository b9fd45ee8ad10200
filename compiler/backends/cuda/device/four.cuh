// compiler/backends/cuda/device/four.cuh - four components of a vector at once,
// in one instruction where they lie side by side.

constexpr int group = 4;

struct __align__(16) Four {
    float at[4];
};
struct __align__(8) FourHalves {
    unsigned short at[4];
};

static __device__ __forceinline__ bool is_aligned(const char* at, int bytes) {
    return (unsigned long long)at % bytes == 0;
}

static __device__ __forceinline__ Four load_four_f32(const char* at,
                                                     long long step) {
    if (step == 4 && is_aligned(at, 16))
        return element_at<Four>(at);
    return {{load_f32(at), load_f32(at + step), load_f32(at + 2 * step),
             load_f32(at + 3 * step)}};
}

static __device__ __forceinline__ FourHalves load_halves(const char* at,
                                                         long long step) {
    if (step == 2 && is_aligned(at, 8))
        return element_at<FourHalves>(at);
    return {{element_at<unsigned short>(at),
             element_at<unsigned short>(at + step),
             element_at<unsigned short>(at + 2 * step),
             element_at<unsigned short>(at + 3 * step)}};
}
static __device__ __forceinline__ Four load_four_bf16(const char* at,
                                                      long long step) {
    const FourHalves from = load_halves(at, step);
    Four four;
#pragma unroll
    for (int q = 0; q < 4; ++q)
        four.at[q] = __uint_as_float(unsigned(from.at[q]) << 16);
    return four;
}
static __device__ __forceinline__ Four load_four_f16(const char* at,
                                                     long long step) {
    const FourHalves from = load_halves(at, step);
    Four four;
#pragma unroll
    for (int q = 0; q < 4; ++q)
        four.at[q] = half_to_float(from.at[q]);
    return four;
}
