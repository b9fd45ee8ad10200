// python_bindings/ffi/handler.cpp - see handler.h.
//
// The attribute `call` is what call_text.h reads. The operands are its
// arguments in their order, each C-contiguous, and the lists of ranges after
// them; the results are those of the formula, of the dtypes it has by itself.
#include "python_bindings/ffi/handler.h"

#include "formulas/diagnostic.h"
#include "python_bindings/ffi/call_text.h"
#include "python_bindings/range_lists.h"
#include "python_bindings/session_handle.h"

#include <xla/ffi/api/ffi.h>

#include <new>
#include <string>
#include <utility>
#include <vector>

namespace tilefold::python {

namespace {

namespace ffi = xla::ffi;
namespace nb = nanobind;

/// Element 0 of arrays that have none: a null pointer would mean a number.
const double no_elements[2] = {0, 0};

struct Element {
    DType dtype = DType::F64;
    bool is_complex = false;
};

Element element_of(ffi::DataType type) {
    struct Row {
        ffi::DataType type;
        DType dtype;
        bool is_complex = false;
    };
    static constexpr Row rows[] = {
        {ffi::F64, DType::F64},       {ffi::F32, DType::F32},
        {ffi::F16, DType::F16},       {ffi::BF16, DType::BF16},
        {ffi::S64, DType::I64},       {ffi::S32, DType::I32},
        {ffi::S16, DType::I16},       {ffi::S8, DType::I8},
        {ffi::U64, DType::U64},       {ffi::U32, DType::U32},
        {ffi::U16, DType::U16},       {ffi::U8, DType::U8},
        {ffi::PRED, DType::Bool},     {ffi::C64, DType::F32, true},
        {ffi::C128, DType::F64, true}};
    for (const Row& row : rows)
        if (row.type == type)
            return {row.dtype, row.is_complex};
    internal_error("a buffer of an element type that no call has");
}

/// Of C-contiguous elements of `step` bytes.
Extents strides_of(const Extents& shape, std::int64_t step) {
    Extents strides(shape.size());
    for (std::size_t axis = shape.size(); axis-- > 0;) {
        strides[axis] = step;
        step *= shape[axis];
    }
    return strides;
}

/// A buffer as arrays: one, or the real and the imaginary parts.
struct Parts {
    char* data = nullptr;
    Element element;
    Extents shape, strides;

    explicit Parts(const ffi::AnyBuffer& buffer)
        : data(static_cast<char*>(buffer.untyped_data())),
          element(element_of(buffer.element_type())),
          shape(buffer.dimensions().begin(), buffer.dimensions().end()) {
        const auto bytes = std::int64_t(size_of(element.dtype));
        strides = strides_of(shape, element.is_complex ? 2 * bytes : bytes);
    }
    std::size_t count() const { return element.is_complex ? 2 : 1; }
    std::size_t offset(std::size_t part) const {
        return part * size_of(element.dtype);
    }
};

/// A call's arrays, where they are.
struct Arrays {
    Location location;
    std::vector<NamedView> inputs;
    std::vector<Output> outputs;

    void add_input(const FfiCall& call, std::size_t k,
                   const ffi::AnyBuffer& buffer) {
        const Parts parts(buffer);
        for (std::size_t part = 0; part < parts.count(); ++part) {
            NamedView& input = inputs.emplace_back();
            input.name = call.names[k];
            input.part = part == 0 ? Part::Real : Part::Imaginary;
            input.declared = call.declared[k];
            input.batch = call.batch;
            input.view.data = parts.data
                                  ? parts.data + parts.offset(part)
                                  : static_cast<const void*>(no_elements);
            input.view.dtype = parts.element.dtype;
            input.view.shape = parts.shape;
            input.view.strides = parts.strides;
            input.view.location = location;
        }
    }
    void add_output(const ffi::AnyBuffer& buffer) {
        const Parts parts(buffer);
        for (std::size_t part = 0; part < parts.count(); ++part)
            outputs.push_back({parts.data + parts.offset(part),
                               parts.element.dtype, parts.shape, parts.strides,
                               location});
    }
};

/// The whole numbers of a list, which JAX may hold in 32 bits.
std::vector<std::int64_t> numbers_of(const ffi::AnyBuffer& buffer) {
    const std::size_t count = buffer.element_count();
    if (buffer.element_type() == ffi::S64) {
        const auto* first =
            static_cast<const std::int64_t*>(buffer.untyped_data());
        return {first, first + count};
    }
    if (buffer.element_type() != ffi::S32)
        internal_error("a list of ranges that is not of whole numbers");
    const auto* first = static_cast<const std::int32_t*>(buffer.untyped_data());
    return {first, first + count};
}

std::shared_ptr<const Ranges> ranges_in(const FfiCall& call,
                                        const ffi::RemainingArgs& operands) {
    if (!call.ranges)
        return nullptr;
    std::vector<std::int64_t> lists[4];
    for (std::size_t k = 0; k < 4; ++k)
        lists[k] = numbers_of(
            operands.get<ffi::AnyBuffer>(call.names.size() + k).value());
    return ranges_of(*call.ranges, {lists[0], lists[1], lists[2], lists[3]});
}

void run(const Location& location, void* stream, std::string_view text,
         const ffi::RemainingArgs& operands,
         const ffi::RemainingRets& results) {
    const std::shared_ptr<const FfiCall> call = call_of_text(text);
    if (operands.size() != call->names.size() + (call->ranges ? 4 : 0))
        internal_error("a call with another number of operands");
    Arrays arrays{location, {}, {}};
    arrays.inputs.reserve(call->names.size());
    for (std::size_t k = 0; k < call->names.size(); ++k)
        arrays.add_input(*call, k, operands.get<ffi::AnyBuffer>(k).value());
    for (std::size_t k = 0; k < results.size(); ++k)
        arrays.add_output(*results.get<ffi::AnyBuffer>(k).value());
    BindOptions options;
    options.ranges = ranges_in(*call, operands);
    const Bound bound = call->formula.bind(arrays.inputs, options);
    bound.run(arrays.outputs, {false, {}, stream});
}

ffi::ErrorCode code_of(Family family) {
    switch (family) {
    case Family::OutOfMemory:
        return ffi::ErrorCode::kResourceExhausted;
    case Family::Cancelled:
        return ffi::ErrorCode::kCancelled;
    case Family::Internal:
    case Family::Warning:
        return ffi::ErrorCode::kInternal;
    case Family::Formula:
    case Family::Shape:
    case Family::DType:
    case Family::Argument:
    case Family::Device:
        return ffi::ErrorCode::kInvalidArgument;
    }
    return ffi::ErrorCode::kInternal;
}

/// What `body` throws, as XLA has it.
template <class Body> ffi::Error guarded(Body&& body) noexcept {
    try {
        body();
        return ffi::Error::Success();
    } catch (const Error& error) {
        return ffi::Error(code_of(error.family()), error.what());
    } catch (const std::bad_alloc&) {
        return ffi::Error(ffi::ErrorCode::kResourceExhausted, "out of memory");
    } catch (const std::exception& error) {
        return ffi::Error::Internal(error.what());
    }
}

XLA_FFI_DEFINE_HANDLER(run_on_host,
                       ([](std::string_view text, ffi::RemainingArgs operands,
                           ffi::RemainingRets results) {
                           return guarded([&] {
                               run({}, nullptr, text, operands, results);
                           });
                       }),
                       ffi::Ffi::Bind()
                           .Attr<std::string_view>("call")
                           .RemainingArgs()
                           .RemainingRets());

/// The work is queued on the program's stream, and nobody waits for it.
XLA_FFI_DEFINE_HANDLER(run_on_cuda,
                       ([](void* stream, std::int32_t device,
                           std::string_view text, ffi::RemainingArgs operands,
                           ffi::RemainingRets results) {
                           return guarded([&] {
                               run(Location::cuda(device), stream, text,
                                   operands, results);
                           });
                       }),
                       ffi::Ffi::Bind()
                           .Ctx<ffi::PlatformStream<void*>>()
                           .Ctx<ffi::DeviceOrdinal>()
                           .Attr<std::string_view>("call")
                           .RemainingArgs()
                           .RemainingRets());

nb::dict handlers() {
    default_session(); // made under the GIL: it asks Python where packages are
    nb::dict found;
    found["cpu"] = nb::capsule(reinterpret_cast<void*>(run_on_host));
    found["CUDA"] = nb::capsule(reinterpret_cast<void*>(run_on_cuda));
    return found;
}

} // namespace

void bind_ffi(nb::module_& module) {
    module.def("_ffi_handlers", &handlers,
               nb::sig("def _ffi_handlers() -> dict[str, typing.Any]"));
}

} // namespace tilefold::python
