// compiler/backends/llvm/matmul/lower_bound_filter.h - which squared distances
// may be small, by products, for lists of the smallest: most of many columns
// are none.
//
// With x' and y' the nearest numbers of the dtype, or bf16, of x - c and y - c,
// where c is one of the rows, |x' - y'| differs from |x - y| by at most e(x) +
// e(y), e(x) being |x - c - x'|. So |x - y|² < w needs
//   x'·y' + r e(y) >= (|x'|² - r²)/2 + (|y'|² - e(y)²)/2,  r = √w + e(x)
// whose left side has half the operations of |x - y|²; of bf16, two products
// are in an instruction, or far more by blocks. Of the dtype, e is so small
// that the largest e(y) stands for all: x'·y' - |y'|²/2 is all that a column
// takes. Roundings are allowed for; what is no number passes. What passes is
// computed as ever, so that nothing but time depends on it.
#pragma once

#include "compiler/backends/llvm/matmul/amx_tiles.h"
#include "compiler/backends/llvm/pack/entry.h"

#include <functional>
#include <optional>
#include <vector>

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

    /// What a row vector of the tile from `row` on requires of columns whose
    /// distances are below `worst`.
    struct Limits {
        llvm::Value *near, *least;
    };
    Limits limits(const Entry& entry, llvm::Value* row, int r,
                  llvm::Value* worst, llvm::Value* scratch) const;

    /// Takes a column, a row vector, and lanes that say whether the column may
    /// have such a distance.
    using Take = std::function<void(llvm::Value*, int, llvm::Value*)>;
    /// Visits the columns [first, end) with each row vector of the tile.
    void each_column(const Entry& entry, llvm::Value* row, llvm::Value* first,
                     llvm::Value* end, const std::vector<Limits>& limits,
                     llvm::Value* scratch, const Take& take) const;

private:
    class Norms;
    DType real() const { return writer_.graph.real; }
    std::int64_t size() const { return std::int64_t(size_of(real())); }
    llvm::Align alignment() const { return llvm::Align(size_of(real())); }
    llvm::Type* number_type(const Lanes& lanes) const {
        return lanes.type(real())->getScalarType();
    }

    enum RowPart : int { square, error, length };

    void keep_words(Entry& entry, const Pack& rows, llvm::Value* tile, int r,
                    Norms& norms, llvm::Value* scratch) const;
    void keep_numbers(const Lanes& lanes, Norms& norms, llvm::Value* x,
                      llvm::Value* to, llvm::Value* k) const;
    void multiply(const Lanes& lanes, llvm::Value* row, llvm::Value* first,
                  llvm::Value* end, llvm::Value* scratch) const;
    llvm::Value* passes(const Lanes& lanes, const Limits& limits, int r,
                        llvm::Value* first, llvm::Value* column,
                        llvm::Value* scratch) const;
    std::vector<llvm::Value*> sums_of(const Lanes& lanes, llvm::Value* row,
                                      llvm::Value* column, int columns,
                                      llvm::Value* scratch) const;
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
