// compiler/backends/llvm/matmul/lower_bound_filter.h - which squared distances
// may be small, by products of bf16, for lists of the smallest: most of many
// columns are none.
//
// With x' and y' the nearest bf16 of x - c and y - c, where c is one of the
// rows, |x' - y'| differs from |x - y| by at most e(x) + e(y), e(x) being
// |x - c - x'|. So |x - y|² < w needs
//   x'·y' + r e(y) >= (|x'|² - r²)/2 + (|y'|² - e(y)²)/2,  r = √w + e(x)
// whose left side has half the products of |x - y|², two in an instruction,
// or far fewer by blocks. Roundings are allowed for; what is no number passes.
// What passes is computed as ever, so that nothing but time depends on it.
#pragma once

#include "compiler/backends/llvm/matmul/amx_tiles.h"
#include "compiler/backends/llvm/pack/entry.h"

#include <optional>

namespace tilefold::llvm_backend {

class LowerBoundFilter {
public:
    explicit LowerBoundFilter(const ModuleWriter& writer)
        : writer_(writer), filter_(writer.kernel.filter) {}

    bool exists() const { return filter_.has_value(); }

    void keep_rows(Entry& entry, const Pack& rows, llvm::Value* count,
                   llvm::Value* scratch) const;
    void keep_columns(Entry& entry, const Pack& columns, llvm::Value* count,
                      llvm::Value* scratch) const;

    /// Multiplies the tile of rows from `row` on with columns [first, end).
    void multiply(const Entry& entry, llvm::Value* row, llvm::Value* first,
                  llvm::Value* end, llvm::Value* scratch) const;
    /// What a row vector of that tile requires of columns whose distances are
    /// below `worst`.
    struct Limits {
        llvm::Value *near, *least;
    };
    Limits limits(const Entry& entry, llvm::Value* row, int r,
                  llvm::Value* worst, llvm::Value* scratch) const;
    /// Returns whether `column`, in the tile of columns from `first` on, may
    /// have such a distance.
    llvm::Value* passes(const Entry& entry, const Limits& limits, int r,
                        llvm::Value* first, llvm::Value* column,
                        llvm::Value* scratch) const;

private:
    class Norms;
    enum RowPart : int { square, error, length };

    llvm::Value* row_part(const Lanes& lanes, llvm::Value* scratch,
                          llvm::Value* row, int r, RowPart part) const;
    llvm::Value* row_words(const Lanes& lanes, llvm::Value* scratch,
                           llvm::Value* row) const;
    void keep_centre(Entry& entry, const Pack& rows,
                     llvm::Value* scratch) const;

    const ModuleWriter& writer_;
    const std::optional<Filter>& filter_;
};

} // namespace tilefold::llvm_backend
