// compiler/build/roles.h - which names a formula reads, and on which axes.
#pragma once

#include "compiler/build/build.h"

#include <string_view>
#include <vector>

namespace tilefold {

/// A name that is read: an argument, or a constant if no argument has it.
struct NameUse {
    FreeName name;
    bool is_constant = false;
    bool is_bare = false; ///< no subscript says its axis
};

/// Returns everything the formula reads, in the order of the text. Throws
/// Error(MixedRoles) for a name read bare and with a subscript.
std::vector<NameUse> names_read(const ast::Formula& formula);

/// Whether no name carries a subscript, and no head says what x and y are.
bool lacks_subscripts(const ast::Formula& formula);

/// Finds the value of pi or inf. Beside these, `im`, the sizes and the T of a
/// transpose are constants.
bool find_constant(std::string_view name, double& value);
inline constexpr std::string_view imaginary_unit = "im";

/// Whether the name is N, M or D, which stand for the points on i and on j and
/// the components of a point where no argument has the name.
inline bool is_size(std::string_view name) {
    return name == "N" || name == "M" || name == "D";
}

/// An array on i or j, and how many components its points have.
struct PointArray {
    std::string name;
    Axes axes = Axes::None;
    std::int32_t components = 1;
};

/// Returns those of `arrays` whose components D counts: x and y, or all where
/// there is neither.
std::vector<PointArray> arrays_of_points(std::vector<PointArray> arrays);

/// The T of `x^T`, which is a transpose where no argument T is given.
inline constexpr std::string_view transpose_exponent = "T";

inline Axes axes_of(ast::Axes axes) {
    return Axes(std::uint8_t(axes));
}

} // namespace tilefold
