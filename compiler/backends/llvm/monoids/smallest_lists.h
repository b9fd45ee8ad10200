// compiler/backends/llvm/monoids/smallest_lists.h - the K smallest values of
// each row of a tile, and where they are: sorted, NaN last, the lower index
// first.
//
// The state is such a list, worst last. An empty place is NaN at index -1,
// above everything.
//
// Over a panel, lists are integers of the computing dtype's size: keys, which
// sort as the values do (numbers, NaN, empty), and codes: the column in the
// panel, or -1 - p for what was in place p of the state. Groups of columns are
// noted with their cells, a lane of a column each, that are better than the
// worst. These become candidates, of that lane alone; when a lane has many,
// those of all lanes sink into their lists together, by one function. Mostly
// one lane of a column is better, and then stands beside other columns of other
// lanes.
#pragma once

#include "compiler/backends/llvm/monoids/monoid.h"

#include <functional>
#include <map>
#include <utility>
#include <vector>

namespace tilefold::llvm_backend {

class SmallestLists {
public:
    enum ListField : int { smallest, where };

    SmallestLists(std::int64_t k, DType real) : k_(k), sizes_{k}, real_(real) {}

    /// The lists lie in Tile::list, for each row vector. Returns the memory
    /// behind them, where the rest of a monoid's memory lies.
    llvm::Value* memory_after(Tile& tile) const;

    void each_place(Lanes& lanes,
                    const std::function<void(Component)>& body) const;

    /// Starts a row vector, of which nothing is known but the state.
    void start(Tile& tile, int r);
    /// Reads the state's list; what was not brought back to it is forgotten.
    void read(Tile& tile, int r);
    /// Brings what is new since then back to the state. The list is to be read
    /// again before more is noted.
    void bring_back(Tile& tile, int r);

    /// Whether the list of a lane has empty places.
    llvm::Value* is_short(Tile& tile, int r) const;
    /// Returns lanes that a value must be less than to be better, unless
    /// either is NaN.
    llvm::Value* worst(Tile& tile, int r);
    llvm::Value* is_better(Tile& tile, int r, llvm::Value* x);

    /// The values of so many columns are noted together.
    static constexpr int together = SmallestListSizes::together;
    /// Notes those of the first `count` of the tile's columns, with these
    /// values, that are better.
    void note(Tile& tile, int r, const std::vector<llvm::Value*>& values,
              llvm::Value* count);
    /// Makes candidates of all that is noted, before another row vector's
    /// columns are, or any list is asked.
    void take_noted(Tile& tile, int r);
    /// Notes a value in every lane that belongs to no column.
    void note_in_all_lanes(Tile& tile, int r, llvm::Value* x);
    /// Sinks all candidates into the lists.
    void settle(Tile& tile, int r);
    /// Fills the lists with values of no columns, as many as there are places,
    /// which bound what is looked for. The lists are to be read again.
    void bound_by_worst(Tile& tile, int r);

private:
    enum Part : int { keys, codes };
    /// `threshold` is what a value must be less than, `bound` the same while
    /// there are empty places, `most` the number of candidates of the lane
    /// that has most, `has_new` whether lists have any; `noted_groups` and
    /// `noted_cells` are how many were noted, of one row vector at a time.
    enum Register : int {
        threshold,
        bound,
        most,
        has_new,
        noted_groups,
        noted_cells
    };
    /// Of each noted group: a bit for each cell that is better, and the first
    /// column.
    enum GroupField : int { cells, first_column };
    struct Candidate {
        llvm::Value *key, *code;
    };
    /// Where the lists of a tile are.
    struct Place {
        Place(const Tile& tile)
            : lanes(tile.lanes), list(tile.list), rows(tile.rows) {}
        Place(Lanes& lanes, llvm::Value* list, int rows)
            : lanes(lanes), list(list), rows(rows) {}

        Lanes& lanes;
        llvm::Value* list;
        int rows;
    };

    llvm::Type* real(const Place& tile) const;
    llvm::Type* element(const Place& tile) const;
    llvm::Value* splat(const Place& tile, std::int64_t number) const;
    std::int64_t empty_key() const;
    std::int64_t nan_key() const { return empty_key() - 1; }
    llvm::Value* turned(const Place& tile, llvm::Value* bits) const;
    llvm::Value* key_of(const Place& tile, llvm::Value* x) const;
    llvm::Value* value_of(const Place& tile, llvm::Value* key) const;

    std::int64_t vector_bytes(const Place& tile) const;
    llvm::Align alignment(const Place& tile) const;
    llvm::Value* address(const Place& tile, Part part, int r,
                         Component k) const;
    llvm::Value* load(const Place& tile, Part part, int r, Component k) const;
    void store(const Place& tile, Part part, int r, Component k,
               llvm::Value* value) const;
    Component last_place(const Place& tile) const;
    Component candidate(const Place& tile, llvm::Value* number) const;
    llvm::Value* counts(const Place& tile, int r) const;
    llvm::Type* type_of(Tile& tile, Register which) const;
    llvm::Value* variable(Tile& tile, Register which, int r);
    llvm::Value* get(Tile& tile, Register which, int r);
    void set(Tile& tile, Register which, int r, llvm::Value* value);

    llvm::Value* group_values(Tile& tile, llvm::Value* group) const;
    llvm::Value* group_field(Tile& tile, GroupField field, llvm::Value* group);
    void take_cell(Tile& tile, int r, llvm::Value* group, llvm::Value* cell);
    void forget_noted(Tile& tile);
    /// Whether a lane has more candidates than `count`.
    llvm::Value* has_more(Tile& tile, int r, std::int64_t count);
    void take_many(Tile& tile, int r);
    void forget_candidates(Tile& tile, int r);
    void clear_counts(const Place& tile, int r) const;
    void take_candidates(Tile& tile, int r);
    llvm::Value* worst_of(const Place& tile, int r, llvm::Value* bound) const;
    /// Sinks so many candidates of each lane into the list of a row vector, and
    /// returns the threshold that comes of it.
    llvm::Value* sink_all(const Place& tile, int r, llvm::Value* most,
                          llvm::Value* bound) const;
    void sink(const Place& tile, int r,
              const std::vector<Candidate>& some) const;
    void write_back(Tile& tile, int r);
    void refresh_worst(Tile& tile, int r);

    std::int64_t k_;
    SmallestListSizes sizes_;
    DType real_;
    std::map<std::pair<Register, int>, llvm::Value*> variables_;
    std::map<GroupField, llvm::Value*> group_fields_;
};

} // namespace tilefold::llvm_backend
