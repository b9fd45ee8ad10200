// compiler/backends/cuda/device/gather.cuh - adds elements up, in their order
// and in double precision, and writes the sums elsewhere.

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

extern "C" __global__ void __launch_bounds__(threads)
gather(const __grid_constant__ GatherCall call) {
    const long long step = (long long)gridDim.x * threads;
    for (long long t = (long long)blockIdx.x * threads + threadIdx.x;
         t < call.written.count; t += step) {
        char* to = call.to + offset_of(call.written, t);
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
