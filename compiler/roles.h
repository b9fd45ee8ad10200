// compiler/roles.h - which names a formula reads, and on which axes.
#pragma once

#include "compiler/build.h"

#include <string_view>
#include <vector>

namespace tilefold {

/// A name that is read: an argument, or a constant if no argument has it.
struct NameUse {
    FreeName name;
    bool is_constant = false;
    bool is_bare = false; ///< no subscript says its axis
};

/// Everything the formula reads, in the order of the text. Throws
/// Error(MixedRoles) for a name read bare and with a subscript.
std::vector<NameUse> names_read(const ast::Formula& formula);

/// No name carries a subscript, and no head says what x and y are.
bool lacks_subscripts(const ast::Formula& formula);

/// The value of pi or inf; beside these, `im` is a constant.
bool find_constant(std::string_view name, double& value);
inline constexpr std::string_view imaginary_unit = "im";

/// The argument "z#im" has the imaginary parts of the complex array "z".
inline constexpr std::string_view imaginary_suffix = "#im";
inline bool is_imaginary(std::string_view name) {
    return name.ends_with(imaginary_suffix);
}

inline Axes axes_of(ast::Axes axes) {
    return Axes(std::uint8_t(axes));
}

} // namespace tilefold
