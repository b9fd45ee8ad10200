// compiler/backends/cuda/device/gather.cuh - adds elements up, in their order
// and in double precision (integers exactly, up to the ends of int64), and
// writes the sums elsewhere.

static __device__ __forceinline__ long long offset_of(const GatherAxes& axes,
                                                      long long element) {
    long long offset = 0;
    for (int d = int(axes.axes) - 1; d >= 0; --d) {
        offset += element % axes.extent[d] * axes.stride[d];
        element /= axes.extent[d];
    }
    return offset;
}

static __device__ __forceinline__ double load_number(const char* at,
                                                     GatherType type) {
    switch (type) {
    case gather_f32:
        return *(const float*)at;
    case gather_f64:
        return *(const double*)at;
    case gather_i64:
        return (double)*(const long long*)at;
    case gather_bool:
        return *(const unsigned char*)at;
    }
    return 0;
}

static __device__ __forceinline__ void store_number(char* at, GatherType type,
                                                    double value) {
    switch (type) {
    case gather_f32:
        *(float*)at = (float)value;
        break;
    case gather_f64:
        *(double*)at = value;
        break;
    case gather_i64:
        *(long long*)at = (long long)value;
        break;
    case gather_bool:
        *(unsigned char*)at = value != 0;
        break;
    }
}

static __device__ __forceinline__ long long integer_at(const char* at) {
    return *(const long long*)at;
}
/// The wrapped sum of integers where their sum in double says that it is right.
static __device__ __forceinline__ long long within_int64(
    unsigned long long wrapped, double rough) {
    constexpr double end = 9223372036854775808.0;
    constexpr long long most = 9223372036854775807LL;
    const double excess = rough - (double)(long long)wrapped;
    return excess > end ? most : excess < -end ? -most - 1 : (long long)wrapped;
}
static __device__ __forceinline__ void gather_integers(const GatherCall& call,
                                                       const char* from,
                                                       char* to) {
    unsigned long long sum = 0;
    double rough = 0;
    for (long long k = -1; k < (from ? call.summed.count : 0); ++k) {
        if (k < 0 && !call.accumulate)
            continue;
        const long long term =
            integer_at(k < 0 ? to : from + offset_of(call.summed, k));
        sum += (unsigned long long)term;
        rough += (double)term;
    }
    *(long long*)to = within_int64(sum, rough);
}

extern "C" __global__ void __launch_bounds__(threads)
gather(const __grid_constant__ GatherCall call) {
    const long long step = (long long)gridDim.x * threads;
    for (long long t = (long long)blockIdx.x * threads + threadIdx.x;
         t < call.written.count; t += step) {
        char* to = call.to + offset_of(call.written, t);
        if (call.to_type == gather_i64) {
            gather_integers(call,
                            call.from ? call.from + offset_of(call.kept, t)
                                      : call.from,
                            to);
            continue;
        }
        double sum = call.accumulate ? load_number(to, call.to_type) : 0;
        if (call.from) {
            const char* from = call.from + offset_of(call.kept, t);
            double terms = 0;
            for (long long k = 0; k < call.summed.count; ++k)
                terms += load_number(from + offset_of(call.summed, k),
                                     call.from_type);
            sum += terms;
        }
        store_number(to, call.to_type, sum);
    }
}
