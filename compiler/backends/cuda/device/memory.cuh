// compiler/backends/cuda/device/memory.cuh - elements of arrays, as they are
// stored; states and constants, by their bits.

/// a / b and the rest, of 0 <= a < 2^51 and 0 < b. The routine that CUDA has
/// for all 64 bits takes ptxas as long as a kernel's loops, and each kernel
/// has its own; of a function that is not inlined there is one.
struct Quotient {
    long long whole, rest;
};
static __device__ __noinline__ Quotient divided(long long a, long long b) {
    const double by = double(b);
    double inverse = ptx_reciprocal(by);
    inverse = inverse * fma(-by, inverse, 2.0);
    inverse = inverse * fma(-by, inverse, 2.0);
    Quotient result;
    result.whole = (long long)(double(a) * inverse); // or one beside it
    result.rest = a - result.whole * b;
    const int beside = (result.rest >= b) - (result.rest < 0);
    result.whole += beside;
    result.rest -= beside * b;
    return result;
}

/// A batch, and a part of the width.
struct Run {
    long long batch, part;
};

/// The run of a block, whose third coordinate is its number in the launch.
static __device__ __forceinline__ Run find_run(const Call& call) {
    const long long number = call.first_run + blockIdx.z;
    if (!is_open)
        return {number, 0};
    const Quotient of_parts = divided(number, call.parts);
    return {of_parts.whole, of_parts.rest};
}

/// The place where the arrays of a run begin.
struct Place {
    long long batch, first_component;
    int components; // of an open width that the part has
    const char* array[operand_count];
    char* out;
};

/// Bytes from the first batch of an operand, or of the results, to `batch`.
static __device__ __forceinline__ long long
offset_of(const Call& call, long long batch, int array) {
    return call.offsets ? call.offsets[batch * (operand_count + 1) + array] : 0;
}
static __device__ __forceinline__ const char*
array_of(const Call& call, long long batch, int operand) {
    return call.operands[operand].base + offset_of(call, batch, operand);
}

static __device__ __forceinline__ void find_part(const Call& call, Run run,
                                                 Place& place) {
    place.batch = run.batch;
    place.first_component = run.part * width_block;
    place.components = int(min(call.width - place.first_component,
                               (long long)width_block));
}

static __device__ __forceinline__ Place with_results(const Call& call,
                                                     Place place) {
    place.out = call.out + place.first_component * call.out_component +
                offset_of(call, place.batch, operand_count);
    return place;
}
static __device__ __forceinline__ Place find_place(const Call& call, Run run) {
    Place place;
    find_part(call, run, place);
#pragma unroll
    for (int k = 0; k < operand_count; ++k)
        place.array[k] = array_of(call, run.batch, k);
    return with_results(call, place);
}

/// Returns where an operand's point lies.
static __device__ __forceinline__ const char*
point(const Call& call, const Place& place, int operand, long long at) {
    return place.array[operand] + at * call.operands[operand].stride;
}

template <class T>
static __device__ __forceinline__ T element_at(const char* address) {
    return *reinterpret_cast<const T*>(address);
}

static __device__ __forceinline__ double load_f64(const char* at) {
    return element_at<double>(at);
}
static __device__ __forceinline__ float load_f32(const char* at) {
    return element_at<float>(at);
}
static __device__ __forceinline__ float load_bf16(const char* at) {
    return __uint_as_float(unsigned(element_at<unsigned short>(at)) << 16);
}
static __device__ __forceinline__ float load_f16(const char* at) {
    return half_to_float(element_at<unsigned short>(at));
}
static __device__ __forceinline__ long long load_i64(const char* at) {
    return element_at<long long>(at);
}
static __device__ __forceinline__ long long load_i32(const char* at) {
    return element_at<int>(at);
}
static __device__ __forceinline__ long long load_i16(const char* at) {
    return element_at<short>(at);
}
static __device__ __forceinline__ long long load_i8(const char* at) {
    return element_at<signed char>(at);
}
/// What int64 does not hold is its largest number.
static __device__ __forceinline__ long long load_u64(const char* at) {
    const unsigned long long x = element_at<unsigned long long>(at);
    return x > (unsigned long long)largest_integer ? largest_integer
                                                 : (long long)x;
}
static __device__ __forceinline__ long long load_u32(const char* at) {
    return element_at<unsigned>(at);
}
static __device__ __forceinline__ long long load_u16(const char* at) {
    return element_at<unsigned short>(at);
}
static __device__ __forceinline__ long long load_u8(const char* at) {
    return element_at<unsigned char>(at);
}
static __device__ __forceinline__ bool load_bool(const char* at) {
    return element_at<unsigned char>(at) != 0;
}

/// A result, or what is added to one.
template <class T>
static __device__ __forceinline__ void write(const Call& call, char* at,
                                             T value) {
    T* place = reinterpret_cast<T*>(at);
    *place = call.accumulate ? T(*place + value) : value;
}
static __device__ __forceinline__ void write(const Call& call, char* at,
                                             long long value) {
    long long* place = reinterpret_cast<long long*>(at);
    *place = call.accumulate ? whole_sum(*place, value) : value;
}
static __device__ __forceinline__ void write(const Call& call, char* at,
                                             bool value) {
    unsigned char* place = reinterpret_cast<unsigned char*>(at);
    *place = value || (call.accumulate && *place);
}

/// A double stands for itself, an integer by its bits.
static __device__ __forceinline__ void put(double* at, double value) {
    *at = value;
}
static __device__ __forceinline__ void put(double* at, long long value) {
    *reinterpret_cast<long long*>(at) = value;
}
static __device__ __forceinline__ void put(double* at, bool value) {
    *at = value;
}
static __device__ __forceinline__ void take(const double* at, double& value) {
    value = *at;
}
static __device__ __forceinline__ void take(const double* at, float& value) {
    value = float(*at);
}
static __device__ __forceinline__ void take(const double* at,
                                            long long& value) {
    value = *reinterpret_cast<const long long*>(at);
}
static __device__ __forceinline__ void take(const double* at, bool& value) {
    value = *at != 0;
}
/// Vectors of constants lie as they are read.
template <class T>
static __device__ __forceinline__ const T* array_at(const double* at) {
    return reinterpret_cast<const T*>(at);
}
template <class T>
static __device__ __forceinline__ void put_element(double* at, int k, T value) {
    reinterpret_cast<T*>(at)[k] = value;
}

/// A point's number, or the one that a list has in its place.
static __device__ __forceinline__ long long row_number(const Call& call,
                                                       long long at) {
    return call.row_index ? call.row_index[at] : call.first_row + at;
}
static __device__ __forceinline__ long long column_number(const Call& call,
                                                          long long at) {
    return call.column_index ? call.column_index[at] : call.first_column + at;
}
