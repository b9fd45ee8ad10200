// compiler/backends/llvm/pack/entry.h - a function of a kernel image under
// way.
#pragma once

#include "compiler/backends/llvm/pack/pack.h"

#include <memory>
#include <string>
#include <string_view>

namespace tilefold::llvm_backend {

/// Whether some value has `dynamic` width.
bool has_width(const ir::Graph& graph);

/// An entry under way: its builder, its lanes and what it reads of the call.
struct Entry {
    /// Begins an entry. `parameters` are those of ModuleWriter::begin;
    /// parameter 0 is the call.
    Entry(ModuleWriter& writer, const std::string& name,
          std::string_view parameters, int width);

    ModuleWriter& writer;
    llvm::IRBuilder<> b;
    Lanes lanes;
    llvm::Function* function;
    llvm::Value* call;
    FunctionTable functions;
    llvm::Value* width = nullptr; ///< call->width, where the graph needs it
    std::unique_ptr<Constants> constants;
    /// How many lanes hold points, or components; null: all of them. What lies
    /// in the others is of no meaning, and is not watched.
    llvm::Value* held = nullptr;

    /// Returns an evaluator of the graph's values; where no leaves are handed
    /// in, it knows constants only.
    /// Loops over components are cut as `chains` say, where there are any.
    Evaluator evaluator(Leaves leaves, const LoopChains* chains = nullptr);
    Evaluator evaluator();
    /// Notes in call->left_range where operands are neither 0 nor infinite nor
    /// NaN, and the result is, or is near the ends of the range.
    void watch_range(llvm::ArrayRef<llvm::Value*> operands,
                     llvm::Value* result);
    /// Notes there where a sum is infinite that need not be if its factor, or
    /// divisor, is in each term; where the factor is infinite; where it is NaN,
    /// and the sum 0, as of no terms; and where it enlarges a sum of products
    /// that is so small that their last digits may be lost.
    void watch_sum(ir::Op op, llvm::Value* sum, llvm::Value* factor,
                   bool is_of_products);
    llvm::Value* argument(unsigned k) const { return function->getArg(k); }
    /// Writes a loop over vectors of lanes that are `count` in all.
    void each_vector(llvm::Value* count,
                     const std::function<void(llvm::Value* first)>& body);
    /// Returns min(a, b) of two i64.
    llvm::Value* least(llvm::Value* a, llvm::Value* b_);
    void finish() { b.CreateRetVoid(); }

private:
    void note_in_call(llvm::Value* lanes_that_left);
};

/// Returns leaves for constants and packed values: those of row `row` of the
/// run, and lanes over columns from `column` on; without a row, lanes over
/// pairs of the same number.
Leaves packed_leaves(Entry& entry, const Pack& rows, const Pack& columns,
                     llvm::Value* scratch, llvm::Value* row,
                     llvm::Value* column);

} // namespace tilefold::llvm_backend
