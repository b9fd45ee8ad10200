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

/// prepare: the values on {}.
void write_prepare(ModuleWriter& writer);

/// A reduction of the nest, and what writes its code.
struct Slots {
    const LoweredReduction& lowered;
    std::unique_ptr<MonoidWriter> monoid;
};
std::vector<Slots> make_slots(const ModuleWriter& writer);
llvm::Value* first_slot(Entry& entry, const Slots& slots);

/// accumulate (pairs); init, merge, finalise (the rest).
void write_reduce_nest(ModuleWriter& writer);
void write_accumulate(ModuleWriter& writer, std::vector<Slots>& reductions);
/// reduce (pairs).
void write_rows_nest(ModuleWriter& writer);
/// dense (pairs); zip (the rest).
void write_values_nest(ModuleWriter& writer);

/// Results of a chunk of points, waiting in scratch to be stored.
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

/// What reads constants, and packed values of both axes in its own way.
class PackedLeaves : public Leaves {
public:
    bool has(ir::ValueId id) const override {
        return entry_.constants->has(id) || rows_.has(id) || columns_.has(id);
    }
    llvm::Value* read(ir::ValueId id, Component component, int row,
                      int column) override {
        return entry_.constants->has(id)
                   ? entry_.constants->read(id, component, row, column)
                   : read_packed(id, component);
    }

protected:
    PackedLeaves(Entry& entry, const Pack& rows, const Pack& columns,
                 llvm::Value* scratch)
        : entry_(entry), rows_(rows), columns_(columns), scratch_(scratch) {}
    virtual llvm::Value* read_packed(ir::ValueId id, Component component) = 0;

    Entry& entry_;
    const Pack& rows_;
    const Pack& columns_;
    llvm::Value* scratch_;
};

/// What is made of reductions reads: constants, their results, and row values
/// that a pack may have, where there is one.
class EpilogueLeaves : public Leaves {
public:
    using StateOf = std::function<StateRows(const Slots& slots)>;
    EpilogueLeaves(Entry& entry, const std::vector<Slots>& reductions,
                   StateOf state_of)
        : entry_(entry), reductions_(reductions),
          state_of_(std::move(state_of)) {}
    /// Its values at lanes `point`.
    void read_rows(const Pack& pack, llvm::Value* scratch, llvm::Value* point) {
        pack_ = &pack;
        scratch_ = scratch;
        point_ = point;
    }

    bool has(ir::ValueId id) const override;
    llvm::Value* read(ir::ValueId id, Component component, int row,
                      int column) override;

private:
    llvm::Value* reduced(ir::ValueId id, Component component);
    llvm::Value* terms(ir::ValueId id);

    Entry& entry_;
    const std::vector<Slots>& reductions_;
    StateOf state_of_;
    const Pack* pack_ = nullptr;
    llvm::Value *scratch_ = nullptr, *point_ = nullptr;
};

} // namespace tilefold::llvm_backend
