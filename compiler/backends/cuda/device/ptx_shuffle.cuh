// compiler/backends/cuda/device/ptx_shuffle.cuh - what lanes of a warp read of
// each other. As in ptx.cuh, a host has functions of the same names.

#ifndef TILEFOLD_HOST
/// What the lane has whose number differs in the bits `apart`.
template <class T> __device__ __forceinline__ T of_lane(T value, int apart) {
    return __shfl_xor_sync(0xffffffffu, value, apart);
}
template <>
__device__ __forceinline__ bool of_lane<bool>(bool value, int apart) {
    return __shfl_xor_sync(0xffffffffu, int(value), apart) != 0;
}
#endif
