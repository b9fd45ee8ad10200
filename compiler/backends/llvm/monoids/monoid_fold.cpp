// compiler/backends/llvm/monoids/monoid_fold.cpp - a monoid of the user's
// functions.
//
// A panel starts from the initial state and accumulates in the computing
// dtype; its state then merges into the row's, in F64. What the functions are
// given is rounded to the computing dtype in both, so that a number of the
// formula equals itself.

#include "compiler/backends/llvm/monoids/monoid.h"

#include <limits>
#include <map>
#include <utility>

namespace tilefold::llvm_backend {
namespace {

using ir::ValueId;
using llvm::Value;

/// Reads a component of an argument of a fold's graph, for a vector of rows.
using Read = std::function<Value*(Component component, int row)>;
/// Takes a component of a function's result.
using Write = std::function<void(Component component, int row, Value* value)>;

class UserDefined : public MonoidWriter {
public:
    UserDefined(const ir::Graph& graph, const LoweredReduction& lowered)
        : MonoidWriter(graph, lowered), size_(fields().front().components) {}

    Value* identity(Evaluator& values, int,
                    Component component) const override {
        return values.lanes().as(DType::F64, constant(values, 1, component));
    }

    void start(Tile& tile) override {
        each(tile.values, tile.rows, [&](Component k, int r) {
            tile.lanes.b.CreateStore(constant(tile.values, 1, k),
                                     at(tile, k, r));
        });
    }

    void step(Tile& tile) override {
        const Read state = [&](Component k, int r) {
            return tile.lanes.b.CreateLoad(type(tile), at(tile, k, r));
        };
        if (lowered_.in_memory)
            tile.values.hoist_scalars(body(), tile.rows, tile.columns);
        for (int j = 0; j < tile.columns; ++j)
            replace(
                tile.values, tile.functions, node().fold->accumulate, tile.rows,
                state,
                [&](Component k, int r) { return read(tile, 0, k, r, j); },
                [&](Component k, int r, Value* value) {
                    tile.lanes.b.CreateStore(value, at(tile, k, r));
                });
    }

    void finish_tile(Tile& tile) override {
        for (int r = 0; r < tile.rows; ++r)
            join(tile.values, tile.functions, *tile.state[std::size_t(r)],
                 [&](Component k) {
                     return tile.lanes.as(
                         DType::F64,
                         tile.lanes.b.CreateLoad(type(tile), at(tile, k, r)));
                 });
    }

    void merge(Evaluator& values, const FunctionTable& functions,
               StateRows& into, StateRows& from) override {
        join(values, functions, into,
             [&](Component k) { return from.load(0, k); });
    }

    Value* result(Lanes& lanes, const FunctionTable&, StateRows& state,
                  Component component, Value*) override {
        return lanes.as(graph_.real, state.load(0, component));
    }

private:
    /// Returns an operand on {}, rounded to the computing dtype.
    Value* constant(Evaluator& values, int operand, Component component) const {
        return values.lanes().as(graph_.real,
                                 values.value(body(operand), component));
    }

    void join(Evaluator& values, const FunctionTable& functions,
              StateRows& into,
              const std::function<Value*(Component)>& right) const {
        replace(
            values, functions, node().fold->merge, 1,
            [&](Component k, int) { return into.load(0, k); },
            [&](Component k, int) { return right(k); },
            [&](Component k, int, Value* value) { into.store(0, k, value); });
    }

    /// Writes a function's result, in its graph's dtype, to where its state is
    /// read: when all of it is known, since components may read others.
    void replace(Evaluator& values, const FunctionTable& functions,
                 const ir::Graph& function, int rows, const Read& state,
                 const Read& right, const Write& write) const {
        Lanes& lanes = values.lanes();
        auto& b = lanes.b;
        llvm::Type* type = lanes.type(function.real);
        const std::int64_t bytes =
            lanes.width() * std::int64_t(size_of(function.real));
        std::map<std::pair<std::int64_t, int>, Value*> registers;
        Value* memory = nullptr;
        if (lowered_.in_memory)
            memory = lanes.variable(
                llvm::ArrayType::get(type, std::uint64_t(size_ * rows)));
        const auto place = [&](Component k, int r) {
            Value* first =
                b.CreateMul(values.index_of(k), lanes.constant(rows));
            return lanes.at(memory, first, r, bytes);
        };
        apply(values, functions, function, rows, state, right,
              [&](Component k, int r, Value* value) {
                  if (memory)
                      b.CreateStore(value, place(k, r));
                  else
                      registers[{k.fixed, r}] = value;
              });
        each(values, rows, [&](Component k, int r) {
            write(k, r,
                  memory ? b.CreateLoad(type, place(k, r))
                         : registers.at({k.fixed, r}));
        });
    }

    /// Gives `write` all components of a function's result.
    void apply(Evaluator& values, const FunctionTable& functions,
               const ir::Graph& function, int rows, const Read& state,
               const Read& right, const Write& write) const {
        Lanes& lanes = values.lanes();
        const Read given = [&](Component k, int) {
            return lanes.as(function.real, constant(values, 2, k));
        };
        const Read* reads[] = {&state, &right, &given};
        const Leaves leaves = [&](ValueId id) -> Leaf {
            const ir::Node& of = function[id];
            if (of.op != ir::Op::Argument)
                return {};
            const Read& read =
                *reads[ir::role_of(function.arguments[std::size_t(of.first)])];
            return {
                [&read](Component k, int row, int) { return read(k, row); }};
        };
        constexpr int whole = std::numeric_limits<int>::max();
        const int unroll = lowered_.in_memory ? values.unroll() : whole;
        Evaluator inside(function, lanes, functions, unroll, nullptr, leaves);
        inside.run_contractions(function.result, rows, 1);
        if (lowered_.in_memory)
            inside.hoist_scalars(function.result, rows, 1);
        const auto write_part = [&](ValueId part, std::int64_t first) {
            inside.each_component(
                components_of(function[part].type), [&](Component k) {
                    for (int r = 0; r < rows; ++r)
                        write(
                            {k.fixed + first, k.runtime}, r,
                            lanes.as(function.real, inside.value(part, k, r)));
                });
        };
        each_part(function, function.result, 0, write_part);
    }

    /// Calls `body` with the parts that a vector is put together of, and the
    /// number of their first component.
    template <class Body>
    static void each_part(const ir::Graph& graph, ValueId id,
                          std::int64_t first, const Body& body) {
        const ir::Node& node = graph[id];
        if (node.op != ir::Op::Concat)
            return body(id, first);
        each_part(graph, node.operands[0], first, body);
        each_part(graph, node.operands[1],
                  first + components_of(graph[node.operands[0]].type), body);
    }

    llvm::Type* type(Tile& tile) const { return tile.lanes.type(graph_.real); }
    /// Where a number of the state of a row vector is, in a tile.
    Value* at(Tile& tile, Component k, int r) {
        return lowered_.in_memory ? place_in_memory(tile, 0, k, r)
                                  : place(tile, 0, k, r, type(tile));
    }
    /// Calls `body` for the components of the state, unrolled or in a loop.
    template <class Body>
    void each(Evaluator& values, int rows, const Body& body) const {
        const auto each_row = [&](Component k) {
            for (int r = 0; r < rows; ++r)
                body(k, r);
        };
        if (lowered_.in_memory)
            return values.each_component(size_, each_row);
        for (std::int64_t k = 0; k < size_; ++k)
            each_row({k, nullptr});
    }

    std::int64_t size_;
};

} // namespace

std::unique_ptr<MonoidWriter> make_fold(const ir::Graph& graph,
                                        const LoweredReduction& lowered) {
    return std::make_unique<UserDefined>(graph, lowered);
}

} // namespace tilefold::llvm_backend
