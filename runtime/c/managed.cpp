// runtime/c/managed.cpp - see managed.h.

#include "runtime/c/managed.h"

#include "formulas/diagnostic.h"
#include "runtime/schedule/device_backend.h"
#include "runtime/tensor/element_type.h"

#include <algorithm>
#include <new>

namespace tilefold::c {
namespace {

/// What DLPack asks of data.
constexpr std::align_val_t alignment{256};

struct Free {
    void operator()(void* data) const { ::operator delete(data, alignment); }
};

/// A tensor, and all that it points to.
struct Managed {
    DLManagedTensorVersioned tensor{};
    Extents shape, strides;
    std::unique_ptr<void, Free> memory;
    std::unique_ptr<DeviceMemory> device_memory;
};

void free_managed(DLManagedTensorVersioned* tensor) {
    delete static_cast<Managed*>(tensor->manager_ctx);
}

std::unique_ptr<void, Free> host_memory(double bytes) {
    void* data = nullptr;
    if (bytes < 0x1p62)
        data = ::operator new(std::max<std::size_t>(std::size_t(bytes), 1),
                              alignment, std::nothrow);
    if (!data)
        fail(Code::OutOfMemory,
             {"the result", std::to_string(std::int64_t(bytes / 1e6)) + " MB",
              "reduce it, or take a part of the rows at a time"});
    return std::unique_ptr<void, Free>(data);
}

void describe(Managed& managed, DLDataType type, const Location& location) {
    const Extents& shape = managed.shape;
    managed.strides.resize(shape.size());
    std::int64_t step = 1;
    for (std::size_t axis = shape.size(); axis-- > 0;) {
        managed.strides[axis] = step;
        step *= std::max<std::int64_t>(shape[axis], 1);
    }
    managed.tensor.version = {DLPACK_MAJOR_VERSION, DLPACK_MINOR_VERSION};
    managed.tensor.manager_ctx = &managed;
    managed.tensor.deleter = &free_managed;
    DLTensor& tensor = managed.tensor.dl_tensor;
    tensor.data = managed.device_memory ? managed.device_memory->data()
                                        : managed.memory.get();
    tensor.device = {kDLCPU, 0};
    if (!location.is_host())
        tensor.device = {kDLCUDA, location.number};
    tensor.ndim = std::int32_t(shape.size());
    tensor.dtype = type;
    tensor.shape = managed.shape.data();
    tensor.strides = managed.strides.data();
}

} // namespace

DLManagedTensorVersioned* allocate(const tilefold_bound& bound,
                                   const tilefold_bound::Result& result,
                                   void* stream) {
    auto managed = std::make_unique<Managed>();
    managed->shape = bound.bound.shape(result.first);
    const DLDataType type =
        element_type(bound.bound.dtype(result.first), result.is_complex);
    double bytes = type.bits / 8; // may exceed any integer
    for (const std::int64_t extent : managed->shape)
        bytes *= double(extent);
    const Location location = bound.bound.location();
    if (location.is_host())
        managed->memory = host_memory(bytes);
    else
        managed->device_memory =
            bound.bound.allocate(std::size_t(std::min(bytes, 0x1p62)), stream);
    describe(*managed, type, location);
    return &managed.release()->tensor;
}

} // namespace tilefold::c

void tilefold_tensor_free(DLManagedTensorVersioned* tensor) noexcept {
    if (tensor && tensor->deleter)
        tensor->deleter(tensor);
}
