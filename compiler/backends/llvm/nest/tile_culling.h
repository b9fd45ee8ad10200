// compiler/backends/llvm/nest/tile_culling.h - leaves out the tiles of pairs
// that index masks prove to count for nothing.
#pragma once

#include "compiler/backends/llvm/nest/nest.h"

#include <vector>

namespace tilefold::llvm_backend {

class TileGuard {
public:
    /// Emits code into `entry`, an accumulate.
    explicit TileGuard(Entry& entry);

    /// Returns whether some pair of rows [i0, i1) and columns [j0, j1) may
    /// count, or null where nothing masks them.
    llvm::Value* may_count(llvm::Value* i0, llvm::Value* i1, llvm::Value* j0,
                           llvm::Value* j1);
    /// Notes in call->tiles that `number` tiles were met, or left out.
    void note(bool met, llvm::Value* number);

    bool exists() const { return !masks_.empty(); }

private:
    Entry& entry_;
    /// The masks of each reduction; empty where one of them counts every pair.
    std::vector<std::vector<ir::ValueId>> masks_;
    llvm::Value* listed_ = nullptr; ///< rows or columns are not in order
};

} // namespace tilefold::llvm_backend
