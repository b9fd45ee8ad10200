// include/tilefold/arrays.hpp - what tilefold.hpp begins with: errors, element
// types, arrays and arguments.
#ifndef TILEFOLD_ARRAYS_HPP
#define TILEFOLD_ARRAYS_HPP

#include <tilefold/tilefold.h>

#include <complex>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#if defined(__has_include) && __has_include(<version>)
#include <version>
#endif
#ifdef __cpp_lib_mdspan
#include <mdspan>
#endif

namespace tilefold {

/// What an error is about, as tilefold_error_family has it.
enum class Family : std::int32_t {
    Formula = TILEFOLD_ERROR_FORMULA,
    Shape = TILEFOLD_ERROR_SHAPE,
    DType = TILEFOLD_ERROR_DTYPE,
    Argument = TILEFOLD_ERROR_ARGUMENT,
    Memory = TILEFOLD_ERROR_MEMORY,
    Device = TILEFOLD_ERROR_DEVICE,
    Cancelled = TILEFOLD_ERROR_CANCELLED,
    Internal = TILEFOLD_ERROR_INTERNAL,
};

/// An error of the library; `what()` is its whole message.
class Error : public std::runtime_error {
public:
    /// Takes over the error, which is not null.
    explicit Error(tilefold_error* error)
        : Error(std::unique_ptr<tilefold_error, Free>(error)) {}

    Family family() const noexcept { return family_; }
    /// The name that does not change, as "UnknownFunction".
    const std::string& code() const noexcept { return code_; }
    /// The formula that is concerned; empty where none is.
    const std::string& formula() const noexcept { return formula_; }
    /// The bytes [first, second) of it that the error points at.
    std::pair<std::int64_t, std::int64_t> span() const noexcept {
        return span_;
    }

private:
    struct Free {
        void operator()(tilefold_error* error) const {
            tilefold_error_free(error);
        }
    };
    explicit Error(const std::unique_ptr<tilefold_error, Free>& error)
        : std::runtime_error(tilefold_error_message(error.get())),
          family_(Family(tilefold_error_family(error.get()))),
          code_(tilefold_error_code(error.get())),
          formula_(tilefold_error_formula(error.get())) {
        tilefold_error_span(error.get(), &span_.first, &span_.second);
    }

    Family family_;
    std::string code_, formula_;
    std::pair<std::int64_t, std::int64_t> span_;
};

/// Throws what a function of tilefold.h returned: std::bad_alloc where memory
/// is missing and there is nothing more to tell, else Error.
inline void check(tilefold_error* error) {
    if (!error)
        return;
    if (tilefold_error_family(error) == TILEFOLD_ERROR_MEMORY &&
        std::string_view(tilefold_error_message(error)) == "out of memory") {
        tilefold_error_free(error);
        throw std::bad_alloc();
    }
    throw Error(error);
}

/// The element type of a C++ type: numbers, bool, complex numbers.
template <class T> constexpr DLDataType element_type() {
    using Plain = std::remove_cv_t<T>;
    constexpr auto bits = std::uint8_t(8 * sizeof(Plain));
    if constexpr (std::is_same_v<Plain, bool>)
        return {kDLBool, bits, 1};
    else if constexpr (std::is_same_v<Plain, std::complex<float>> ||
                       std::is_same_v<Plain, std::complex<double>>)
        return {kDLComplex, bits, 1};
    else if constexpr (std::is_integral_v<Plain>)
        return {std::uint8_t(std::is_signed_v<Plain> ? kDLInt : kDLUInt), bits,
                1};
    else {
        static_assert(std::is_same_v<Plain, float> ||
                          std::is_same_v<Plain, double>,
                      "pass the element type as a DLDataType");
        return {kDLFloat, bits, 1};
    }
}

/// An array of the caller's: a pointer, a shape, strides and an element type.
/// Owns no elements.
class Array {
public:
    using Extents = std::vector<std::int64_t>;

    /// Strides are in elements; none: in the order of C.
    template <class T>
    Array(T* data, Extents shape, Extents strides = {})
        : Array(data, element_type<T>(), std::move(shape), std::move(strides)) {
    }
    Array(const void* data, DLDataType type, Extents shape,
          Extents strides = {}, DLDevice device = {kDLCPU, 0})
        : shape_(std::move(shape)), strides_(std::move(strides)) {
        if (!strides_.empty() && strides_.size() != shape_.size())
            throw std::invalid_argument(
                "tilefold::Array: pass a stride for each dimension");
        tensor_.data = const_cast<void*>(data);
        tensor_.device = device;
        tensor_.dtype = type;
    }
    /// Of a DLTensor whose shape and strides live as long as this.
    explicit Array(const DLTensor& tensor)
        : shape_(tensor.shape, tensor.shape + tensor.ndim), tensor_(tensor) {
        if (tensor.strides)
            strides_.assign(tensor.strides, tensor.strides + tensor.ndim);
    }
    /// Anything that has data() and size(): N numbers.
    template <
        class Range, class Data = decltype(std::declval<Range&>().data()),
        class = decltype(std::declval<Range&>().size()),
        class = std::enable_if_t<std::is_pointer_v<Data> &&
                                 !std::is_same_v<std::decay_t<Range>, Array>>>
    Array(Range&& range) : Array(range.data(), {std::int64_t(range.size())}) {}
#ifdef __cpp_lib_mdspan
    template <class T, class E, class L>
    Array(std::mdspan<T, E, L> span)
        : Array(span.data_handle(), extents_of(span), strides_of(span)) {}
#endif

    /// Valid until this is changed or destroyed.
    const DLTensor& tensor() const {
        tensor_.ndim = std::int32_t(shape_.size());
        tensor_.shape = shape_.data();
        tensor_.strides = strides_.empty() ? nullptr : strides_.data();
        return tensor_;
    }

private:
#ifdef __cpp_lib_mdspan
    template <class Span> static Extents extents_of(const Span& span) {
        Extents extents;
        for (std::size_t k = 0; k < Span::rank(); ++k)
            extents.push_back(std::int64_t(span.extent(k)));
        return extents;
    }
    template <class Span> static Extents strides_of(const Span& span) {
        Extents strides;
        for (std::size_t k = 0; k < Span::rank(); ++k)
            strides.push_back(std::int64_t(span.stride(k)));
        return strides;
    }
#endif

    mutable Extents shape_, strides_;
    mutable DLTensor tensor_{};
};

/// What an argument is: an array or a number.
class Value {
public:
    template <class Number,
              class = std::enable_if_t<std::is_arithmetic_v<Number>>>
    Value(Number number) : number_(double(number)) {}
    template <class... Parts,
              class = std::enable_if_t<
                  std::is_constructible_v<Array, Parts...> &&
                  !(sizeof...(Parts) == 1 &&
                    (std::is_arithmetic_v<std::decay_t<Parts>> && ...))>>
    Value(Parts&&... parts)
        : array_(new Array(std::forward<Parts>(parts)...)) {}
    template <class T>
    Value(T* data, std::initializer_list<std::int64_t> shape)
        : array_(new Array(data, Array::Extents(shape))) {}
    template <class T>
    Value(T* data, std::initializer_list<std::int64_t> shape,
          std::initializer_list<std::int64_t> strides)
        : array_(new Array(data, Array::Extents(shape),
                           Array::Extents(strides))) {}

    const DLTensor* tensor() const {
        return array_ ? &array_->tensor() : nullptr;
    }
    double number() const { return number_; }

private:
    std::shared_ptr<Array> array_;
    double number_ = 0;
};

/// An argument by its name; `axes` as TILEFOLD_AXES_… has them.
struct Argument {
    Argument(std::string name_, Value value_,
             std::int32_t axes_ = TILEFOLD_AXES_WRITTEN)
        : name(std::move(name_)), value(std::move(value_)), axes(axes_) {}

    std::string name;
    Value value;
    std::int32_t axes;
};
using Arguments = std::vector<Argument>;

namespace detail {

struct Free {
    void operator()(tilefold_session* p) const { tilefold_session_free(p); }
    void operator()(tilefold_formula* p) const { tilefold_formula_free(p); }
    void operator()(tilefold_ranges* p) const { tilefold_ranges_free(p); }
    void operator()(tilefold_bound* p) const { tilefold_bound_free(p); }
    void operator()(tilefold_neighbors* p) const { tilefold_neighbors_free(p); }
    void operator()(DLManagedTensorVersioned* p) const {
        tilefold_tensor_free(p);
    }
    void operator()(char* p) const { tilefold_text_free(p); }
};
template <class T> using Owned = std::unique_ptr<T, Free>;

/// What `make(T**)` makes. Throws.
template <class T, class Make> Owned<T> made(Make&& make) {
    T* handle = nullptr;
    check(make(&handle));
    return Owned<T>(handle);
}

inline std::vector<tilefold_argument> in_c(const Arguments& arguments) {
    std::vector<tilefold_argument> all;
    for (const Argument& argument : arguments)
        all.push_back({argument.name.c_str(), argument.value.tensor(),
                       argument.value.number(), argument.axes, 0});
    return all;
}

inline std::vector<const char*> in_c(const std::vector<std::string>& names) {
    std::vector<const char*> all;
    for (const std::string& name : names)
        all.push_back(name.c_str());
    return all;
}

} // namespace detail

} // namespace tilefold

#endif
