// compiler/backends/llvm/nest/nest.h - the functions of a kernel image, built
// from a graph and a plan.
#pragma once

#include "compiler/backends/llvm/module/module.h"
#include "compiler/backends/llvm/monoids/monoid.h"
#include "compiler/backends/llvm/pack/entry.h"
#include "compiler/backends/llvm/pack/pack.h"

#include <memory>
#include <string>
#include <vector>

namespace tilefold::llvm_backend {

/// Writes prepare, which computes the values on {}.
void write_prepare(ModuleWriter& writer);

/// A reduction of the nest, and what writes its code.
struct Slots {
    const LoweredReduction& lowered;
    std::unique_ptr<MonoidWriter> monoid;
};
std::vector<Slots> make_slots(const ModuleWriter& writer);
llvm::Value* first_slot(Entry& entry, const Slots& slots);

/// Writes accumulate (pairs), or init, merge and finalise (the rest).
void write_reduce_nest(ModuleWriter& writer);
void write_accumulate(ModuleWriter& writer, std::vector<Slots>& reductions);
/// Writes reduce (pairs).
void write_rows_nest(ModuleWriter& writer);
/// Writes dense (pairs), or zip (the rest).
void write_values_nest(ModuleWriter& writer);

/// Holds the results of a chunk of points, which wait in scratch to be stored.
class ResultBuffer {
public:
    ResultBuffer(ModuleWriter& writer, std::int64_t capacity,
                 std::int64_t offset);
    /// Evaluates the graph's result at lanes `point` of the chunk.
    void evaluate(Entry& entry, Evaluator& values, llvm::Value* scratch,
                  llvm::Value* point) const;
    /// Stores `count` points to `out`, `stride` bytes apart.
    void store(Entry& entry, llvm::Value* scratch, llvm::Value* count,
               llvm::Value* out, llvm::Value* stride) const;

private:
    llvm::Value* address(Entry& entry, llvm::Value* scratch,
                         Component component, llvm::Value* point) const;
    std::int64_t components() const;

    ModuleWriter& writer_;
    std::int64_t capacity_, offset_;
};

/// Returns what the values after reductions read: the results of reductions,
/// and what `others` has.
using StateOf = std::function<StateRows(const Slots& slots)>;
Leaves epilogue_leaves(Entry& entry, const std::vector<Slots>& reductions,
                       StateOf state_of, Leaves others);

} // namespace tilefold::llvm_backend
