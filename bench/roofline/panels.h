// bench/roofline/panels.h - matrices packed for product.h.
#pragma once

#include <cstddef>

namespace roofline {

constexpr std::ptrdiff_t round_up(std::ptrdiff_t n, std::ptrdiff_t step) {
    return (n + step - 1) / step * step;
}

/// rows x columns, row-major, to blocks of `height` rows, each as groups of
/// `width` columns, each height x width; zeros around. packed has
/// round_up(rows, height) * round_up(columns, width) elements. Packs the
/// blocks that begin in [first, last).
inline void pack_panels(const float* matrix, std::ptrdiff_t rows,
                        std::ptrdiff_t columns, std::ptrdiff_t height,
                        std::ptrdiff_t width, std::ptrdiff_t first,
                        std::ptrdiff_t last, float* packed) {
    const std::ptrdiff_t padded = round_up(columns, width);
    for (std::ptrdiff_t r = first; r < last; r += height)
        for (std::ptrdiff_t c = 0; c < padded; ++c)
            for (std::ptrdiff_t k = 0; k < height; ++k) {
                const bool inside = r + k < rows && c < columns;
                float* panel = packed + r * padded + c / width * height * width;
                panel[k * width + c % width] =
                    inside ? matrix[(r + k) * columns + c] : 0;
            }
}

/// The transposes of blocks of `height` rows: each columns x height, with the
/// last row again past the end.
inline void pack_transposed(const float* matrix, std::ptrdiff_t rows,
                            std::ptrdiff_t columns, std::ptrdiff_t height,
                            std::ptrdiff_t first, std::ptrdiff_t last,
                            float* packed) {
    for (std::ptrdiff_t r = first; r < last; r += height)
        for (std::ptrdiff_t k = 0; k < height; ++k) {
            const std::ptrdiff_t row = r + k < rows ? r + k : rows - 1;
            for (std::ptrdiff_t c = 0; c < columns; ++c)
                packed[(r * columns) + c * height + k] =
                    matrix[row * columns + c];
        }
}

} // namespace roofline
