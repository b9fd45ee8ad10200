// compiler/backends/llvm/evaluate/evaluate.h - values of the graph as lane
// values.
//
// 1. A value is asked for by component and by cell: row vector r, column j
//    of the tile. A value that does not depend on an axis is one for all.
// 2. What is known already (packed values, constants, reduced results) comes
//    from Leaves; the rest is computed from operands, each once.
// 3. Components are unrolled up to a limit; beyond, a contraction (dot,
//    squared distance …) is a loop, and all cells of the tile share it.
// 4. A value computed inside a loop is forgotten when the loop ends: it does
//    not dominate what follows.
#pragma once

#include "compiler/backends/cpu/lower/fission.h"
#include "compiler/backends/llvm/lanes/math.h"
#include "compiler/backends/llvm/lanes/words.h"
#include "compiler/ir/ir.h"
#include "compiler/ir/queries.h"

#include <algorithm>
#include <functional>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

namespace tilefold::llvm_backend {

/// A component's number: known now, or the i64 of a loop. For a constant it
/// may also be i64 lanes, one number for each.
struct Component {
    std::int64_t fixed = 0;
    llvm::Value* runtime = nullptr;
};

/// A value that is not computed here, given as the function that reads its
/// component at a row vector and a column of a tile.
struct Leaf {
    std::function<llvm::Value*(Component component, int row, int column)> read =
        {};
    const Words* words = nullptr; ///< of a vector that is read as words
    /// In place of `read`, of a table that lies as the caller has it: reads an
    /// element by subscripts that are inside, lanes of i64 each.
    std::function<llvm::Value*(llvm::ArrayRef<llvm::Value*> subscripts)>
        element = {};

    explicit operator bool() const { return read || element; }
};
/// Says where a value comes from that is not computed here; an empty leaf
/// means that it is computed. Asking emits nothing.
using Leaves = std::function<Leaf(ir::ValueId id)>;

class Evaluator {
public:
    /// `width` is the i64 that `dynamic` stands for; null where none occurs.
    Evaluator(const ir::Graph& graph, Lanes& lanes,
              const FunctionTable& functions, int unroll, llvm::Value* width,
              Leaves leaves);
    /// Calls `watch` with the operands and the result of each operation on
    /// numbers.
    using Watch =
        std::function<void(ir::ValueId, llvm::ArrayRef<llvm::Value*> operands,
                           llvm::Value* result)>;
    void watch_operations(Watch watch) { watch_ = std::move(watch); }
    /// Contractions of one cell that are among `chains`, which outlive the
    /// evaluator, are computed in the loops that their chains say.
    void cut_loops(const LoopChains& chains) { chains_ = &chains; }

    llvm::Value* value(ir::ValueId id, Component component = {}, int row = 0,
                       int column = 0);
    /// Computes the long contractions below `root` for a whole tile, each in
    /// one loop, so that value() finds them.
    void run_contractions(ir::ValueId root, int rows, int columns);
    /// Adds components [from, to) of a long contraction to the sums of a tile;
    /// `place`: where a cell's sum lies.
    using Places = std::function<llvm::Value*(int row, int column)>;
    void contract_part(ir::ValueId id, llvm::Value* from, llvm::Value* to,
                       int rows, int columns, const Places& place);
    /// Computes a vector for all cells of a tile and stores it where `place`
    /// says; the product of a matrix so many components at a time.
    using VectorPlaces =
        std::function<llvm::Value*(Component component, int row, int column)>;
    void keep_vector(ir::ValueId id, int rows, int columns, int at_once,
                     const VectorPlaces& place);
    /// Computes the scalars below the vector `root` for a whole tile before a
    /// loop over its components.
    void hoist_scalars(ir::ValueId root, int rows, int columns);

    /// Computes the scalars `roots` of `count` points in the loops of `chain`.
    /// `begin` says which points come, from one on; `finish` takes a root whose
    /// value() is known.
    void scalars_in_strips(std::span<const ir::ValueId> roots,
                           const LoopChain& chain, llvm::Value* count,
                           const std::function<void(llvm::Value* point)>& begin,
                           const std::function<void(ir::ValueId root)>& finish);

    /// Calls `body` for each of `components` (may be `dynamic`), unrolled or
    /// in a loop.
    void each_component(std::int64_t components,
                        const std::function<void(Component)>& body);
    /// Calls `body` in loops, for blocks of at most `block` components from
    /// `at` on.
    void each_block(std::int64_t components, int block,
                    const std::function<void(Component at, int count)>& body);
    bool unrolled(std::int64_t components) const {
        return components != dynamic && components <= unroll_;
    }
    int unroll() const { return unroll_; }
    llvm::Value* index_of(Component component) const;
    /// Returns component * scale + offset.
    Component shifted(Component component, std::int64_t scale,
                      std::int64_t offset) const;
    /// Forgets everything, because the next tile or column begins.
    void forget() { memory_.clear(), log_.clear(); }
    Lanes& lanes() { return lanes_; }

private:
    using Cell = std::tuple<ir::ValueId, std::int64_t, llvm::Value*, int, int>;
    /// Forgets, when the scope is left, what was remembered since it was made.
    class Scope {
    public:
        explicit Scope(Evaluator& owner)
            : owner_(owner), mark_(owner.log_.size()) {}
        ~Scope() {
            for (std::size_t k = mark_; k < owner_.log_.size(); ++k)
                owner_.memory_.erase(owner_.log_[k]);
            owner_.log_.resize(std::min(mark_, owner_.log_.size()));
        }

    private:
        Evaluator& owner_;
        std::size_t mark_;
    };
    /// The numbers of row vectors and columns of a tile.
    struct Cells {
        int row0 = 0, rows = 1, column0 = 0, columns = 1;
    };
    class CellSums;

    Cell cell_of(ir::ValueId id, Component component, int row,
                 int column) const;
    void remember(const Cell& cell, llvm::Value* value);
    llvm::Value* compute(ir::ValueId id, Component component, int row,
                         int column);
    llvm::Value* elementwise(ir::ValueId id, Component component, int row,
                             int column);
    Component place_in_matrix(const ir::Node& submatrix,
                              Component component) const;
    llvm::Value* joined(ir::ValueId id, Component component, int row,
                        int column);
    llvm::Value* outer(ir::ValueId id, Component component, int row,
                       int column);
    llvm::Value* cross(ir::ValueId id, Component component, int row,
                       int column);
    llvm::Value* gathered(ir::ValueId id, Component component, int row,
                          int column);
    llvm::Value* element_at(ir::ValueId table,
                            llvm::ArrayRef<llvm::Value*> subscripts,
                            llvm::Value* holds, int row, int column);
    llvm::Value* chosen(ir::ValueId table, llvm::Value* place, int row,
                        int column);
    void contract(ir::ValueId id, Component component, Cells cells);
    class Handed;
    void
    in_strips(const LoopChain& chain, const Handed& handed, llvm::Value* count,
              const std::function<void(std::size_t number, llvm::Value* turn,
                                       llvm::Value* at)>& body);
    llvm::Value* contract_in_strips(ir::ValueId id, Component of,
                                    const LoopChain& chain, int row,
                                    int column);
    const LoopChain* chain_of(ir::ValueId id, const Cells& cells) const;
    void multiply_matrix(ir::ValueId id, Component at, int count,
                         const Cells& cells, const VectorPlaces& place);
    void contract_words(ir::ValueId id, const Words& of, const Cells& cells);
    llvm::Value* accumulated(const ir::Node& node, llvm::Value* sum,
                             Component component, Component at, int row,
                             int column);
    void visit(ir::ValueId root,
               const std::function<void(ir::ValueId)>& enter) const;

    const ir::Graph& graph_;
    Lanes& lanes_;
    const FunctionTable& functions_;
    int unroll_;
    llvm::Value* width_;
    Leaves leaves_;
    Watch watch_;
    const LoopChains* chains_ = nullptr;
    std::vector<ir::Sign> signs_;
    std::map<Cell, llvm::Value*> memory_;
    std::vector<Cell> log_;
    std::size_t computed_ = 0; ///< values so far
};

} // namespace tilefold::llvm_backend
