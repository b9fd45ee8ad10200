// bench/roofline/product_sizes.h - the sizes of the tiles of product.h.
#pragma once

namespace roofline {

constexpr int ProductVectors = 3;
constexpr int ProductRows = 16 * ProductVectors;
constexpr int ProductColumns = 8;
constexpr int ProductTerms = 64; // of a panel: its 48 rows are 12 KB

/// Whether sums go to double after the panel that begins at `term`: at most 256
/// columns are added in float.
constexpr bool is_carried(long term) {
    return (term + ProductTerms) % 256 == 0;
}

} // namespace roofline
