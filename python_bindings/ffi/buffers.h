// python_bindings/ffi/buffers.h - XLA's buffers as arrays, and errors as XLA
// has them.
#pragma once

#include "formulas/diagnostic.h"
#include "runtime/session/session.h"

#include <xla/ffi/api/ffi.h>

#include <cstdint>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tilefold::python {

struct Element {
    DType dtype = DType::F64;
    bool is_complex = false;
};

/// A buffer as arrays: one, or the real and the imaginary parts.
struct Parts {
    char* data = nullptr;
    Element element;
    Extents shape, strides;

    explicit Parts(const xla::ffi::AnyBuffer& buffer);
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

    /// `name` outlives the arrays.
    void add_input(std::string_view name, std::optional<Axes> declared,
                   std::size_t batch, const xla::ffi::AnyBuffer& buffer);
    void add_output(const xla::ffi::AnyBuffer& buffer);
};

xla::ffi::ErrorCode code_of(Family family);

/// What `body` throws, as XLA has it.
template <class Body> xla::ffi::Error guarded(Body&& body) noexcept {
    using xla::ffi::ErrorCode;
    try {
        body();
        return xla::ffi::Error::Success();
    } catch (const Error& error) {
        return {code_of(error.family()), error.what()};
    } catch (const std::bad_alloc&) {
        return {ErrorCode::kResourceExhausted, "out of memory"};
    } catch (const std::exception& error) {
        return {ErrorCode::kInternal, error.what()};
    }
}

} // namespace tilefold::python
