// compiler/backends/llvm/evaluate/contractions.cpp - sums over the components
// of vectors, for all cells of a tile at once.

#include "compiler/backends/llvm/evaluate/evaluate.h"
#include "formulas/diagnostic.h"

#include <set>
#include <utility>

namespace tilefold::llvm_backend {

using ir::Node;
using ir::Op;
using ir::ValueId;
using llvm::Value;

/// Returns `sum` with term `at` of a contraction's `component` added; null
/// starts a sum.
Value* Evaluator::accumulated(const Node& node, Value* sum, Component component,
                              Component at, int row, int column) {
    auto& b = lanes_.b;
    const auto read = [&](int operand, Component k) {
        return lanes_.as(
            node.type.dtype,
            value(node.operands[std::size_t(operand)], k, row, column));
    };
    const auto add = [&](Value* x) { return sum ? b.CreateFAdd(sum, x) : x; };
    const auto add_product = [&](Value* x, Value* y) {
        return sum ? lanes_.fma(x, y, sum) : b.CreateFMul(x, y);
    };
    switch (node.op) {
    case Op::Dot:
        return add_product(read(0, at), read(1, at));
    case Op::SqNorm:
        return add_product(read(0, at), read(0, at));
    case Op::SqDist: {
        Value* difference = b.CreateFSub(read(0, at), read(1, at));
        return add_product(difference, difference);
    }
    case Op::CompSum:
        return add(read(0, at));
    case Op::CompMax:
    case Op::CompMin: {
        Value* x = read(0, at);
        const auto id = node.op == Op::CompMax ? llvm::Intrinsic::maximum
                                               : llvm::Intrinsic::minimum;
        return sum ? b.CreateBinaryIntrinsic(id, sum, x) : x;
    }
    case Op::MatVec: {
        const std::int64_t columns = graph_[node.operands[0]].type.columns;
        const Component start = shifted(component, columns, at.fixed);
        const Component flat =
            at.runtime ? Component{0, b.CreateAdd(index_of(start), at.runtime)}
                       : start;
        return add_product(read(0, flat), read(1, at));
    }
    case Op::VecMat: {
        const std::int64_t columns = graph_[node.operands[1]].type.columns;
        const Component start = shifted(at, columns, component.fixed);
        const Component flat =
            component.runtime
                ? Component{0, b.CreateAdd(index_of(start), component.runtime)}
                : start;
        return add_product(read(0, at), read(1, flat));
    }
    default:
        internal_error("not a contraction");
    }
}

/// Keeps the sums of a tile, a register for each cell.
class Evaluator::CellSums {
public:
    CellSums(Lanes& lanes, llvm::Type* type, const Cells& cells)
        : lanes_(lanes), type_(type), cells_(cells) {
        for (int k = 0; k < cells.rows * cells.columns; ++k)
            variables_.push_back(lanes.variable(type));
    }

    template <class Body>
    void each(Body body) const { // (register, row, column)
        for (int j = 0; j < cells_.columns; ++j)
            for (int r = 0; r < cells_.rows; ++r)
                body(variables_[std::size_t(r * cells_.columns + j)],
                     cells_.row0 + r, cells_.column0 + j);
    }
    /// Sets every sum to make(row, column).
    template <class Make> void set(Make make) const {
        each([&](Value* variable, int r, int j) {
            lanes_.b.CreateStore(make(r, j), variable);
        });
    }
    /// Sets each sum to make(the sum so far, row, column).
    template <class Make> void update(Make make) const {
        each([&](Value*, int r, int j) { update_one(r, j, make); });
    }
    /// Sets the sum of one cell to make(the sum so far, row, column).
    template <class Make>
    void update_one(int row, int column, Make make) const {
        Value* variable = variables_[std::size_t(
            (row - cells_.row0) * cells_.columns + column - cells_.column0)];
        lanes_.b.CreateStore(
            make(lanes_.b.CreateLoad(type_, variable), row, column), variable);
    }
    /// Hands every sum to take(sum, row, column).
    template <class Take> void finish(Take take) const {
        each([&](Value* variable, int r, int j) {
            take(lanes_.b.CreateLoad(type_, variable), r, j);
        });
    }

private:
    Lanes& lanes_;
    llvm::Type* type_;
    Cells cells_;
    std::vector<Value*> variables_;
};

void Evaluator::contract_part(ValueId id, Value* from, Value* to, int rows,
                              int columns, const Places& place) {
    const Node& node = graph_[id];
    const DType dtype = node.type.dtype;
    const CellSums sums(lanes_, lanes_.type(dtype), {0, rows, 0, columns});
    sums.set([&](int r, int j) { return lanes_.load(dtype, place(r, j)); });
    lanes_.loop(from, to, lanes_.constant(1), [&](Value* index) {
        Scope scope(*this);
        sums.update([&](Value* sum, int r, int j) {
            return accumulated(node, sum, {}, {0, index}, r, j);
        });
    });
    sums.finish(
        [&](Value* sum, int r, int j) { lanes_.store(sum, place(r, j)); });
}

/// Returns the loops that a contraction of these cells is cut into, or null.
const LoopChain* Evaluator::chain_of(ValueId id, const Cells& cells) const {
    if (!chains_ || cells.rows * cells.columns != 1)
        return nullptr;
    const auto found = chains_->find(id);
    return found == chains_->end() ? nullptr : &found->second;
}

/// Computes a contraction for the cells of a tile and remembers it.
void Evaluator::contract(ValueId id, Component component, Cells cells) {
    const Node& node = graph_[id];
    if (!contains(node.type.axes, Axes::I))
        cells.rows = 1;
    if (!contains(node.type.axes, Axes::J))
        cells.columns = 1;
    if (const Words* words = leaves_(node.operands[0]).words)
        return contract_words(id, *words, cells);
    if (const LoopChain* chain = chain_of(id, cells))
        return remember(cell_of(id, component, cells.row0, cells.column0),
                        contract_in_strips(id, component, *chain, cells.row0,
                                           cells.column0));
    const std::int64_t count = terms_of(graph_, node);
    const CellSums sums(lanes_, lanes_.type(node.type.dtype), cells);
    if (unrolled(count)) {
        sums.set([&](int r, int j) {
            return accumulated(node, nullptr, component, {}, r, j);
        });
        for (std::int64_t k = 1; k < count; ++k)
            sums.update([&](Value* sum, int r, int j) {
                return accumulated(node, sum, component, {k, nullptr}, r, j);
            });
    } else {
        Value* start = lanes_.number(node.type.dtype, ir::start_of(node.op));
        sums.set([&](int, int) { return start; });
        each_component(count, [&](Component at) {
            sums.update([&](Value* sum, int r, int j) {
                return accumulated(node, sum, component, at, r, j);
            });
        });
    }
    sums.finish([&](Value* sum, int r, int j) {
        remember(cell_of(id, component, r, j), sum);
    });
}

/// Computes `count` components of a matrix times a vector, from `at` on: what
/// is read of the vector meets as many rows of the matrix.
void Evaluator::multiply_matrix(ValueId id, Component at, int count,
                                const Cells& cells, const VectorPlaces& place) {
    const Node& node = graph_[id];
    const std::int64_t terms = terms_of(graph_, node);
    std::vector<CellSums> sums;
    for (int q = 0; q < count; ++q) {
        sums.emplace_back(lanes_, lanes_.type(node.type.dtype), cells);
        sums.back().set([&](int, int) {
            return lanes_.number(node.type.dtype, ir::start_of(node.op));
        });
    }
    // One cell after the other: one vector of a cell is live at a time, and all
    // the numbers of the matrix.
    each_component(terms, [&](Component term) {
        sums[0].each([&](Value*, int row, int column) {
            for (int q = 0; q < count; ++q)
                sums[std::size_t(q)].update_one(
                    row, column, [&](Value* sum, int r, int j) {
                        return accumulated(node, sum, shifted(at, 1, q), term,
                                           r, j);
                    });
        });
    });
    for (int q = 0; q < count; ++q)
        sums[std::size_t(q)].finish([&](Value* sum, int r, int j) {
            lanes_.store(sum, place(shifted(at, 1, q), r, j));
        });
}

void Evaluator::keep_vector(ValueId id, int rows, int columns, int at_once,
                            const VectorPlaces& place) {
    const Node& node = graph_[id];
    run_contractions(id, rows, columns);
    hoist_scalars(id, rows, columns);
    if (is_contraction(node.op))
        return each_block(
            node.type.rows, at_once, [&](Component at, int count) {
                multiply_matrix(id, at, count, {0, rows, 0, columns}, place);
            });
    for (const ir::ListPart& part : ir::parts_of_list(graph_, id)) {
        const auto store = [&](Component at, int) {
            for (int j = 0; j < columns; ++j)
                for (int r = 0; r < rows; ++r)
                    lanes_.store(
                        lanes_.as(node.type.dtype, value(part.value, at, r, j)),
                        place(shifted(at, 1, part.first), r, j));
        };
        const std::int64_t components = graph_[part.value].type.rows;
        if (graph_[part.value].type.rank == 0)
            store({}, 1);
        else
            each_block(components, 1, store);
    }
}

/// Computes a contraction of vectors that are packed as words.
void Evaluator::contract_words(ValueId id, const Words& of,
                               const Cells& cells) {
    const auto [row, column] = rows_first(graph_, graph_[id]);
    Value* start = start_of_words(lanes_, of);
    const CellSums sums(lanes_, start->getType(), cells);
    sums.set([&](int, int) { return start; });
    // With one word an iteration, counting and branching take as long as a
    // quarter of the products of a small tile.
    constexpr int together = 2;
    each_block(of.words(), together, [&](Component first, int count) {
        for (int q = 0; q < count; ++q) {
            const Component at{first.fixed + q, first.runtime};
            sums.update([&](Value* sum, int r, int j) {
                return add_words(lanes_, of, sum, value(row, at, r, j),
                                 value(column, at, r, j));
            });
        }
    });
    const Component rest{of.padded(), nullptr};
    sums.finish([&](Value* sum, int r, int j) {
        Value* of_row = of.exact() ? value(row, rest, r, j) : nullptr;
        Value* of_column = of.exact() ? value(column, rest, r, j) : nullptr;
        remember(cell_of(id, {}, r, j),
                 finish_words(lanes_, of, sum, of_row, of_column));
    });
}

/// Visits what is below `root` depth first, operands first; it stops at
/// leaves.
void Evaluator::visit(ValueId root,
                      const std::function<void(ValueId)>& enter) const {
    std::set<ValueId> seen;
    const std::function<void(ValueId)> walk = [&](ValueId id) {
        if (!seen.insert(id).second || leaves_(id))
            return;
        for (ValueId operand : graph_[id].inputs())
            walk(operand);
        enter(id);
    };
    walk(root);
}

void Evaluator::run_contractions(ValueId root, int rows, int columns) {
    visit(root, [&](ValueId id) {
        const Node& node = graph_[id];
        if (is_contraction(node.op) && node.type.rank == 0 &&
            !unrolled(terms_of(graph_, node)) &&
            !memory_.count(cell_of(id, {}, 0, 0)))
            contract(id, {}, {0, rows, 0, columns});
    });
}

} // namespace tilefold::llvm_backend
