// compiler/artifact/container.h - code behind a header, as bytes: the
// header's length (8 bytes, little endian), the header's fields, the code.
#pragma once

#include "compiler/artifact/fields.h"

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace tilefold {

struct Container {
    Fields header;
    std::span<const std::byte> code; ///< in the bytes that were read
};

/// Returns the code behind the header, to which the code's size is added.
std::vector<std::byte> with_header(Fields header,
                                   std::span<const std::byte> code);
/// Splits what with_header() made. Returns none where lengths do not agree, or
/// where the header holds no fields.
std::optional<Container> split_header(std::span<const std::byte> bytes);

} // namespace tilefold
