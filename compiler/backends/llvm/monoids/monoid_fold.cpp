// compiler/backends/llvm/monoids/monoid_fold.cpp - a monoid of the user's
// functions.
//
// A panel starts from the initial state and accumulates in the computing
// dtype; its state then merges into the row's, in F64. What the functions are
// given is rounded to the computing dtype in both, so that a number of the
// formula equals itself.

#include "compiler/backends/llvm/monoids/monoid.h"

#include <limits>

namespace tilefold::llvm_backend {
namespace {

using ir::ValueId;
using llvm::Value;

/// Reads components of an argument of a fold's graph.
using Read = std::function<Value*(std::int64_t component)>;

class UserDefined : public MonoidWriter {
public:
    UserDefined(const ir::Graph& graph, const LoweredReduction& lowered)
        : MonoidWriter(graph, lowered), size_(fields().front().components) {}

    Value* identity(Evaluator& values, int,
                    Component component) const override {
        return values.lanes().as(DType::F64, constant(values, 1, component));
    }

    void start(Tile& tile) override {
        each(tile, [&](std::int64_t k, int r) {
            tile.lanes.b.CreateStore(constant(tile.values, 1, {k, nullptr}),
                                     at(tile, k, r));
        });
    }

    void step(Tile& tile) override {
        for (int r = 0; r < tile.rows; ++r) {
            std::vector<Value*> state = load(tile, r);
            for (int j = 0; j < tile.columns; ++j)
                state =
                    apply(tile.values, tile.functions, node().fold->accumulate,
                          state, [&](std::int64_t k) {
                              return read(tile, 0, {k, nullptr}, r, j);
                          });
            for (std::int64_t k = 0; k < size_; ++k)
                tile.lanes.b.CreateStore(state[std::size_t(k)], at(tile, k, r));
        }
    }

    void finish_tile(Tile& tile) override {
        for (int r = 0; r < tile.rows; ++r) {
            const std::vector<Value*> partial = load(tile, r);
            join(tile.values, tile.functions, *tile.state[std::size_t(r)],
                 [&](std::int64_t k) {
                     return tile.lanes.as(DType::F64, partial[std::size_t(k)]);
                 });
        }
    }

    void merge(Evaluator& values, const FunctionTable& functions,
               StateRows& into, StateRows& from) override {
        join(values, functions, into,
             [&](std::int64_t k) { return from.load(0, {k, nullptr}); });
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
              StateRows& into, const Read& right) const {
        std::vector<Value*> left;
        for (std::int64_t k = 0; k < size_; ++k)
            left.push_back(into.load(0, {k, nullptr}));
        const std::vector<Value*> joined =
            apply(values, functions, node().fold->merge, left, right);
        for (std::int64_t k = 0; k < size_; ++k)
            into.store(0, {k, nullptr}, joined[std::size_t(k)]);
    }

    /// Returns the components of a function's result, in its graph's dtype.
    std::vector<Value*> apply(Evaluator& values, const FunctionTable& functions,
                              const ir::Graph& function,
                              const std::vector<Value*>& left,
                              const Read& right) const {
        Lanes& lanes = values.lanes();
        const Read state = [&](std::int64_t k) { return left[std::size_t(k)]; };
        const Read given = [&](std::int64_t k) {
            return lanes.as(function.real, constant(values, 2, {k, nullptr}));
        };
        const Read* reads[] = {&state, &right, &given};
        const Leaves leaves = [&](ValueId id) -> Leaf {
            const ir::Node& of = function[id];
            if (of.op != ir::Op::Argument)
                return {};
            const Read& read =
                *reads[ir::role_of(function.arguments[std::size_t(of.first)])];
            return {[&read](Component at, int, int) { return read(at.fixed); }};
        };
        constexpr int whole = std::numeric_limits<int>::max();
        Evaluator inside(function, lanes, functions, whole, nullptr, leaves);
        std::vector<Value*> results;
        for (std::int64_t k = 0; k < size_; ++k) {
            Value* result = inside.value(function.result, {k, nullptr});
            results.push_back(lanes.as(function.real, result));
        }
        return results;
    }

    std::vector<Value*> load(Tile& tile, int r) {
        std::vector<Value*> state;
        for (std::int64_t k = 0; k < size_; ++k)
            state.push_back(
                tile.lanes.b.CreateLoad(type(tile), at(tile, k, r)));
        return state;
    }

    llvm::Type* type(Tile& tile) const { return tile.lanes.type(graph_.real); }
    Value* at(Tile& tile, std::int64_t k, int r) {
        return place(tile, 0, {k, nullptr}, r, type(tile));
    }
    template <class Body> void each(Tile& tile, Body body) {
        for (std::int64_t k = 0; k < size_; ++k)
            for (int r = 0; r < tile.rows; ++r)
                body(k, r);
    }

    std::int64_t size_;
};

} // namespace

std::unique_ptr<MonoidWriter> make_fold(const ir::Graph& graph,
                                        const LoweredReduction& lowered) {
    return std::make_unique<UserDefined>(graph, lowered);
}

} // namespace tilefold::llvm_backend
