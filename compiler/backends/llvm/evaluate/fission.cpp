// compiler/backends/llvm/evaluate/fission.cpp - a long chain of functions in
// several loops: over the components of a vector, or over points.
//
// A function's chain of operations takes 20 to 60 cycles, and a processor looks
// ahead a few hundred instructions: of thirty functions in one loop, hardly
// two turns overlap. So the loop is cut after every function or so, and what
// the next loop needs is kept in the first cache, for a strip of components or
// points at a time. A sine is all of its loop, which is a function of the image
// then. (Loop fission, or distribution: Kennedy, McKinley, 1990.)

#include "compiler/backends/llvm/evaluate/evaluate.h"

#include <algorithm>
#include <set>

namespace tilefold::llvm_backend {

using ir::Node;
using ir::ValueId;
using llvm::Value;

namespace {

constexpr std::int64_t strip = 32; // vectors

/// Issue slots of a loop's body, and of a chain that is worth cutting; of what
/// costs little enough to go with any function.
constexpr int body_slots = 16, long_chain = 48, light = 4;

/// Whether a function of the image computes it, a strip at a time.
bool is_sine(const Node& node) {
    return (node.op == ir::Op::Sin || node.op == ir::Op::Cos) &&
           node.type.dtype == DType::F32;
}

int slots_of(const Node& node) {
    if (node.op == ir::Op::IntPow)
        return 2;
    return ir::has_row(node.op) ? int(ir::row_of(node.op).cost) : 1;
}

} // namespace

/// Whether a loop may compute it for later ones: of vectors, where a component
/// is computed from components of the same number.
bool Evaluator::is_handed(ValueId id) const {
    const Node& node = graph_[id];
    return node.type.dtype != DType::Bool && node.arity > 0 && !leaves_(id) &&
           (node.type.rank == 0 ||
            (node.type.rank == 1 && ir::is_elementwise(node.op)));
}

/// Returns the functions of `rank` below `roots`, operands first, in groups of
/// about a body's slots; it is empty where they are few.
std::vector<std::vector<ValueId>>
Evaluator::groups_below(std::span<const ValueId> roots, int rank) const {
    std::vector<std::vector<ValueId>> groups(1);
    int slots = 0, all_slots = 0;
    std::set<ValueId> seen;
    const std::function<void(ValueId)> walk = [&](ValueId at) {
        const Node& node = graph_[at];
        const bool belongs = is_handed(at) && node.type.rank == rank;
        // Below a vector that is none of them, components have other numbers.
        if (leaves_(at) || (rank > 0 && !belongs) || !seen.insert(at).second)
            return;
        for (ValueId operand : node.inputs())
            walk(operand);
        if (!belongs)
            return;
        const int cost = slots_of(node);
        all_slots += cost;
        const auto& group = groups.back();
        const bool is_alone =
            is_sine(node) || (!group.empty() && is_sine(graph_[group.back()]));
        if ((is_alone && !group.empty()) ||
            (cost > light && slots > 0 && slots + cost > body_slots)) {
            groups.emplace_back();
            slots = 0;
        }
        if (cost > light)
            slots += cost;
        groups.back().push_back(at);
    };
    for (ValueId root : roots)
        walk(root);
    if (all_slots < long_chain)
        groups.clear();
    return groups;
}

/// Values that loops hand to later ones, in memory for a strip.
class Evaluator::Handed {
public:
    /// `roots` are values that others read, too, and not only later groups.
    Handed(Evaluator& values, const std::vector<std::vector<ValueId>>& groups,
           std::span<const ValueId> roots, int row, int column)
        : values_(values), roots_(roots), row_(row), column_(column) {
        std::map<ValueId, std::size_t> made, last;
        for (std::size_t g = 0; g < groups.size(); ++g)
            for (ValueId id : groups[g])
                made[id] = g;
        // What is in no group is computed where it is read.
        std::set<ValueId> seen;
        const std::function<void(ValueId, std::size_t)> use =
            [&](ValueId id, std::size_t group) {
                for (ValueId operand : values.graph_[id].inputs()) {
                    if (values.leaves_(operand) || !seen.insert(operand).second)
                        continue;
                    const auto of = made.find(operand);
                    if (of == made.end())
                        use(operand, group);
                    else if (of->second < group)
                        last[operand] = group;
                }
            };
        for (std::size_t g = 0; g < groups.size(); ++g) {
            seen.clear();
            for (ValueId id : groups[g])
                use(id, g);
        }
        for (const auto& [id, group] : last)
            handed_.push_back({id, made[id], group, nullptr});
        place();
    }

    /// Finds what earlier groups left, in the loop of `group` at its turn
    /// `at`.
    void read(std::size_t group, Component of, Value* at) const {
        for (const One& one : handed_)
            if (one.made < group && group <= one.last)
                values_.remember(
                    values_.cell_of(one.id, of, row_, column_),
                    values_.lanes_.load(dtype_of(one.id), address(one, at)));
    }
    /// Where all that a group does is a sine of what it finds, for later
    /// groups alone, it is computed by a call for `count` turns instead of a
    /// loop. Returns whether it was.
    bool call(const std::vector<ValueId>& group, Value* count) const {
        const Node& node = values_.graph_[group.front()];
        if (group.size() > 1 || !is_sine(node) || !values_.functions_.sines ||
            std::ranges::count(roots_, group.front()))
            return false;
        const auto of = [&](ValueId id) {
            return std::ranges::find(handed_, id, &One::id);
        };
        const auto x = of(node.operands[0]), result = of(group.front());
        if (x == handed_.end() || result == handed_.end() ||
            x->memory != result->memory)
            return false;
        auto& lanes = values_.lanes_;
        values_.functions_.sines(
            node.op == ir::Op::Sin ? External::Sin : External::Cos, x->memory,
            lanes.b.CreateMul(count, lanes.constant(lanes.width())));
        return true;
    }
    /// Leaves what later groups read, in the loop of `group` at its turn `at`.
    void write(std::size_t group, Component of, Value* at) const {
        for (const One& one : handed_)
            if (one.made == group)
                values_.lanes_.store(values_.value(one.id, of, row_, column_),
                                     address(one, at));
    }

private:
    struct One {
        ValueId id;
        std::size_t made, last; ///< groups
        Value* memory;
    };
    struct Slot {
        Value* memory;
        DType dtype;
        std::size_t last;
    };

    DType dtype_of(ValueId id) const { return values_.graph_[id].type.dtype; }
    Value* address(const One& one, Value* at) const {
        return values_.lanes_.at(one.memory, at, 0,
                                 values_.lanes_.width() *
                                     std::int64_t(size_of(dtype_of(one.id))));
    }

    /// Memory that no later group reads is used again: where a loop reads and
    /// writes it, it reads first.
    void place() {
        std::ranges::sort(handed_, {}, &One::made);
        std::vector<Slot> slots;
        for (One& one : handed_) {
            const DType dtype = dtype_of(one.id);
            auto slot = std::ranges::find_if(slots, [&](const Slot& old) {
                return old.dtype == dtype && old.last <= one.made;
            });
            if (slot == slots.end())
                slot = slots.insert(
                    slot, {values_.lanes_.variable(llvm::ArrayType::get(
                               values_.lanes_.type(dtype), strip)),
                           dtype, 0});
            slot->last = one.last;
            one.memory = slot->memory;
        }
    }

    Evaluator& values_;
    std::span<const ValueId> roots_;
    int row_, column_;
    std::vector<One> handed_;
};

/// Runs `count` turns in strips, and of each strip a loop for every group, or a
/// call: `body` with the group's number and that of the turn.
void Evaluator::in_strips(
    const std::vector<std::vector<ValueId>>& groups, const Handed& handed,
    Value* count,
    const std::function<void(std::size_t group, Value* turn, Value* at)>&
        body) {
    auto& b = lanes_.b;
    Value* zero = lanes_.constant(0);
    Value* size = lanes_.constant(strip);
    lanes_.loop(zero, count, size, [&](Value* first) {
        Value* turns = b.CreateBinaryIntrinsic(llvm::Intrinsic::smin,
                                               b.CreateSub(count, first), size);
        for (std::size_t group = 0; group < groups.size(); ++group)
            if (!handed.call(groups[group], turns))
                lanes_.loop(zero, turns, lanes_.constant(1), [&](Value* at) {
                    Scope scope(*this);
                    body(group, b.CreateAdd(first, at), at);
                });
    });
}

/// Adds up a contraction of one cell over groups of the functions below it.
Value* Evaluator::contract_in_groups(ValueId id, Component of,
                                     std::vector<std::vector<ValueId>> groups,
                                     int row, int column) {
    auto& b = lanes_.b;
    const Node& node = graph_[id];
    for (const auto& group : groups)
        for (ValueId function : group)
            for (ValueId operand : graph_[function].inputs())
                if (graph_[operand].type.rank == 0)
                    value(operand, {}, row, column);
    llvm::Type* type = lanes_.type(node.type.dtype);
    Value* sum = lanes_.variable(type);
    b.CreateStore(lanes_.number(node.type.dtype, ir::start_of(node.op)), sum);
    groups.push_back({id});
    const Handed handed(*this, groups, {}, row, column);
    in_strips(groups, handed, lanes_.constant(terms_of(graph_, node)),
              [&](std::size_t group, Value* turn, Value* at) {
                  const Component component{0, turn};
                  handed.read(group, component, at);
                  if (group + 1 < groups.size()) {
                      for (ValueId function : groups[group])
                          value(function, component, row, column);
                      return handed.write(group, component, at);
                  }
                  Value* old = b.CreateLoad(type, sum);
                  b.CreateStore(
                      accumulated(node, old, of, component, row, column), sum);
              });
    return b.CreateLoad(type, sum);
}

bool Evaluator::scalars_in_groups(std::span<const ValueId> roots, Value* count,
                                  const std::function<void(Value*)>& begin,
                                  const std::function<void(ValueId)>& finish) {
    std::vector<std::vector<ValueId>> groups = groups_below(roots, 0);
    if (groups.empty())
        return false;
    groups.emplace_back(); // truths, which are not handed on
    for (ValueId root : roots)
        if (!is_handed(root))
            groups.back().push_back(root);
    if (groups.back().empty())
        groups.pop_back();
    auto& b = lanes_.b;
    const Handed handed(*this, groups, roots, 0, 0);
    Value* width = lanes_.constant(lanes_.width());
    Value* above = lanes_.constant(lanes_.width() - 1);
    in_strips(groups, handed, b.CreateSDiv(b.CreateAdd(count, above), width),
              [&](std::size_t group, Value* turn, Value* at) {
                  begin(b.CreateMul(turn, width));
                  handed.read(group, {}, at);
                  for (ValueId id : groups[group]) {
                      value(id);
                      if (std::ranges::count(roots, id))
                          finish(id);
                  }
                  handed.write(group, {}, at);
              });
    return true;
}

} // namespace tilefold::llvm_backend
