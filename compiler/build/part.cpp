// compiler/build/part.cpp - parts of arguments as graphs name them.

#include "compiler/build/part.h"

#include <utility>

namespace tilefold {
namespace {

constexpr std::pair<Part, std::string_view> suffixes[] = {
    {Part::Imaginary, "#im"},
    {Part::Zero, "#zero"},
    {Part::PerStep, "#per_step"},
};

} // namespace

std::string spelled(std::string_view name, Part part) {
    std::string text(name);
    for (const auto& [suffixed, suffix] : suffixes)
        if (suffixed == part)
            text += suffix;
    return text;
}

NamedPart parse_part(std::string_view spelling) {
    for (const auto& [part, suffix] : suffixes)
        if (spelling.ends_with(suffix)) {
            spelling.remove_suffix(suffix.size());
            return {std::string(spelling), part};
        }
    return {std::string(spelling)};
}

} // namespace tilefold
