// runtime/bind/bind_shapes.h - what shapes mean, given roles:
//
//   array on i or j   (N,) N scalars   (N, D) N vectors   (…, N, D) a batch
//   parameter         one component: a scalar   (D,) (1, D) a vector
//                     (R, C) a matrix   (…, 1, D) (…, R, C) a batch
//
// Leading batch dimensions broadcast as in NumPy, for every argument. A batch
// of scalars ends in 1: (…, N, 1), (…, 1, 1); see two_readings.h. Where the
// caller says how many dimensions are a batch's, those are, and the rest is one
// of these shapes without a batch: (B, N) is then a batch of N scalars.
#pragma once

#include "compiler/artifact/kernel_abi.h"
#include "runtime/core/view.h"

#include <boost/container/small_vector.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tilefold {

/// How a formula reads an argument.
struct ArgumentRole {
    Axes axes = Axes::None;
    /// A parameter of two dimensions stays a matrix where one of them is 1.
    bool is_table = false;
};

/// An argument as its role has it read.
struct BoundArgument {
    std::string_view name; ///< as the caller spells it
    Part part = Part::Real;
    Axes axes = Axes::None;
    DType dtype = DType::F64;
    std::uint8_t rank = 0; ///< of one point's value
    std::int32_t rows = 1; ///< its components
    std::int32_t columns = 1;
    std::int64_t points = 1; ///< on its axis
    std::size_t batch = 0;   ///< leading dimensions of `view`
    bool says_batch = false; ///< the caller has said how many
    const View* view = nullptr;
    tilefold_kernel_operand operand{}; ///< a number's base is not set
};
using BoundArguments = boost::container::small_vector<BoundArgument, 6>;

/// An argument of one number, but for where its array is.
BoundArgument without_shape(std::string_view name, const View& view,
                            ArgumentRole role);
/// Throws where the shape suits no reading. `batch`: as NamedView has it.
BoundArgument read_shape(std::string_view name, const View& view,
                         ArgumentRole role,
                         std::optional<std::size_t> batch = {});
/// The same of an argument, or of a part of it.
BoundArgument read_shape(const NamedView& argument, ArgumentRole role);

/// Number of points on i and j; -1 where no array says.
struct Lengths {
    std::int64_t i = -1;
    std::int64_t j = -1;

    std::int64_t on(Axes axis) const { return axis == Axes::J ? j : i; }
};
/// Throws where arrays on one axis disagree.
Lengths lengths_of(const BoundArguments& readings);

/// The batch shape of all readings together. Throws where they disagree.
Extents batch_shape(const BoundArguments& readings);
/// Strides of `reading` along `shape`: 0 where it is broadcast.
std::int64_t batch_stride(const BoundArgument& reading, const Extents& shape,
                          std::size_t dimension);

} // namespace tilefold
