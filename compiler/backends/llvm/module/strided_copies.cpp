// compiler/backends/llvm/module/strided_copies.cpp - between arrays of any
// stride and packed runs of numbers: functions of the module that all its
// entries share.

#include "compiler/backends/llvm/module/module.h"

#include <llvm/Analysis/VectorUtils.h>

namespace tilefold::llvm_backend {

using llvm::Value;

namespace {

/// So many elements are copied at a time where they lie in a run.
constexpr int run_lanes = 16;

/// Returns how many of `count` elements `stride` bytes apart are in whole
/// runs: none unless they are neighbours.
Value* whole_runs(const Lanes& scalar, Value* count, Value* stride,
                  DType dtype) {
    auto& b = scalar.b;
    Value* are_neighbours =
        b.CreateICmpEQ(stride, scalar.constant(std::int64_t(size_of(dtype))));
    Value* whole = b.CreateAnd(count, scalar.constant(-run_lanes));
    return b.CreateSelect(are_neighbours, whole, scalar.constant(0));
}

/// Copies the last vector of a run that has `whole` elements in whole vectors;
/// some of that vector was copied already. Returns where the elements begin
/// that are left then.
Value* finish_run(const Lanes& scalar, Value* whole, Value* count,
                  const std::function<void(Value* first)>& copy) {
    auto& b = scalar.b;
    Value* is_run = b.CreateAnd(b.CreateICmpSLT(b.getInt64(0), whole),
                                b.CreateICmpSLT(whole, count));
    scalar.when(is_run,
                [&] { copy(b.CreateSub(count, b.getInt64(run_lanes))); });
    return b.CreateSelect(is_run, count, whole);
}

std::string pair_name(std::string_view verb, DType from, DType to) {
    return std::string(verb) + "_" + std::string(spelling_of(from)) + "_" +
           std::string(spelling_of(to));
}

/// Writes the body of strided_load.
class RunLoad {
public:
    RunLoad(const ModuleWriter& writer, llvm::IRBuilder<>& b, DType from,
            DType to, llvm::Function* function)
        : b(b), scalar_(writer.lanes(b, 1)), wide_(writer.lanes(b, run_lanes)),
          lanes_(writer.lanes(b, writer.plan.lanes)),
          has_masks_(row_of(writer.plan.isa).masks), from_(from), to_(to),
          base_(function->getArg(0)), stride_(function->getArg(1)),
          list_(function->getArg(2)), first_(function->getArg(3)),
          count_(function->getArg(4)), out_(function->getArg(5)),
          padded_(function->getArg(6)) {}

    void write() {
        Value* zero = b.getInt64(0);
        Value* listed = b.CreateIsNotNull(list_);
        Value* in_order = b.CreateSelect(listed, zero, count_);
        const bool masks_rest = has_masks_ && size_of(from_) >= 4;
        Value* vectors = whole_runs(scalar_, in_order, stride_, from_);
        if (!has_masks_)
            write_zeros();
        else if (!masks_rest)
            write_zeros_from(count_);
        wide_.loop(zero, vectors, b.getInt64(run_lanes),
                   [&](Value* k) { copy(wide_, k); });
        vectors = masks_rest ? copy_rest(vectors, in_order)
                             : finish_run(scalar_, vectors, in_order,
                                          [&](Value* k) { copy(wide_, k); });
        scalar_.loop(vectors, in_order, b.getInt64(1),
                     [&](Value* k) { copy(scalar_, k); });
        copy_listed(b.CreateSelect(listed, count_, zero));
    }

private:
    Value* place_of(Value* point) const {
        return b.CreatePtrAdd(base_, b.CreateMul(point, stride_));
    }
    Value* target(Value* k) const {
        return scalar_.at(out_, k, 0, std::int64_t(size_of(to_)));
    }

    /// Copies from `place`, or from where the run has them.
    void copy(const Lanes& some, Value* k, Value* place = nullptr) const {
        if (!place)
            place = place_of(b.CreateAdd(first_, k));
        b.CreateAlignedStore(load_elements(some, from_, to_, place), target(k),
                             llvm::Align(size_of(to_)));
    }

    /// Copies what is left of a run after `whole` elements, under a mask, and
    /// zeros after it. Returns where the elements begin that are left then: at
    /// 0 where there is no run.
    Value* copy_rest(Value* whole, Value* count) const {
        Value* is_run = b.CreateAnd(
            b.CreateICmpEQ(stride_,
                           wide_.constant(std::int64_t(size_of(from_)))),
            b.CreateICmpSLT(whole, count));
        wide_.when(is_run, [&] {
            Value* mask = wide_.first_lanes(b.CreateSub(count, whole));
            Value* place = place_of(b.CreateAdd(first_, whole));
            store_padded(load_elements(wide_, from_, to_, place, mask), whole);
        });
        write_zeros_from(b.CreateSelect(
            is_run, b.CreateAdd(whole, wide_.constant(run_lanes)), count_));
        return b.CreateSelect(is_run, count, whole);
    }

    /// Stores a vector at element k, up to the last of all. What is read soon
    /// is not handed on by a store under a mask, which is therefore for the
    /// rest.
    void store_padded(Value* vector, Value* k) const {
        Value* left = b.CreateSub(padded_, k);
        Value* fits = b.CreateICmpSGE(left, wide_.constant(run_lanes));
        wide_.when(fits, [&] {
            b.CreateAlignedStore(vector, target(k), llvm::Align(size_of(to_)));
        });
        wide_.when(b.CreateNot(fits), [&] {
            b.CreateMaskedStore(vector, target(k), llvm::Align(1),
                                wide_.first_lanes(left));
        });
    }

    void copy_listed(Value* count) const {
        scalar_.loop(b.getInt64(0), count, b.getInt64(1), [&](Value* k) {
            Value* place = scalar_.at(list_, b.CreateAdd(first_, k), 0, 8);
            copy(scalar_, k, place_of(b.CreateLoad(b.getInt64Ty(), place)));
        });
    }

    Value* zeros(const Lanes& some) const {
        return llvm::Constant::getNullValue(as_lanes(some, some.stored(to_)));
    }

    void write_zeros_from(Value* first) const {
        wide_.loop(first, padded_, wide_.constant(run_lanes),
                   [&](Value* k) { store_padded(zeros(wide_), k); });
    }

    /// Writes zeros from the last whole vector on, before elements are copied
    /// there.
    void write_zeros() const {
        const std::int64_t width = lanes_.width();
        Value* begin = b.CreateAnd(count_, b.getInt64(-width));
        Value* whole =
            b.CreateAnd(b.CreateSub(padded_, begin), b.getInt64(-width));
        Value* end = b.CreateAdd(begin, whole);
        const auto write = [&](const Lanes& some, Value* k) {
            b.CreateAlignedStore(zeros(some), target(k),
                                 llvm::Align(size_of(to_)));
        };
        lanes_.loop(begin, end, b.getInt64(width),
                    [&](Value* k) { write(lanes_, k); });
        scalar_.loop(
            b.CreateBinaryIntrinsic(llvm::Intrinsic::smax, end, count_),
            padded_, b.getInt64(1), [&](Value* k) { write(scalar_, k); });
    }

    llvm::IRBuilder<>& b;
    const Lanes scalar_, wide_, lanes_;
    const bool has_masks_;
    const DType from_, to_;
    Value *base_, *stride_, *list_, *first_, *count_, *out_, *padded_;
};

} // namespace

llvm::Function* ModuleWriter::strided_load(DType from, DType to) {
    const std::string name = pair_name("load", from, to);
    return shared(name, "pnpnnpn",
                  [from, to](auto& writer, auto& b, auto* function) {
                      RunLoad(writer, b, from, to, function).write();
                  });
}

namespace {

/// So many bytes lie between what is read and what is asked for. One point
/// with 10⁷ columns, 160 MB, takes 8.2 ms on one core of a Zen 4; without
/// this, or without what Pack::fill asks for, 12 ms; without both 17.
constexpr std::int64_t bytes_ahead = 16 << 10;

/// Splits whole vectors of points, or the first `points` of one under a mask.
void split_components(const Lanes& lanes, DType dtype, int components,
                      Value* place, Value* points, Value* out, Value* run) {
    auto& b = lanes.b;
    const int width = lanes.width();
    llvm::SmallVector<Value*, 8> parts;
    for (int c = 0; c < components; ++c) {
        Value* mask = points
                          ? lanes.first_lanes(b.CreateSub(
                                b.CreateMul(points, lanes.constant(components)),
                                lanes.constant(c * width)))
                          : nullptr;
        Value* part = lanes.byte_offset(
            place, std::int64_t(c) * width * std::int64_t(size_of(dtype)));
        if (!points)
            lanes.prefetch(lanes.byte_offset(part, bytes_ahead));
        parts.push_back(load_elements(lanes, dtype, dtype, part, mask));
    }
    Value* all = llvm::concatenateVectors(b, parts);
    for (int c = 0; c < components; ++c) {
        llvm::SmallVector<int, 16> component;
        for (int lane = 0; lane < width; ++lane)
            component.push_back(lane * components + c);
        lanes.store(b.CreateShuffleVector(all, component),
                    b.CreatePtrAdd(out, b.CreateMul(run, lanes.constant(c))));
    }
}

void write_interleaved_load(ModuleWriter& writer, llvm::IRBuilder<>& b,
                            llvm::Function* function, DType dtype,
                            int components) {
    const Lanes lanes = writer.lanes(b, writer.plan.lanes);
    Value* count = function->getArg(1);
    const auto size = std::int64_t(size_of(dtype));
    const auto load = [&](Value* k, Value* points) {
        split_components(lanes, dtype, components,
                         lanes.at(function->getArg(0), k, 0, size * components),
                         points, lanes.at(function->getArg(2), k, 0, size),
                         function->getArg(3));
    };
    Value* width = lanes.constant(lanes.width());
    Value* whole = b.CreateAnd(count, lanes.constant(-lanes.width()));
    lanes.loop(lanes.constant(0), whole, width,
               [&](Value* k) { load(k, nullptr); });
    if (row_of(writer.plan.isa).masks)
        lanes.when(b.CreateICmpSLT(whole, count),
                   [&] { load(whole, b.CreateSub(count, whole)); });
}

} // namespace

llvm::Function* ModuleWriter::interleaved_load(DType dtype, int components) {
    const std::string name = "split_" + std::string(spelling_of(dtype)) + "_" +
                             std::to_string(components);
    return shared(name, "pnpn",
                  [dtype, components](auto& writer, auto& b, auto* function) {
                      write_interleaved_load(writer, b, function, dtype,
                                             components);
                  });
}

namespace {

void write_count(ModuleWriter& writer, llvm::IRBuilder<>& b,
                 llvm::Function* function) {
    const Lanes scalar = writer.lanes(b, 1);
    Value* list = function->getArg(0);
    Value* first = function->getArg(1);
    Value* count = function->getArg(2);
    Value* listed = b.CreateIsNotNull(list);
    Value* zero = b.getInt64(0);
    const auto write = [&](Value* k, Value* point) {
        b.CreateStore(point, scalar.at(function->getArg(3), k, 0, 8));
    };
    scalar.loop(zero, b.CreateSelect(listed, zero, count), b.getInt64(1),
                [&](Value* k) { write(k, b.CreateAdd(first, k)); });
    scalar.loop(zero, b.CreateSelect(listed, count, zero), b.getInt64(1),
                [&](Value* k) {
                    Value* place = scalar.at(list, b.CreateAdd(first, k), 0, 8);
                    write(k, b.CreateLoad(b.getInt64Ty(), place));
                });
}

void write_strided_store(ModuleWriter& writer, llvm::IRBuilder<>& b,
                         llvm::Function* function, DType dtype) {
    const Lanes scalar = writer.lanes(b, 1);
    Value* count = function->getArg(1);
    Value* stride = function->getArg(3);
    Value* accumulate = b.CreateIsNotNull(function->getArg(4));
    Value* zero = b.getInt64(0);
    const auto size = std::int64_t(size_of(dtype));
    const auto write = [&](int elements, bool add) {
        return [&, elements, add](Value* k) {
            Value* place =
                b.CreatePtrAdd(function->getArg(2), b.CreateMul(k, stride));
            llvm::Type* type = scalar.stored(dtype);
            if (elements > 1)
                type = llvm::FixedVectorType::get(type, unsigned(elements));
            Value* value = b.CreateAlignedLoad(
                type, scalar.at(function->getArg(0), k, 0, size),
                llvm::Align(std::uint64_t(size)));
            if (add) {
                Value* old = b.CreateAlignedLoad(type, place, llvm::Align(1));
                value = kind_of(dtype) == DTypeKind::Float
                            ? b.CreateFAdd(old, value)
                        : dtype == DType::Bool
                            ? b.CreateOr(old, value)
                            : b.CreateBinaryIntrinsic(llvm::Intrinsic::sadd_sat,
                                                      old, value);
            }
            b.CreateAlignedStore(value, place, llvm::Align(1));
        };
    };
    Value* plain = b.CreateSelect(accumulate, zero, count);
    Value* vectors = whole_runs(scalar, plain, stride, dtype);
    scalar.loop(zero, vectors, b.getInt64(run_lanes), write(run_lanes, false));
    vectors = finish_run(scalar, vectors, plain, write(run_lanes, false));
    scalar.loop(vectors, plain, b.getInt64(1), write(1, false));
    scalar.loop(zero, b.CreateSelect(accumulate, count, zero), b.getInt64(1),
                write(1, true));
}

} // namespace

llvm::Function* ModuleWriter::count_points() {
    return shared("count_points", "pnnp", write_count);
}

llvm::Function* ModuleWriter::strided_store(DType dtype) {
    return shared(pair_name("store", dtype, dtype), "pnpnn",
                  [dtype](auto& writer, auto& b, auto* function) {
                      write_strided_store(writer, b, function, dtype);
                  });
}

} // namespace tilefold::llvm_backend
