// runtime/core/view.h - an array as the runtime sees it: a pointer, a dtype, a
// shape and any strides. Owns nothing.
#pragma once

#include "compiler/build/part.h"
#include "compiler/ir/types.h"
#include "runtime/core/extents.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tilefold {

/// "(3, 4)", "(3,)", "()".
std::string spelling_of(const Extents& shape);

/// Whose memory it is: the host's, or that of a device by its number.
struct Location {
    enum class Kind : std::uint8_t { Host, Cuda };
    Kind kind = Kind::Host;
    std::int32_t number = 0;

    static Location cuda(std::int32_t number) { return {Kind::Cuda, number}; }
    bool is_host() const { return kind == Kind::Host; }
    friend bool operator==(const Location&, const Location&) = default;
};
std::string spelling_of(const Location& location); ///< "the CPU", "cuda:0"

/// The strides of C-contiguous elements of `step` bytes.
Extents dense_strides(const Extents& shape, std::size_t step);

/// Element 0 of arrays that have none: a null pointer would mean a number.
inline constexpr double no_elements[2] = {0, 0};

/// Strides are in bytes and may be 0 or negative; `data` is element 0.
/// A plain number is a view of no axes whose value is `number`.
struct View {
    const void* data = nullptr; ///< null: the value is `number`
    double number = 0;
    DType dtype = DType::F64;
    Extents shape;
    Extents strides;
    Location location = {};

    static View of_number(double value);
    /// A C-contiguous array.
    static View of(const void* data, DType dtype, Extents shape);
    std::int64_t elements() const;
    /// The bytes of a C-contiguous array of its elements; may exceed any
    /// integer.
    double dense_bytes() const;
};

/// An array that results are written to.
struct Output {
    void* data = nullptr;
    DType dtype = DType::F64;
    Extents shape;
    Extents strides;
    Location location = {};

    /// A C-contiguous array.
    static Output of(void* data, DType dtype, const Extents& shape);
    std::int64_t elements() const;
};

/// Bytes [low, high) that a strided array covers; empty for no elements.
struct Bytes {
    const char* low = nullptr;
    const char* high = nullptr;

    bool meets(const Bytes& other) const {
        return low < other.high && other.low < high;
    }
};
Bytes bytes_of(const void* data, DType dtype, const Extents& shape,
               const Extents& strides);

/// An argument of a call.
struct NamedView {
    std::string_view name; ///< as the caller spells it
    View view;
    std::optional<Axes> declared = {}; ///< tilefold.Vi/Vj/Pm around it
    Part part = Part::Real;            ///< of the argument of that name
    /// How many leading dimensions are a batch's; where absent, the shape says.
    std::optional<std::size_t> batch = {};
};

/// An owned C-contiguous array, what the C++ interface returns.
struct Array {
    DType dtype = DType::F64;
    std::vector<std::int64_t> shape;
    std::vector<std::byte> bytes;

    template <class T> const T* as() const {
        return reinterpret_cast<const T*>(bytes.data());
    }
};

} // namespace tilefold
