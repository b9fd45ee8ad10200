// compiler/backends/llvm/lanes/lanes.h - IRBuilder with lanes: the small
// vocabulary in which everything else is emitted.
#pragma once

#include "compiler/backends/cpu/plan.h"
#include "compiler/ir/types.h"

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>

#include <functional>
#include <vector>

namespace tilefold::llvm_backend {

/// Emits into one function. A lane value is a vector of `width` elements of
/// one of the IR's dtypes, or a scalar where width is 1. Every operation may
/// fuse a product into a sum; nothing else is relaxed.
class Lanes {
public:
    Lanes(llvm::IRBuilder<>& builder, int width, DType real, Isa isa)
        : b(builder), width_(width), real_(real), isa_(isa) {}

    llvm::IRBuilder<>& b;

    int width() const { return width_; }
    DType real() const { return real_; }
    Isa isa() const { return isa_; }
    llvm::LLVMContext& context() const { return b.getContext(); }

    /// The type of an element as it lies in a register: Bool is i1.
    llvm::Type* element(DType dtype) const;
    /// The type of an element as it lies in memory: Bool is i8.
    llvm::Type* stored(DType dtype) const;
    llvm::Type* type(DType dtype) const; ///< lanes of element(dtype)
    DType dtype_of(llvm::Value* value) const;

    /// Returns a constant; in an integer dtype it is the nearest one, where
    /// `value` is too large.
    llvm::Value* number(DType dtype, double value) const;
    llvm::Value* splat(llvm::Value* scalar) const;
    /// Returns the lanes (or the scalar) of `value` in another dtype.
    llvm::Value* as(DType dtype, llvm::Value* value) const;
    /// Returns first, first + 1, … as I64 lanes.
    llvm::Value* count_from(llvm::Value* first) const;
    /// Returns truth lanes of which the first `count` hold; `count`, an i64,
    /// is more than -2^31.
    llvm::Value* first_lanes(llvm::Value* count) const;

    /// Loads lanes at `pointer`, which is aligned to the vector.
    llvm::Value* load(DType dtype, llvm::Value* pointer) const;
    void store(llvm::Value* value, llvm::Value* pointer) const;
    /// Asks for the line at `pointer`, which need not exist, from memory to the
    /// second cache.
    void prefetch(llvm::Value* pointer) const;
    /// Loads one element at `pointer` into every lane.
    llvm::Value* broadcast(DType dtype, llvm::Value* pointer) const;

    llvm::Value* constant(std::int64_t value) const { // i64
        return b.getInt64(std::uint64_t(value));
    }
    llvm::Value* byte_offset(llvm::Value* pointer, llvm::Value* bytes) const {
        return b.CreatePtrAdd(pointer, bytes);
    }
    llvm::Value* byte_offset(llvm::Value* pointer, std::int64_t bytes) const {
        return b.CreatePtrAdd(pointer, constant(bytes));
    }
    /// Returns pointer + (index + offset) * size.
    llvm::Value* at(llvm::Value* pointer, llvm::Value* index,
                    std::int64_t offset, std::int64_t size) const;

    /// Returns c ? a : b, lane by lane.
    llvm::Value* select(llvm::Value* c, llvm::Value* a, llvm::Value* b_) const {
        return b.CreateSelect(c, a, b_);
    }
    /// Returns whether truth holds in every lane.
    llvm::Value* all(llvm::Value* truth) const {
        return width_ == 1 ? truth : b.CreateAndReduce(truth);
    }
    /// Returns whether truth holds in some lane.
    llvm::Value* any(llvm::Value* truth) const {
        return width_ == 1 ? truth : b.CreateOrReduce(truth);
    }
    llvm::Value* fma(llvm::Value* a, llvm::Value* b_, llvm::Value* c) const;
    llvm::Value* absolute(llvm::Value* x) const {
        return is_nonnegative(x)
                   ? x
                   : b.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, x);
    }
    /// Returns `size`, which is not below 0, with the sign of x.
    llvm::Value* with_sign_of(llvm::Value* x, llvm::Value* size) const {
        return is_nonnegative(x) ? size
                                 : b.CreateBinaryIntrinsic(
                                       llvm::Intrinsic::copysign, size, x);
    }
    /// From here on the value is known not to be below 0: it has no sign.
    void assume_nonnegative(llvm::Value* x) { nonnegative_.push_back(x); }
    void forget_assumptions() { nonnegative_.clear(); }
    /// Returns the larger or smaller of both, and `x` where either is NaN.
    llvm::Value* larger(llvm::Value* bound, llvm::Value* x) const;
    llvm::Value* smaller(llvm::Value* bound, llvm::Value* x) const;

    /// Rotates the lanes: lane k becomes what lane k + `by` was, counted from
    /// the first again after the last.
    llvm::Value* rotated(llvm::Value* value, int by) const;
    /// Transposes a square of as many rows as there are lanes.
    void transpose(std::vector<llvm::Value*>& rows) const;

    /// Emits for (index = from; index < to; index += step) body(index) and
    /// returns the branch that closes the loop.
    llvm::Instruction*
    loop(llvm::Value* from, llvm::Value* to, llvm::Value* step,
         const std::function<void(llvm::Value*)>& body) const;
    /// Returns at most 64 truth lanes as an i64, the first as its lowest bit.
    llvm::Value* bits(llvm::Value* truth) const;
    /// Emits body(number) for each bit that is set, from the lowest on.
    void each_bit(llvm::Value* bits,
                  const std::function<void(llvm::Value*)>& body) const;
    /// Emits `then` where the condition holds, and returns the branch around
    /// it.
    llvm::Instruction* when(llvm::Value* condition,
                            const std::function<void()>& then) const;
    /// Emits `then` for a condition that seldom holds, so that it may cost the
    /// way around it nothing.
    void when_rare(llvm::Value* condition,
                   const std::function<void()>& then) const;
    /// Returns near(x) in the lanes of `is_near`, and elsewhere() in others,
    /// which is asked for only where there is one; seldom there is. Where rare
    /// ways are left out, these lanes are near(NaN).
    llvm::Value* mostly(llvm::Value* is_near, llvm::Value* x,
                        const std::function<llvm::Value*(llvm::Value* x)>& near,
                        const std::function<llvm::Value*()>& elsewhere) const;
    void leave_rare_out(bool yes) { leaves_rare_out_ = yes; }
    /// Returns a stack slot in the entry block, to be promoted to a register.
    llvm::Value* variable(llvm::Type* type) const;

private:
    bool is_nonnegative(const llvm::Value* x) const {
        return llvm::is_contained(nonnegative_, x);
    }

    int width_;
    DType real_;
    Isa isa_;
    std::vector<const llvm::Value*> nonnegative_;
    bool leaves_rare_out_ = false;
};

} // namespace tilefold::llvm_backend
