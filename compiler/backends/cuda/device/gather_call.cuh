// compiler/backends/cuda/device/gather_call.cuh - elements that are added up
// and written elsewhere, as the kernel is given them; the runtime includes
// this file too.
//
// Extents in the order of C, strides in bytes. Element t of what is kept is
// written to element t of `written`.

constexpr int gather_axes = 8;

struct GatherAxes {
    long long count; // elements
    long long axes;
    long long extent[gather_axes], stride[gather_axes];
};

enum GatherType : long long { gather_f32, gather_f64, gather_i64, gather_bool };

struct GatherCall {
    const char* from; // null: zeros
    char* to;
    GatherAxes kept, summed, written;
    GatherType from_type, to_type;
    long long accumulate;
};
