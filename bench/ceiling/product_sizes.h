// bench/ceiling/product_sizes.h - the sizes of the tiles of product.h.
#pragma once

namespace ceiling {

constexpr int ProductVectors = 3;
constexpr int ProductRows = 16 * ProductVectors;
constexpr int ProductColumns = 8;
constexpr int ProductTerms = 128; // of a panel: its 48 rows are 24 KB

} // namespace ceiling
