// compiler/backends/cuda/device/stored.cuh - vectors of 16 bits that are factors
// as they lie: from memory to shared memory while the thread goes on.

/// A vector in memory: `count` numbers of 16 bits, `step` bytes apart.
struct Stored {
    const char* at;
    long long step;
    int count;
};

/// Starts to copy components d … d + 7, 0 beyond the last, to an address that
/// 16 divides. They are there after ptx_wait_for_copies(), and for other
/// threads after a barrier behind that.
static __device__ __forceinline__ void copy_eight(unsigned short* to,
                                                  const Stored& from, int d) {
    const char* at = from.at + d * from.step;
    if (from.step == 2 && d + 8 <= from.count && is_aligned(at, 16)) {
        ptx_copy_16(to, at);
        return;
    }
#pragma unroll 1
    for (int q = 0; q < 8; ++q)
        to[q] = d + q < from.count
                    ? element_at<unsigned short>(at + q * from.step)
                    : (unsigned short)0;
}
