// python_bindings/ffi/handler.cpp - see handler.h.
//
// The attribute `call` is what call_text.h reads. The operands are its
// arguments in their order, each C-contiguous, and the lists of ranges after
// them; the results are those of the formula, of the dtypes it has by itself.
#include "python_bindings/ffi/handler.h"

#include "formulas/diagnostic.h"
#include "python_bindings/ffi/buffers.h"
#include "python_bindings/ffi/call_text.h"
#include "python_bindings/ffi/solve_handler.h"
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
        arrays.add_input(call->names[k], call->declared[k], call->batch,
                         operands.get<ffi::AnyBuffer>(k).value());
    for (std::size_t k = 0; k < results.size(); ++k)
        arrays.add_output(*results.get<ffi::AnyBuffer>(k).value());
    BindOptions options;
    options.ranges = ranges_in(*call, operands);
    const Bound bound = call->formula.bind(arrays.inputs, options);
    bound.run(arrays.outputs, {false, {}, stream});
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
    const auto add = [&](const char* target, const char* platform,
                         XLA_FFI_Handler* handler) {
        found[nb::make_tuple(target, platform)] =
            nb::capsule(reinterpret_cast<void*>(handler));
    };
    add("tilefold.reduce.v1", "cpu", run_on_host);
    add("tilefold.reduce.v1", "CUDA", run_on_cuda);
    add("tilefold.solve.v1", "cpu", solve_on_host);
    return found;
}

} // namespace

void bind_ffi(nb::module_& module) {
    module.def("_ffi_handlers", &handlers,
               nb::sig("def _ffi_handlers() -> "
                       "dict[tuple[str, str], typing.Any]"));
}

} // namespace tilefold::python
