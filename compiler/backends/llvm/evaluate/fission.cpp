// compiler/backends/llvm/evaluate/fission.cpp - the loops of a chain of
// functions that was cut (cpu/lower/fission.h says why), a strip at a time.

#include "compiler/backends/llvm/evaluate/evaluate.h"

#include <algorithm>

namespace tilefold::llvm_backend {

using ir::Node;
using ir::ValueId;
using llvm::Value;

/// Values that loops hand to later ones, in memory for a strip.
class Evaluator::Handed {
public:
    Handed(Evaluator& values, const LoopChain& chain, int row, int column)
        : values_(values), chain_(chain), row_(row), column_(column) {
        for (DType dtype : chain.places)
            memory_.push_back(values.lanes_.variable(llvm::ArrayType::get(
                values.lanes_.type(dtype), vectors_of_strip)));
    }

    /// Finds what earlier loops left, in loop `number` at its turn `at`.
    void read(std::size_t number, Component of, Value* at) const {
        for (const HandedValue& one : chain_.handed)
            if (one.made < number && number <= one.last)
                values_.remember(
                    values_.cell_of(one.id, of, row_, column_),
                    values_.lanes_.load(dtype_of(one), address(one, at)));
    }
    /// Leaves what later loops read, in loop `number` at its turn `at`.
    void write(std::size_t number, Component of, Value* at) const {
        for (const HandedValue& one : chain_.handed)
            if (one.made == number)
                values_.lanes_.store(values_.value(one.id, of, row_, column_),
                                     address(one, at));
    }
    /// Computes the sines or cosines of `count` vectors, in place.
    void call(const ChainLoop& loop, Value* count) const {
        auto& lanes = values_.lanes_;
        const Node& node = values_.graph_[loop.values.front()];
        values_.functions_.sines(
            node.op == ir::Op::Sin ? External::Sin : External::Cos,
            memory_[loop.sines_in_place.value()],
            lanes.b.CreateMul(count, lanes.constant(lanes.width())));
    }

private:
    DType dtype_of(const HandedValue& one) const {
        return chain_.places[one.place];
    }
    Value* address(const HandedValue& one, Value* at) const {
        return values_.lanes_.at(memory_[one.place], at, 0,
                                 values_.lanes_.width() *
                                     std::int64_t(size_of(dtype_of(one))));
    }

    Evaluator& values_;
    const LoopChain& chain_;
    const int row_, column_;
    std::vector<Value*> memory_; ///< of each place
};

/// Runs `count` turns in strips, and for each strip the loops of the chain:
/// `body` with the loop's number, that of the turn, and its place in the strip.
void Evaluator::in_strips(
    const LoopChain& chain, const Handed& handed, Value* count,
    const std::function<void(std::size_t number, Value* turn, Value* at)>&
        body) {
    auto& b = lanes_.b;
    Value* zero = lanes_.constant(0);
    Value* size = lanes_.constant(vectors_of_strip);
    lanes_.loop(zero, count, size, [&](Value* first) {
        Value* turns = b.CreateBinaryIntrinsic(llvm::Intrinsic::smin,
                                               b.CreateSub(count, first), size);
        for (std::size_t number = 0; number < chain.loops.size(); ++number) {
            if (chain.loops[number].sines_in_place) {
                handed.call(chain.loops[number], turns);
                continue;
            }
            lanes_.loop(zero, turns, lanes_.constant(1), [&](Value* at) {
                Scope scope(*this);
                body(number, b.CreateAdd(first, at), at);
            });
        }
    });
}

/// Adds up a contraction of one cell over the loops of its chain.
Value* Evaluator::contract_in_strips(ValueId id, Component of,
                                     const LoopChain& chain, int row,
                                     int column) {
    auto& b = lanes_.b;
    const Node& node = graph_[id];
    for (const ChainLoop& loop : chain.loops)
        for (ValueId function : loop.values)
            for (ValueId operand : graph_[function].inputs())
                if (graph_[operand].type.rank == 0)
                    value(operand, {}, row, column);
    llvm::Type* type = lanes_.type(node.type.dtype);
    Value* sum = lanes_.variable(type);
    b.CreateStore(lanes_.number(node.type.dtype, ir::start_of(node.op)), sum);
    const Handed handed(*this, chain, row, column);
    in_strips(chain, handed, lanes_.constant(terms_of(graph_, node)),
              [&](std::size_t number, Value* turn, Value* at) {
                  const Component component{0, turn};
                  handed.read(number, component, at);
                  if (number + 1 < chain.loops.size()) {
                      for (ValueId function : chain.loops[number].values)
                          value(function, component, row, column);
                      return handed.write(number, component, at);
                  }
                  Value* old = b.CreateLoad(type, sum);
                  b.CreateStore(
                      accumulated(node, old, of, component, row, column), sum);
              });
    return b.CreateLoad(type, sum);
}

void Evaluator::scalars_in_strips(std::span<const ValueId> roots,
                                  const LoopChain& chain, Value* count,
                                  const std::function<void(Value*)>& begin,
                                  const std::function<void(ValueId)>& finish) {
    auto& b = lanes_.b;
    const Handed handed(*this, chain, 0, 0);
    Value* width = lanes_.constant(lanes_.width());
    Value* above = lanes_.constant(lanes_.width() - 1);
    in_strips(chain, handed, b.CreateSDiv(b.CreateAdd(count, above), width),
              [&](std::size_t number, Value* turn, Value* at) {
                  begin(b.CreateMul(turn, width));
                  handed.read(number, {}, at);
                  for (ValueId id : chain.loops[number].values) {
                      value(id);
                      if (std::ranges::count(roots, id))
                          finish(id);
                  }
                  handed.write(number, {}, at);
              });
}

} // namespace tilefold::llvm_backend
