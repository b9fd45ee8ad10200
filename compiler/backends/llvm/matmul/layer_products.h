// compiler/backends/llvm/matmul/layer_products.h - a matrix of parameters times
// vectors of pairs by blocks, where the plan allows an error: W h ≈ h(W) h(h) +
// h(W) l(h) + l(W) h(h), in the parts of bf16_splits.h.
#pragma once

#include "compiler/backends/llvm/matmul/amx_tiles.h"
#include "compiler/backends/llvm/pack/entry.h"

#include <map>

namespace tilefold::llvm_backend {

/// The words of a kernel's layers in scratch: of matrices, once a call, and of
/// the vectors of a step's pairs. A word of a vector has two of its components,
/// of a vector's lanes of pairs.
class LayerProducts {
public:
    explicit LayerProducts(const ModuleWriter& writer)
        : writer_(writer), products_(writer.kernel.layers) {}

    bool has(ir::ValueId product) const { return products_.count(product) > 0; }

    void keep_matrices(Entry& entry, Evaluator& values,
                       llvm::Value* scratch) const;
    /// Writes the product of all row vectors with `columns` columns to `sums`,
    /// vectors of cells, column by column; `stride`: bytes from component to
    /// component.
    void multiply(Entry& entry, Evaluator& values, ir::ValueId id, int columns,
                  llvm::Value* scratch, llvm::Value* sums,
                  std::int64_t stride) const;

private:
    void keep_vectors(const LayerProduct& product, const Lanes& lanes,
                      Evaluator& values, int columns, llvm::Value* to) const;

    const ModuleWriter& writer_;
    const std::map<ir::ValueId, LayerProduct>& products_;
};

} // namespace tilefold::llvm_backend
