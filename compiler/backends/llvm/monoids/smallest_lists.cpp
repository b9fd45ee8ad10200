// compiler/backends/llvm/monoids/smallest_lists.cpp - lists, candidates, state.

#include "compiler/backends/llvm/monoids/smallest_lists.h"

#include <llvm/Analysis/VectorUtils.h>

#include <algorithm>
#include <limits>

namespace tilefold::llvm_backend {

using llvm::Value;

void SmallestLists::start(Tile& tile, int r) {
    set(tile, bound, r,
        tile.lanes.number(real_, std::numeric_limits<double>::quiet_NaN()));
    forget_candidates(tile, r);
    forget_noted(tile);
    read(tile, r);
}

void SmallestLists::read(Tile& tile, int r) {
    auto& b = tile.lanes.b;
    const StateRows& state = *tile.state[std::size_t(r)];
    each_place(tile.lanes, [&](Component k) {
        Value* x = tile.lanes.as(real_, state.load(smallest, k));
        Value* empty = b.CreateICmpSLT(state.load(where, k),
                                       tile.lanes.number(DType::I64, 0));
        store(tile, keys, r, k,
              b.CreateSelect(empty, splat(tile, empty_key()), key_of(tile, x)));
        Value* code = b.CreateNot(k.runtime); // -1 - k
        store(tile, codes, r, k,
              tile.lanes.splat(b.CreateTrunc(code, element(tile))));
    });
    set(tile, has_new, r, b.getFalse());
    refresh_worst(tile, r);
}

void SmallestLists::bring_back(Tile& tile, int r) {
    settle(tile, r);
    tile.lanes.when(get(tile, has_new, r), [&] { write_back(tile, r); });
}

/// Writes the list to the state, last place first: what was in a place of the
/// state is in the same place of the list, or in a later one.
void SmallestLists::write_back(Tile& tile, int r) {
    auto& b = tile.lanes.b;
    const StateRows& state = *tile.state[std::size_t(r)];
    Value* zero = tile.lanes.number(DType::I64, 0);
    each_place(tile.lanes, [&](Component from_end) {
        const Component k{
            0, b.CreateSub(tile.lanes.constant(k_ - 1), from_end.runtime)};
        Value* code =
            b.CreateSExt(load(tile, codes, r, k), tile.lanes.type(DType::I64));
        Value* is_new = b.CreateICmpSGE(code, zero);
        Value* old = state.gather(
            where, b.CreateSelect(is_new, zero, b.CreateNot(code)));
        Value* column =
            b.CreateAdd(b.CreateAdd(code, tile.lanes.splat(tile.panel)),
                        tile.index_base[std::size_t(r)]);
        state.store(where, k, b.CreateSelect(is_new, column, old));
        state.store(
            smallest, k,
            tile.lanes.as(DType::F64, value_of(tile, load(tile, keys, r, k))));
    });
}

Value* SmallestLists::is_short(Tile& tile, int r) const {
    auto& b = tile.lanes.b;
    return b.CreateOrReduce(b.CreateICmpEQ(
        load(tile, keys, r, last_place(tile)), splat(tile, empty_key())));
}

Value* SmallestLists::worst(Tile& tile, int r) {
    return get(tile, threshold, r);
}

Value* SmallestLists::is_better(Tile& tile, int r, Value* x) {
    return tile.lanes.b.CreateFCmpULT(x, worst(tile, r));
}

void SmallestLists::refresh_worst(Tile& tile, int r) {
    set(tile, threshold, r, worst_of(tile, r, get(tile, bound, r)));
}

/// The worst value of the list, or the bound while it has empty places.
Value* SmallestLists::worst_of(const Place& tile, int r, Value* bound) const {
    auto& b = tile.lanes.b;
    Value* key = load(tile, keys, r, last_place(tile));
    Value* empty = b.CreateICmpEQ(key, splat(tile, empty_key()));
    return b.CreateSelect(empty, bound, value_of(tile, key));
}

void SmallestLists::bound_by_worst(Tile& tile, int r) {
    auto& b = tile.lanes.b;
    settle(tile, r);
    Value* worst = load(tile, keys, r, last_place(tile));
    Value* is_number = b.CreateICmpSLT(worst, splat(tile, nan_key()));
    Value* above = b.CreateAdd(worst, splat(tile, 1));
    set(tile, bound, r,
        value_of(tile, b.CreateSelect(is_number, above, worst)));
}

void SmallestLists::note(Tile& tile, int r, const std::vector<Value*>& values,
                         Value* count) {
    auto& b = tile.lanes.b;
    Value* group = get(tile, noted_groups, 0);
    std::vector<Value*> better;
    for (Value* x : values) {
        const auto number = std::int64_t(better.size());
        b.CreateAlignedStore(
            x,
            tile.lanes.byte_offset(group_values(tile, group),
                                   number * vector_bytes(tile)),
            alignment(tile));
        better.push_back(is_better(tile, r, x));
    }
    constexpr std::int64_t bits = 64;
    Value* lanes = b.CreateMul(count, tile.lanes.constant(tile.lanes.width()));
    Value* there = b.CreateLShr(tile.lanes.constant(-1),
                                b.CreateSub(tile.lanes.constant(bits), lanes));
    Value* found = b.CreateAnd(
        tile.lanes.bits(llvm::concatenateVectors(b, better)), there);
    b.CreateStore(found, group_field(tile, cells, group));
    b.CreateStore(tile.column, group_field(tile, first_column, group));
    Value* has_any = b.CreateICmpNE(found, tile.lanes.constant(0));
    group = b.CreateAdd(group, b.CreateZExt(has_any, b.getInt64Ty()));
    set(tile, noted_groups, 0, group);
    set(tile, noted_cells, 0,
        b.CreateAdd(get(tile, noted_cells, 0),
                    b.CreateUnaryIntrinsic(llvm::Intrinsic::ctpop, found)));
    tile.lanes.when(b.CreateICmpEQ(group, tile.lanes.constant(sizes_.groups())),
                    [&] { take_noted(tile, r); });
}

/// Visits the cells of all groups by one loop: which group a cell belongs to is
/// computed, not branched on. After the last cell the next group is looked at,
/// too, of which nothing is used.
void SmallestLists::take_noted(Tile& tile, int r) {
    auto& b = tile.lanes.b;
    Value* zero = tile.lanes.constant(0);
    Value* one = tile.lanes.constant(1);
    const auto cells_of = [&](Value* group) {
        return b.CreateLoad(b.getInt64Ty(), group_field(tile, cells, group));
    };
    Value* group_at = tile.lanes.variable(b.getInt64Ty());
    Value* left_at = tile.lanes.variable(b.getInt64Ty());
    b.CreateStore(zero, group_at);
    b.CreateStore(cells_of(zero), left_at);
    tile.lanes.loop(zero, get(tile, noted_cells, 0), one, [&](Value*) {
        Value* group = b.CreateLoad(b.getInt64Ty(), group_at);
        Value* left = b.CreateLoad(b.getInt64Ty(), left_at);
        Value* next =
            b.CreateBinaryIntrinsic(llvm::Intrinsic::cttz, left, b.getTrue());
        left = b.CreateAnd(left, b.CreateSub(left, one));
        Value* is_last = b.CreateICmpEQ(left, zero);
        Value* following =
            b.CreateAdd(group, b.CreateZExt(is_last, b.getInt64Ty()));
        Value* cells_left = b.CreateSelect(is_last, cells_of(following), left);
        llvm::cast<llvm::Instruction>(cells_left)
            ->setMetadata(llvm::LLVMContext::MD_unpredictable,
                          llvm::MDNode::get(b.getContext(), {}));
        b.CreateStore(cells_left, left_at);
        b.CreateStore(following, group_at);
        take_cell(tile, r, group, next);
        take_many(tile, r);
    });
    forget_noted(tile);
}

void SmallestLists::forget_noted(Tile& tile) {
    set(tile, noted_groups, 0, tile.lanes.constant(0));
    set(tile, noted_cells, 0, tile.lanes.constant(0));
}

/// Makes a candidate of a cell, which counts the lanes of a group's columns.
void SmallestLists::take_cell(Tile& tile, int r, Value* group, Value* cell) {
    auto& b = tile.lanes.b;
    const std::int64_t size = std::int64_t(size_of(real_));
    const std::int64_t width = tile.lanes.width();
    Value* lane = b.CreateAnd(cell, tile.lanes.constant(width - 1));
    const auto of_lane = [&](Value* vector) {
        return tile.lanes.at(vector, lane, 0, size);
    };
    Value* x = b.CreateLoad(
        element(tile), tile.lanes.at(group_values(tile, group), cell, 0, size));
    Value* first =
        b.CreateLoad(b.getInt64Ty(), group_field(tile, first_column, group));
    Value* column =
        b.CreateAdd(b.CreateUDiv(cell, tile.lanes.constant(width)), first);
    Value* count_at = of_lane(counts(tile, r));
    Value* count =
        b.CreateSExt(b.CreateLoad(element(tile), count_at), b.getInt64Ty());
    const Component free = candidate(tile, count);
    b.CreateStore(x, of_lane(address(tile, keys, r, free)));
    b.CreateStore(b.CreateTrunc(column, element(tile)),
                  of_lane(address(tile, codes, r, free)));
    count = b.CreateAdd(count, tile.lanes.constant(1));
    b.CreateStore(b.CreateTrunc(count, element(tile)), count_at);
    set(tile, most, r,
        b.CreateBinaryIntrinsic(llvm::Intrinsic::smax, get(tile, most, r),
                                count));
}

void SmallestLists::note_in_all_lanes(Tile& tile, int r, Value* x) {
    auto& b = tile.lanes.b;
    Value* count = get(tile, most, r);
    store(tile, keys, r, candidate(tile, count), x);
    count = b.CreateAdd(count, tile.lanes.constant(1));
    set(tile, most, r, count);
    b.CreateAlignedStore(tile.lanes.splat(b.CreateTrunc(count, element(tile))),
                         counts(tile, r), alignment(tile));
    take_many(tile, r);
}

Value* SmallestLists::has_more(Tile& tile, int r, std::int64_t count) {
    return tile.lanes.b.CreateICmpSGT(get(tile, most, r),
                                      tile.lanes.constant(count));
}
void SmallestLists::take_many(Tile& tile, int r) {
    tile.lanes.when(has_more(tile, r, sizes_.many()),
                    [&] { take_candidates(tile, r); });
}
void SmallestLists::settle(Tile& tile, int r) {
    tile.lanes.when(has_more(tile, r, 0), [&] { take_candidates(tile, r); });
}

void SmallestLists::forget_candidates(Tile& tile, int r) {
    clear_counts(tile, r);
    set(tile, most, r, tile.lanes.constant(0));
}

void SmallestLists::clear_counts(const Place& tile, int r) const {
    tile.lanes.b.CreateAlignedStore(splat(tile, 0), counts(tile, r),
                                    alignment(tile));
}

/// Sinks all candidates into the lists, by a function that all row vectors and
/// all places where candidates come up share.
void SmallestLists::take_candidates(Tile& tile, int r) {
    auto& b = tile.lanes.b;
    const int rows = tile.rows;
    const SmallestLists lists(k_, real_);
    const auto body = [lists, rows](ModuleWriter& writer, llvm::IRBuilder<>& at,
                                    llvm::Function* function) {
        Lanes lanes = writer.lanes(at, writer.plan.lanes);
        const Place place(lanes, function->getArg(0), rows);
        at.CreateRet(
            lists.sink_all(place, 0, function->getArg(1), function->getArg(2)));
    };
    llvm::Function* function = tile.writer.shared(
        "sink" + std::to_string(k_) + "of" + std::to_string(rows), "pnr", body,
        'r');
    Value* list = tile.lanes.byte_offset(tile.list, r * vector_bytes(tile));
    Value* worst =
        b.CreateCall(function, {list, get(tile, most, r), get(tile, bound, r)});
    set(tile, threshold, r, worst);
    set(tile, has_new, r, b.getTrue());
    set(tile, most, r, tile.lanes.constant(0));
}

Value* SmallestLists::sink_all(const Place& tile, int r, Value* most,
                               Value* bound) const {
    auto& b = tile.lanes.b;
    Value* count = b.CreateAlignedLoad(splat(tile, 0)->getType(),
                                       counts(tile, r), alignment(tile));
    tile.lanes.loop(
        tile.lanes.constant(0), most, tile.lanes.constant(together),
        [&](Value* from) {
            std::vector<Candidate> some;
            for (int n = 0; n < together; ++n) {
                Value* number = b.CreateAdd(from, tile.lanes.constant(n));
                const Component k = candidate(tile, number);
                Value* is_there = b.CreateICmpSGT(
                    count,
                    tile.lanes.splat(b.CreateTrunc(number, element(tile))));
                Value* x = b.CreateBitCast(load(tile, keys, r, k), real(tile));
                some.push_back({b.CreateSelect(is_there, key_of(tile, x),
                                               splat(tile, empty_key())),
                                load(tile, codes, r, k)});
            }
            sink(tile, r, some);
        });
    clear_counts(tile, r);
    return worst_of(tile, r, bound);
}

/// Candidates sink from the first place to where they belong, and what
/// comes after moves down; an empty one stays above nothing.
void SmallestLists::sink(const Place& tile, int r,
                         const std::vector<Candidate>& some) const {
    auto& b = tile.lanes.b;
    llvm::Type* type = splat(tile, 0)->getType();
    std::vector<Candidate> held_at;
    for (const Candidate& candidate : some) {
        held_at.push_back(
            {tile.lanes.variable(type), tile.lanes.variable(type)});
        b.CreateStore(candidate.key, held_at.back().key);
        b.CreateStore(candidate.code, held_at.back().code);
    }
    each_place(tile.lanes, [&](Component k) {
        Candidate y = {load(tile, keys, r, k), load(tile, codes, r, k)};
        for (std::size_t n = 0; n < some.size(); ++n) {
            const Candidate at = held_at[n];
            const Candidate held = {b.CreateLoad(type, at.key),
                                    b.CreateLoad(type, at.code)};
            // A key that stands before this place stands before all later
            // ones, too.
            Value* first = b.CreateICmpSLT(some[n].key, y.key);
            const auto exchange = [&](Value* in, Value*& place, Value* to) {
                b.CreateStore(b.CreateSelect(first, place, in), to);
                place = b.CreateSelect(first, in, place);
            };
            exchange(held.key, y.key, at.key);
            exchange(held.code, y.code, at.code);
        }
        store(tile, keys, r, k, y.key);
        store(tile, codes, r, k, y.code);
    });
}

llvm::Type* SmallestLists::element(const Place& tile) const {
    return tile.lanes.b.getIntNTy(unsigned(size_of(real_)) * 8);
}
Value* SmallestLists::splat(const Place& tile, std::int64_t number) const {
    return tile.lanes.splat(
        llvm::ConstantInt::get(element(tile), std::uint64_t(number), true));
}
std::int64_t SmallestLists::empty_key() const {
    return real_ == DType::F32 ? std::numeric_limits<std::int32_t>::max()
                               : std::numeric_limits<std::int64_t>::max();
}

/// Turns the bits of a number into a key, or back: those of a positive number
/// ascend with it, those of a negative one descend.
Value* SmallestLists::turned(const Place& tile, Value* bits) const {
    auto& b = tile.lanes.b;
    const int last_bit = int(size_of(real_)) * 8 - 1;
    Value* negative = b.CreateAShr(bits, splat(tile, last_bit));
    return b.CreateXor(bits, b.CreateAnd(negative, splat(tile, empty_key())));
}
Value* SmallestLists::key_of(const Place& tile, Value* x) const {
    auto& b = tile.lanes.b;
    Value* zero = tile.lanes.number(real_, 0);
    Value* plus = b.CreateFAdd(x, zero); // -0 is 0
    Value* bits = b.CreateBitCast(plus, splat(tile, 0)->getType());
    return b.CreateSelect(b.CreateFCmpUNO(x, x), splat(tile, nan_key()),
                          turned(tile, bits));
}
/// Returns the value of a key, which is NaN for an empty place.
Value* SmallestLists::value_of(const Place& tile, Value* key) const {
    return tile.lanes.b.CreateBitCast(turned(tile, key), real(tile));
}

Value* SmallestLists::address(const Place& tile, Part part, int r,
                              Component k) const {
    const std::int64_t bytes = vector_bytes(tile);
    Value* place =
        tile.lanes.byte_offset(tile.list, (part * tile.rows + r) * bytes);
    return tile.lanes.at(place, k.runtime, 0, 2 * tile.rows * bytes);
}
Value* SmallestLists::load(const Place& tile, Part part, int r,
                           Component k) const {
    Value* place = address(tile, part, r, k);
    return tile.lanes.b.CreateAlignedLoad(splat(tile, 0)->getType(), place,
                                          alignment(tile));
}
void SmallestLists::store(const Place& tile, Part part, int r, Component k,
                          Value* value) const {
    tile.lanes.b.CreateAlignedStore(value, address(tile, part, r, k),
                                    alignment(tile));
}
std::int64_t SmallestLists::vector_bytes(const Place& tile) const {
    return tile.lanes.width() * std::int64_t(size_of(real_));
}
llvm::Align SmallestLists::alignment(const Place& tile) const {
    return llvm::Align(std::uint64_t(vector_bytes(tile)));
}

/// Returns where the counts lie, which follow the lists.
Value* SmallestLists::counts(const Place& tile, int r) const {
    return address(tile, keys, r, {0, tile.lanes.constant(k_ + sizes_.room())});
}
/// Returns where the values of a noted group's columns lie.
Value* SmallestLists::group_values(Tile& tile, Value* group) const {
    Value* first =
        tile.lanes.byte_offset(counts(tile, 0), tile.rows * vector_bytes(tile));
    return tile.lanes.at(first, group, 0, together * vector_bytes(tile));
}
Value* SmallestLists::group_field(Tile& tile, GroupField field, Value* group) {
    llvm::Type* number = tile.lanes.b.getInt64Ty();
    Value*& known = group_fields_[field];
    if (!known)
        known = tile.lanes.variable(
            llvm::ArrayType::get(number, std::uint64_t(sizes_.groups() + 1)));
    return tile.lanes.at(known, group, 0, sizeof(std::int64_t));
}
Value* SmallestLists::memory_after(Tile& tile) const {
    return tile.lanes.byte_offset(tile.list, tile.rows * sizes_.vectors() *
                                                 vector_bytes(tile));
}
Component SmallestLists::last_place(const Place& tile) const {
    return {0, tile.lanes.constant(k_ - 1)};
}
Component SmallestLists::candidate(const Place& tile, Value* number) const {
    return {0, tile.lanes.b.CreateAdd(number, tile.lanes.constant(k_))};
}

void SmallestLists::each_place(
    Lanes& lanes, const std::function<void(Component)>& body) const {
    lanes.loop(lanes.constant(0), lanes.constant(k_), lanes.constant(1),
               [&](Value* index) { body({0, index}); });
}

llvm::Type* SmallestLists::real(const Place& tile) const {
    return tile.lanes.type(real_);
}

llvm::Type* SmallestLists::type_of(Tile& tile, Register which) const {
    auto& b = tile.lanes.b;
    switch (which) {
    case threshold:
    case bound:
        return real(tile);
    case has_new:
        return b.getInt1Ty();
    case most:
    case noted_groups:
    case noted_cells:
        return b.getInt64Ty();
    }
    __builtin_unreachable();
}
Value* SmallestLists::variable(Tile& tile, Register which, int r) {
    Value*& known = variables_[{which, r}];
    if (!known)
        known = tile.lanes.variable(type_of(tile, which));
    return known;
}
Value* SmallestLists::get(Tile& tile, Register which, int r) {
    return tile.lanes.b.CreateLoad(type_of(tile, which),
                                   variable(tile, which, r));
}
void SmallestLists::set(Tile& tile, Register which, int r, Value* value) {
    tile.lanes.b.CreateStore(value, variable(tile, which, r));
}

} // namespace tilefold::llvm_backend
