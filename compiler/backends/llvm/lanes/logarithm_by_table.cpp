// compiler/backends/llvm/lanes/logarithm_by_table.cpp - log, log2, log10 and
// log1p of F32 and F64 on AVX-512.
//
// x = 2^e m with m from 3/4 to 3/2, of which four bits choose one of 16 numbers
// T next to 1/m. With r = m T - 1, which is exact,
//
//   log x = (e log 2 + log(1/T)) + log(1 + r),
//
// where the first sum is exact, too: log 2 and log(1/T) have few bits, and what
// they lack goes with the last term. T is 1 on both sides of m = 1, where e and
// log(1/T) are 0. Of log(1 + x), r is x S + (S - 1) with S = T 2^-e, by which
// nothing of x is lost.
//
// The exponents of 0 and infinity are infinite, a negative number has no
// mantissa, and so all special numbers are right.

#include "compiler/backends/llvm/lanes/logarithm_by_table.h"

#include "compiler/backends/llvm/lanes/avx512.h"
#include "compiler/backends/llvm/lanes/logarithm_tables.h"
#include "compiler/backends/llvm/lanes/piece_choice.h"
#include "compiler/backends/llvm/lanes/polynomial.h"

namespace tilefold::llvm_backend {
namespace {

using llvm::Value;

const LogarithmTable& table_of(ir::Op logarithm, DType dtype) {
    const bool single = dtype == DType::F32;
    switch (logarithm) {
    case ir::Op::Log2:
        return single ? table_2_f32 : table_2_f64;
    case ir::Op::Log10:
        return single ? table_10_f32 : table_10_f64;
    default:
        return single ? table_e_f32 : table_e_f64;
    }
}

class LogarithmByTable {
public:
    LogarithmByTable(Lanes& lanes, DType dtype, const LogarithmTable& table)
        : lanes_(lanes), dtype_(dtype), table_(table) {}

    NumberPair parts(Value* x) {
        const Split of = split(x);
        return parts(of, of_mantissa(of));
    }
    Value* logarithm(Value* x) {
        const NumberPair of = parts(x);
        return b().CreateFAdd(of.high, of.low);
    }

    Value* logarithm_of_one_and(Value* x, ir::Sign sign) {
        Value* u = b().CreateFAdd(x, number(1));
        const Split of = split(u);
        Value* scale = b().CreateBitCast(
            b().CreateSub(b().CreateAdd(bits(of.inverse), bits(of.m)), bits(u)),
            x->getType());
        Value* r = lanes_.fma(scale, x, b().CreateFSub(scale, number(1)));
        if (sign == ir::Sign::Unit)
            return sum(of, r);
        // Where 2^-e may be no ordinary number, 1 is nothing beside x.
        Value* is_large = b().CreateFCmpOGT(x, number(0x1p60));
        Value* result = sum(of, lanes_.select(is_large, of_mantissa(of), r));
        if (ir::is_nonnegative(sign))
            return result;
        // -0 is its own logarithm; other results have the sign of x.
        Value* negative = b().CreateAnd(bits(x), bits(number(-0.0)));
        return b().CreateBitCast(b().CreateOr(bits(result), negative),
                                 x->getType());
    }

private:
    struct Split {
        Value *m, *e, *inverse, *logarithm;
        Value* low_logarithm; ///< or null
    };

    llvm::IRBuilder<>& b() { return lanes_.b; }
    Value* number(double value) { return lanes_.number(dtype_, value); }
    Value* bits(Value* x) {
        return b().CreateBitCast(
            x, lanes_.type(dtype_ == DType::F32 ? DType::I32 : DType::I64));
    }
    bool is_single() const { return dtype_ == DType::F32; }

    Split split(Value* x) {
        const int places = is_single() ? 23 - 4 : 52 - 4;
        Value* m = mantissa_of(lanes_, x);
        const PieceChoice choice(
            lanes_, b().CreateLShr(bits(m), std::uint64_t(places)));
        return {
            m, b().CreateFSub(exponent_of(lanes_, x), exponent_of(lanes_, m)),
            choice.of(table_.inverses), choice.of(table_.logarithms),
            table_.low_logarithms.empty() ? nullptr
                                          : choice.of(table_.low_logarithms)};
    }
    Value* of_mantissa(const Split& of) {
        return lanes_.fma(of.m, of.inverse, number(-1));
    }

    /// Returns the logarithm of 2^e (1 + r)/T.
    NumberPair parts(const Split& of, Value* r) {
        Value* low = of_rest(r, of.low_logarithm);
        if (table_.of_2_low != 0)
            low = lanes_.fma(of.e, number(table_.of_2_low), low);
        return {lanes_.fma(of.e, number(table_.of_2), of.logarithm), low};
    }
    Value* sum(const Split& of, Value* r) {
        const NumberPair both = parts(of, r);
        return b().CreateFAdd(both.high, both.low);
    }
    /// Returns log(1 + r) and what is small beside it.
    Value* of_rest(Value* r, Value* more) {
        if (table_.slope_low == 0) {
            Value* square = b().CreateFMul(r, r);
            return lanes_.fma(square, horner_of_pairs(lanes_, table_.rest, r),
                              r);
        }
        Value* rest = lanes_.fma(r, horner_of_pairs(lanes_, table_.rest, r),
                                 number(table_.slope_low));
        rest = more ? lanes_.fma(r, rest, more) : b().CreateFMul(r, rest);
        return lanes_.fma(r, number(table_.slope), rest);
    }

    Lanes& lanes_;
    DType dtype_;
    const LogarithmTable& table_;
};

} // namespace

Value* logarithm_by_table(Lanes& lanes, ir::Op op, Value* x) {
    const DType dtype = lanes.dtype_of(x);
    return LogarithmByTable(lanes, dtype, table_of(op, dtype)).logarithm(x);
}

NumberPair natural_logarithm_in_parts(Lanes& lanes, Value* x) {
    const DType dtype = lanes.dtype_of(x);
    return LogarithmByTable(lanes, dtype, table_of(ir::Op::Log, dtype))
        .parts(x);
}

Value* log1p_by_table(Lanes& lanes, Value* x, ir::Sign sign) {
    const DType dtype = lanes.dtype_of(x);
    return LogarithmByTable(lanes, dtype, table_of(ir::Op::Log, dtype))
        .logarithm_of_one_and(x, sign);
}

} // namespace tilefold::llvm_backend
