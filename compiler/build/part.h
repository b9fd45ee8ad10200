// compiler/build/part.h - the parts in which some arguments are passed.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace tilefold {

/// Complex numbers come as two arrays. Codes come with two parameters, of one
/// component or of as many as they have: they stand for (code - zero) /
/// per_step.
enum class Part : std::uint8_t { Real, Imaginary, Zero, PerStep };

/// Whether each point has this part, rather than all points together.
inline bool is_of_points(Part part) {
    return part == Part::Real || part == Part::Imaginary;
}

/// One part of the argument with that name.
struct NamedPart {
    std::string name;
    Part part = Part::Real;
};

/// The name of a part as graphs have it: "z" and "z#im", "q", "q#zero" and
/// "q#per_step".
std::string spelled(std::string_view name, Part part);
NamedPart parse_part(std::string_view spelling);

inline bool is_imaginary(std::string_view spelling) {
    return parse_part(spelling).part == Part::Imaginary;
}

} // namespace tilefold
