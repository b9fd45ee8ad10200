// python_bindings/dlpack.h - DLPack 1.3 as C structures: how array libraries
// lend memory to each other (github.com/dmlc/dlpack).
#pragma once

#include <cstdint>

namespace tilefold::python::dlpack {

/// CudaHost: memory of the host that a GPU reaches. CudaManaged: of both.
enum DeviceType : std::int32_t {
    Cpu = 1,
    Cuda = 2,
    CudaHost = 3,
    CudaManaged = 13,
};

enum TypeCode : std::uint8_t {
    Signed = 0,
    Unsigned = 1,
    Float = 2,
    Bfloat = 4,
    Complex = 5,
    Truth = 6,
};

struct Version {
    std::uint32_t major;
    std::uint32_t minor;
};

struct Device {
    std::int32_t type;
    std::int32_t number;
};

struct ElementType {
    std::uint8_t code;
    std::uint8_t bits;
    std::uint16_t lanes;
};

/// Strides count elements; null strides mean C order.
struct Tensor {
    void* data;
    Device device;
    std::int32_t axes;
    ElementType type;
    std::int64_t* shape;
    std::int64_t* strides;
    std::uint64_t byte_offset;
};

/// In a capsule "dltensor".
struct Managed {
    Tensor tensor;
    void* context;
    void (*deleter)(Managed*);
};

inline constexpr std::uint64_t read_only_flag = 1;

/// In a capsule "dltensor_versioned".
struct ManagedVersioned {
    Version version;
    void* context;
    void (*deleter)(ManagedVersioned*);
    std::uint64_t flags;
    Tensor tensor;
};

using SetError = void(void* context, const char* kind, const char* message);

/// What `type.__dlpack_c_exchange_api__` ("dlpack_exchange_api") points at.
struct Exchange {
    Version version;
    Exchange* previous;
    int (*allocate)(Tensor* prototype, ManagedVersioned** result,
                    void* error_context, SetError* set_error);
    int (*lend_managed)(void* object, ManagedVersioned** result);
    int (*to_object)(ManagedVersioned* tensor, void** object);
    int (*borrow)(void* object, Tensor* result); ///< no reference is taken
    int (*current_stream)(std::int32_t device, std::int32_t number,
                          void** stream);
};

} // namespace tilefold::python::dlpack
