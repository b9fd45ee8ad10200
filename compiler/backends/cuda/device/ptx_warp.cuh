// compiler/backends/cuda/device/ptx_warp.cuh - products of a warp on
// tensor cores. As in ptx.cuh, a host has functions of the same names.
//
// Lane l = 4 g + t holds of a tile of 16 × 8 sums c0, c1 at (g, 2t), (g, 2t+1)
// and c2, c3 at (g+8, 2t), (g+8, 2t+1).

#ifndef TILEFOLD_HOST
/// Two numbers of 16 bits to a word, each the nearest.
static __device__ __forceinline__ unsigned ptx_two_bf16(float lower,
                                                        float upper) {
    unsigned y;
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(y) : "f"(upper), "f"(lower));
    return y;
}
static __device__ __forceinline__ unsigned ptx_two_f16(float lower,
                                                       float upper) {
    unsigned y;
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(y) : "f"(upper), "f"(lower));
    return y;
}
/// c += a b of 8 components: a0 of row g, a1 of row g + 8, component t; a2 and
/// a3 of component t + 4; b0, b1 of column g, components t and t + 4.
static __device__ __forceinline__ void
ptx_mma_tf32(float& c0, float& c1, float& c2, float& c3, const unsigned (&a)[4],
             const unsigned (&b)[2]) {
    asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 "
        "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
        : "+f"(c0), "+f"(c1), "+f"(c2), "+f"(c3)
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}
/// The same of 16 components, two to a word.
static __device__ __forceinline__ void
ptx_mma_bf16(float& c0, float& c1, float& c2, float& c3, const unsigned (&a)[4],
             const unsigned (&b)[2]) {
    asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
        "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
        : "+f"(c0), "+f"(c1), "+f"(c2), "+f"(c3)
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}
static __device__ __forceinline__ void
ptx_mma_f16(float& c0, float& c1, float& c2, float& c3, const unsigned (&a)[4],
            const unsigned (&b)[2]) {
    asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
        "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
        : "+f"(c0), "+f"(c1), "+f"(c2), "+f"(c3)
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}
/// Starts to copy 16 bytes from memory to shared memory, both at addresses that
/// 16 divides. They are there when the thread has waited.
static __device__ __forceinline__ void ptx_copy_16(void* to,
                                                   const char* from) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;"
                 :
                 : "r"(unsigned(__cvta_generic_to_shared(to))), "l"(from)
                 : "memory");
}
static __device__ __forceinline__ void ptx_wait_for_copies() {
    asm volatile("cp.async.wait_all;" : : : "memory");
}
/// Four matrices of 8 × 8 numbers of 16 bits in shared memory: lane 8 m + k says
/// where row k of matrix m lies. Of each, lane 4 g + t gets column g of the rows
/// 2t and 2t + 1.
static __device__ __forceinline__ void
ptx_load_transposed(const void* row, unsigned& a, unsigned& b, unsigned& c,
                    unsigned& d) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 "
                 "{%0,%1,%2,%3}, [%4];"
                 : "=r"(a), "=r"(b), "=r"(c), "=r"(d)
                 : "r"(unsigned(__cvta_generic_to_shared(row)))
                 : "memory");
}
#endif
