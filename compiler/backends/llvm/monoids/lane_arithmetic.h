// compiler/backends/llvm/monoids/lane_arithmetic.h - the algebra of reductions
// as code: values are lanes, places are variables of the emitter or what loads
// and stores.
#pragma once

#include "compiler/backends/llvm/lanes/math.h"
#include "compiler/monoids/algebra.h"

#include <llvm/IR/PatternMatch.h>

#include <limits>
#include <string_view>

namespace tilefold::llvm_backend {

class LaneArithmetic {
public:
    using Value = llvm::Value;

    explicit LaneArithmetic(Lanes& lanes) : lanes_(lanes), b_(lanes.b) {}

    Value* get(Value* x) const { return x; }
    Value* get(const auto& place) const { return place.load(); }
    void set(Value*& place, Value* x) const { place = x; }
    void set(const auto& place, Value* x) const { place.store(x); }
    void add(auto& place, Value* x) const { set(place, sum(get(place), x)); }
    void multiply(auto& place, Value* x) const {
        set(place, b_.CreateFMul(get(place), x));
    }
    void set_where(Value* holds, auto&& place, Value* x) const {
        set(place, lanes_.select(holds, x, get(place)));
    }
    void set_where(Value* holds, auto&& place, Value* x, auto&&... more) const {
        set_where(holds, place, x);
        set_where(holds, more...);
    }

    Value* extreme(bool largest, Value* x, Value* y) const {
        using namespace llvm::Intrinsic;
        const auto which = is_whole(x) ? (largest ? smax : smin)
                                       : (largest ? maximum : minimum);
        return b_.CreateBinaryIntrinsic(which, x, y);
    }
    Value* larger(Value* x, Value* y) const { return lanes_.larger(x, y); }
    Value* beats(bool largest, Value* x, Value* best) const {
        Value* better =
            largest ? b_.CreateFCmpUGT(x, best) : b_.CreateFCmpULT(x, best);
        return b_.CreateAnd(better, b_.CreateFCmpORD(best, best));
    }
    Value* same(Value* x, Value* y) const {
        Value* nan =
            b_.CreateAnd(b_.CreateFCmpUNO(x, x), b_.CreateFCmpUNO(y, y));
        return b_.CreateOr(b_.CreateFCmpOEQ(x, y), nan);
    }
    Value* sorts_before(Value* x, Value* y) const {
        Value* y_is_nan = b_.CreateFCmpUNO(y, y);
        Value* below_nan =
            b_.CreateAnd(y_is_nan, b_.CreateNot(b_.CreateFCmpUNO(x, x)));
        return b_.CreateOr(b_.CreateFCmpOLT(x, y), below_nan);
    }
    /// The comparison is unsigned, so that -1 is above every index.
    Value* comes_before(Value* i, Value* j) const {
        return b_.CreateICmpULT(i, j);
    }
    Value* is_nowhere(Value* index) const {
        return b_.CreateICmpSLT(index, like(index, 0));
    }
    Value* are_some(Value* terms) const {
        return lanes_.splat(b_.CreateICmpSGT(terms, lanes_.constant(0)));
    }
    Value* both(Value* p, Value* q) const { return b_.CreateAnd(p, q); }
    Value* either(Value* p, Value* q) const { return b_.CreateOr(p, q); }
    Value* choice(Value* p, Value* x, Value* y) const {
        return lanes_.select(p, x, y);
    }
    Value* like(Value* x, double number) const {
        return lanes_.number(lanes_.dtype_of(x), number);
    }
    Value* let(std::string_view, Value* x) const { return x; }
    Value* average(Value* sum, Value* terms) const {
        Value* count = b_.CreateSIToFP(terms, b_.getDoubleTy());
        return b_.CreateFDiv(sum, lanes_.splat(count));
    }
    Value* converted(DType dtype, Value* x) const {
        if (dtype != DType::I64 || is_whole(x))
            return lanes_.as(dtype, x);
        return b_.CreateIntrinsic(llvm::Intrinsic::fptosi_sat,
                                  {lanes_.type(dtype), x->getType()}, {x});
    }

    /// Returns the maximum, or 0 where it is infinite.
    Value* level(Value* maximum) const {
        constexpr double infinity = std::numeric_limits<double>::infinity();
        Value* size = b_.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, maximum);
        Value* finite = b_.CreateFCmpOLT(size, like(maximum, infinity));
        return lanes_.select(finite, maximum, like(maximum, 0));
    }
    /// exponent() returns (x - level) log2 e, and power() exp(x - level).
    Value* exponent(Value* x, Value* level) const {
        constexpr double log2_e = 0x1.71547652b82fep+0;
        return b_.CreateFMul(b_.CreateFSub(x, level), like(x, log2_e));
    }
    Value* power(Value* x, Value* level) const {
        return emit_exp2(lanes_, exponent(x, level));
    }
    Value* weight(Value* x, Value* maximum) const {
        return power(x, level(maximum));
    }

private:
    /// Where instructions have masks, a term that is 0 where a condition does
    /// not hold is added where it holds: that choice is free, and a product
    /// goes into the sum by one instruction.
    Value* sum(Value* so_far, Value* x) const {
        using namespace llvm::PatternMatch;
        Value *holds = nullptr, *term = nullptr;
        if (row_of(lanes_.isa()).masks &&
            match(x, m_Select(m_Value(holds), m_Value(term), m_AnyZeroFP())))
            return lanes_.select(holds, b_.CreateFAdd(so_far, term), so_far);
        return is_whole(x) ? b_.CreateAdd(so_far, x) : b_.CreateFAdd(so_far, x);
    }
    static bool is_whole(Value* x) {
        return x->getType()->isIntOrIntVectorTy();
    }

    Lanes& lanes_;
    llvm::IRBuilder<>& b_;
};

} // namespace tilefold::llvm_backend
