// runtime/core/element.h - one element of an array as a double, slowly and for
// any dtype, and back; kernels do not use it.
#pragma once

#include "compiler/ir/integer.h"
#include "compiler/ir/types.h"
#include "runtime/core/extents.h"
#include "runtime/core/view.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace tilefold {

/// An element of any alignment; of U64, the largest I64 stands for what is
/// beyond it.
ir::Number number_at(const void* address, DType dtype);
/// The same; 64-bit integers beyond 2^53 are rounded.
double element_at(const void* address, DType dtype);
/// Rounded to the nearest; an integer type takes what is before the point.
void store_element(double value, DType dtype, void* address);

/// Calls visit(offset) for the elements of an array, in the order of C.
template <class Visit>
void each_element(std::span<const std::int64_t> shape,
                  std::span<const std::int64_t> strides, Visit visit) {
    Extents index(shape.size(), 0);
    std::int64_t count = 1, offset = 0;
    for (std::int64_t extent : shape)
        count *= extent;
    for (std::int64_t k = 0; k < count; ++k) {
        visit(offset);
        for (std::size_t d = shape.size(); d-- > 0;) {
            offset += strides[d];
            if (++index[d] < shape[d])
                break;
            offset -= shape[d] * strides[d];
            index[d] = 0;
        }
    }
}

/// Sums of elements: of real numbers in double precision in the order in which
/// they come, of integers exactly, up to the ends of int64.
class ElementSums {
public:
    /// `count` sums of nothing, of elements of `dtype`.
    void reset(std::size_t count, DType dtype);
    void add(std::size_t sum, const void* address);
    /// Writes them, in the order of C, to `out`, or adds them to it.
    void store(const Output& out, bool accumulate) const;

private:
    using Whole = __int128;

    bool is_whole() const { return dtype_ == DType::I64; }

    DType dtype_ = DType::F64;
    std::vector<double> reals_;
    std::vector<Whole> wholes_; ///< of I64
};

} // namespace tilefold
