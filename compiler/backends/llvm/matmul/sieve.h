// compiler/backends/llvm/matmul/sieve.h - which squared distances may be small,
// by products of bf16, for lists of the smallest: most of many columns are
// none.
//
// With x' and y' the nearest bf16 of x - c and y - c, where c is one of the
// rows, |x' - y'| differs from |x - y| by at most e(x) + e(y), e(x) being
// |x - c - x'|. So |x - y|² < w needs
//   x'·y' + r e(y) >= (|x'|² - r²)/2 + (|y'|² - e(y)²)/2,  r = √w + e(x)
// whose left side has half the products of |x - y|², two in an instruction,
// or far fewer by blocks. Roundings are allowed for; what is no number passes.
// What passes is computed as ever, so that nothing but time depends on it.
#pragma once

#include "compiler/backends/llvm/matmul/blocks.h"
#include "compiler/backends/llvm/pack/entry.h"

namespace tilefold::llvm_backend {

class Sieve {
public:
    Sieve(const ModuleWriter& writer, std::int64_t offset);

    bool exists() const { return distance_ != ir::no_value; }
    std::int64_t end() const { return end_; } ///< offset in scratch after it
    std::int64_t depth() const { return depth_; } ///< words of a step

    void keep_rows(Entry& entry, const Pack& rows, llvm::Value* count,
                   llvm::Value* scratch) const;
    void keep_columns(Entry& entry, const Pack& columns, llvm::Value* count,
                      llvm::Value* scratch) const;

    /// Multiplies the tile of rows from `row` on with columns [first, end).
    void multiply(const Entry& entry, llvm::Value* row, llvm::Value* first,
                  llvm::Value* end, llvm::Value* scratch) const;
    /// What distances of a row vector of that tile below `worst` need.
    struct Limits {
        llvm::Value *near, *least;
    };
    Limits limits(const Entry& entry, llvm::Value* row, int r,
                  llvm::Value* worst, llvm::Value* scratch) const;
    /// Whether `column` may be one, of a tile of columns from `first` on.
    llvm::Value* passes(const Entry& entry, const Limits& limits, int r,
                        llvm::Value* first, llvm::Value* column,
                        llvm::Value* scratch) const;

private:
    class Norms;
    enum RowPart : int { square, error, length, row_parts };

    llvm::Value* row_part(const Lanes& lanes, llvm::Value* scratch,
                          llvm::Value* row, int r, RowPart part) const;
    llvm::Value* row_words(const Lanes& lanes, llvm::Value* scratch,
                           llvm::Value* row) const;
    void keep_centre(Entry& entry, const Pack& rows,
                     llvm::Value* scratch) const;

    const ModuleWriter& writer_;
    ir::ValueId distance_, row_ = 0, column_ = 0;
    std::int64_t components_ = 0, depth_ = 0, steps_ = 0;
    std::int64_t stride_ = 0; ///< bytes of a column's words
    /// Offsets: c; words and parts of rows; words of columns, e and
    /// (|y'|² - e²)/2 of each, the longest y'; products.
    std::int64_t centre_ = 0, row_words_ = 0, row_parts_ = 0;
    std::int64_t column_words_ = 0, column_errors_ = 0, column_squares_ = 0;
    std::int64_t longest_ = 0, products_ = 0, end_;
};

} // namespace tilefold::llvm_backend
