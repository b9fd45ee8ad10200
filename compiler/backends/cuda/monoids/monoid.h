// compiler/backends/cuda/monoids/monoid.h - reductions as code: what a thread
// keeps of a tile of columns, what of a row, and how one goes into the other.
//
//  1. A Partial holds a tile's terms in the computing dtype; a State a row's,
//     in double and long long. Both are registers of one thread.
//  2. begin() starts a tile, add() takes one column, and finish_tile() merges
//     the tile into the state.
//  3. merge(into, from) needs `from` to cover later columns or rows: ties go
//     to the lower index, which states hold where it matters.
#pragma once

#include "compiler/backends/cuda/evaluate/evaluate.h"
#include "compiler/backends/cuda/monoids/code_arithmetic.h"
#include "compiler/monoids/state.h"

#include <memory>

namespace tilefold::cuda {

/// One function of a reduction under way: its objects, by name.
struct Scene {
    Writer& writer;
    Values& values; ///< of the graph; knows the constants of the call
    Code state = object("state");
    Code partial = object("partial");
    /// Long: the number that indices of the tile count from.
    Code first = Code(Kind::Long, "first");
    /// Int: the column in the tile.
    Code column = Code(Kind::Int, "k");
};

/// A reduction of the graph as code. One object per Reduce node.
class Monoid {
public:
    Monoid(const ir::Graph& graph, ir::ValueId reduce, Record& partial,
           Record& state);
    virtual ~Monoid() = default;

    /// Sets the state to the identity.
    virtual void identity(Scene& scene);
    virtual void begin(Scene& scene) = 0;
    virtual void add(Scene& scene) = 0;
    virtual void finish_tile(Scene& scene) = 0;
    /// scene.state ⊕= from
    virtual void merge(Scene& scene, const Code& from) = 0;
    /// What all components of the result take, before them.
    virtual void begin_result(Scene&) {}
    /// A component of the result, in the node's dtype. `terms`, a Long: how
    /// many were added.
    virtual Code result(Scene& scene, const Component& at,
                        const Code& terms) = 0;

protected:
    /// A field of one of the records, by its place.
    struct Slot {
        std::size_t place;
    };
    /// Adds a field to the partial; `length`: 0 of a scalar.
    Slot keep(std::string_view hint, Kind kind, std::int64_t length);
    Code partial(const Scene& scene, Slot slot, const Component& at = {}) const;
    /// Field number `field` of what state_of() says.
    Code state(const Code& object, int field, const Component& at = {}) const;
    std::int64_t length(int field) const {
        const StateField& of = fields_[std::size_t(field)];
        return of.is_vector ? of.components : 0;
    }
    Algebra<CodeArithmetic> algebra(Scene& scene) const {
        return {node(), CodeArithmetic(scene.writer)};
    }

    /// Fields that are arrays, as a whole.
    Code partial_array(const Scene& scene, Slot slot) const {
        return member(Kind::Object, scene.partial,
                      partial_record_.fields()[slot.place].name);
    }
    Code state_array(const Code& object, int field) const {
        return member(Kind::Object, object, state_field(field).name);
    }

    const ir::Node& node() const { return graph_[reduce_]; }
    const ir::ReductionRow& row() const {
        return ir::row_of(ir::Reduction(node().first));
    }
    Kind real() const { return kind_of_value(graph_.real); }
    Kind result_kind() const { return kind_of_value(node().type.dtype); }
    /// A component of operand `number`, as `kind`.
    Code read(Scene& scene, std::size_t number, const Component& at,
              Kind kind) const;
    /// Loops over the components of operand `number`.
    void each(Scene& scene, std::size_t number,
              const std::function<void(Component)>& body) const;
    /// The same of a field of the state alone, or one like it: nothing of the
    /// graph is computed inside.
    virtual void each_slot(Scene& scene, int field,
                           const std::function<void(Component)>& body) const;

    const ir::Graph& graph_;
    ir::ValueId reduce_;
    std::vector<StateField> fields_;

private:
    const Field& state_field(int field) const {
        return state_record_.fields()[first_field_ + std::size_t(field)];
    }

    Record& partial_record_;
    Record& state_record_;
    std::size_t first_field_; ///< where `fields_` begin in the record
};

std::unique_ptr<Monoid> make_monoid(const ir::Graph& graph, ir::ValueId reduce,
                                    Record& partial, Record& state);

/// The families, one file each.
std::unique_ptr<Monoid> make_plain(const ir::Graph& graph, ir::ValueId reduce,
                                   Record& partial, Record& state);
std::unique_ptr<Monoid> make_arg(const ir::Graph& graph, ir::ValueId reduce,
                                 Record& partial, Record& state);
std::unique_ptr<Monoid> make_exponential(const ir::Graph& graph,
                                         ir::ValueId reduce, Record& partial,
                                         Record& state);
std::unique_ptr<Monoid> make_k_minimum(const ir::Graph& graph,
                                       ir::ValueId reduce, Record& partial,
                                       Record& state);
std::unique_ptr<Monoid> make_fold(const ir::Graph& graph, ir::ValueId reduce,
                                  Record& partial, Record& state);

} // namespace tilefold::cuda
