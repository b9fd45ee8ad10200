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

/// Adds the code's size to the header.
std::vector<std::byte> with_header(Fields header,
                                   std::span<const std::byte> code);
/// Of what with_header() made; none where lengths do not agree, or where the
/// header holds no fields.
std::optional<Container> split_header(std::span<const std::byte> bytes);

} // namespace tilefold
