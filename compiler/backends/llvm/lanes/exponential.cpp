// compiler/backends/llvm/lanes/exponential.cpp - 2^x and e^x, the hot
// functions.
//
// AVX-512: a 16-entry table in registers and a short polynomial,
//   2^u = 2^floor(u) * T[k] * 2^f,  k = floor(16 u) mod 16,  0 <= f < 1/16.
// The sum u + magic, rounded down, leaves floor(16 u) in its low bits, whose
// lowest four index the permutation; vreduce gives f, vscalef the power of
// floor(u). Both are right for infinities and NaN by themselves, and vscalef
// for denormal results, so that no clamp is needed: 9 multiplications or fmas
// and 8 additions a Gaussian pair in three dimensions, against 11 and 6 with
// a polynomial of degree 6 alone.
//
// AVX2, F32: the same with eighths, 2^u = T[n mod 8] * 2^floor(n/8) * 2^f, n
// the whole number next to 8 u, |f| <= 1/16. The sum u + magic has n in its low
// bits, whose lowest three index the permutation; shifted, they add floor(n/8)
// to the exponent of the entry. u is at least -127, where that sum is 0 (those
// above it, to -126, are subnormal, which the runtime flushes), and n at most
// 1023: beyond, f and 2^f grow until the product is infinite. Where u is known
// to be at most 0, nothing is spent on that (Zen 3, D = 3: 2.1 -> 2.7 G pairs/s
// a core; before, a polynomial of degree 7).
//
// Anything else: 2^u = 2^n * 2^f with a polynomial for 2^f and a power put
// together from exponent bits, which n + 2^52 + 1023 has in its lowest ones.
// One multiplication scales: n, which is u rounded to the nearest, is -1023
// where results are 0, and at most 1023, so that f = u - n is exact and at most
// 1 but for u above 1024; beyond, as with eighths. Where u is known to be at
// most 0, |f| <= 1/2. Terms are added up in pairs: a processor looks ahead over
// few pairs of points, so that what counts is how long one takes.

#include "compiler/backends/llvm/lanes/binary_exponent.h"
#include "compiler/backends/llvm/lanes/math.h"
#include "compiler/backends/llvm/lanes/piece_choice.h"
#include "compiler/backends/llvm/lanes/polynomial.h"

#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <llvm/IR/IntrinsicsX86.h>
#include <numbers>

namespace tilefold::llvm_backend {
namespace {

using llvm::Value;

/// The two parts of ln 2: the first has 8 (F32) or 32 (F64) spare low bits, so
/// that n * high is exact.
constexpr double ln2_high_f32 = 0x1.62e4p-1;
constexpr double ln2_low_f32 = 0x1.7f7d1cf79abcap-20;
constexpr double ln2_high_f64 = 0x1.62e42fee00000p-1;
constexpr double ln2_low_f64 = 0x1.a39ef35793c76p-33;

/// (2^f - 1)/f on [0, 1/16), minimax in the relative error of 2^f: 1.3e-9 (F32,
/// 1.03 ulp in all over every argument) and 1e-17 (F64, 1.06 ulp).
constexpr std::array<double, 3> table_f32{0x1.62e43ep-1, 0x1.ebe5b8p-3,
                                          0x1.d03d64p-5};
constexpr std::array<double, 6> table_f64{
    0x1.62e42fefa39aap-1, 0x1.ebfbdff84120ep-3,  0x1.c6b08d4e9409dp-5,
    0x1.3b2ad0194a3c0p-7, 0x1.5d7518ca342b3p-10, 0x1.4a0386787fb8ap-13};
/// (2^f - 1)/f on [-1/2, 1]: 1.1e-9; of F64, rest_of_power_of_two.
constexpr std::array<double, 7> whole_f32{
    0x1.62e43p-1,   0x1.ebfbdep-3,  0x1.c6b0b6p-5, 0x1.3b2c8ap-7,
    0x1.5d4aa8p-10, 0x1.424eaap-13, 0x1.28499p-16};
/// (2^f - 1)/f on [-1/16, 1/8]: 8e-10.
constexpr std::array<double, 4> eighths_f32{0x1.62e43p-1, 0x1.ebfb7ap-3,
                                            0x1.c6b464p-5, 0x1.41ac72p-7};
/// (2^f - 1)/f on [-1/2, 1/2]: 5e-9 (F32) and 8.5e-18 (F64).
constexpr std::array<double, 6> nearest_f32{
    0x1.62e4302fc626ep-1, 0x1.ebfbe00e63baep-3,  0x1.c6af6cdbbdcc7p-5,
    0x1.3b2a53045179ap-7, 0x1.5f0890162a90ap-10, 0x1.4413896e1ad27p-13};
constexpr std::array<double, 11> nearest_f64{
    0x1.62e42fefa39efp-1,  0x1.ebfbdff82c598p-3,  0x1.c6b08d704a0c2p-5,
    0x1.3b2ab6fba1ddap-7,  0x1.5d87fe78a5276p-10, 0x1.430913096fd9fp-13,
    0x1.ffcbfc670dcd4p-17, 0x1.62bfd47773353p-20, 0x1.b524fae627834p-24,
    0x1.e6063f7217bc6p-28, 0x1.e9d3fe3952179p-32};

/// 2^u = 2^floor(u) entry (1 + f q)
struct TableParts {
    Value *entry, *f, *q;
};

/// The AVX-512 instructions of one dtype, for one full vector.
struct Avx512 {
    Lanes& lanes;
    bool single;

    Value* call(llvm::Intrinsic::ID f32, llvm::Intrinsic::ID f64,
                std::initializer_list<Value*> arguments) const {
        return lanes.b.CreateIntrinsic(single ? f32 : f64, {},
                                       std::vector<Value*>(arguments));
    }
    Value* all() const {
        return single ? static_cast<Value*>(lanes.b.getInt16(0xffff))
                      : lanes.b.getInt8(0xff);
    }
    /// Returns a + b, rounded down.
    Value* add_down(Value* a, Value* b) const {
        return call(llvm::Intrinsic::x86_avx512_add_ps_512,
                    llvm::Intrinsic::x86_avx512_add_pd_512,
                    {a, b, lanes.b.getInt32(9)});
    }
    /// Returns x - floor(16 x)/16; 0 for infinities.
    Value* reduce(Value* x) const {
        return call(llvm::Intrinsic::x86_avx512_mask_reduce_ps_512,
                    llvm::Intrinsic::x86_avx512_mask_reduce_pd_512,
                    {x, lanes.b.getInt32(0x49),
                     llvm::Constant::getNullValue(x->getType()), all(),
                     lanes.b.getInt32(4)});
    }
    /// Returns x * 2^floor(e).
    Value* scale(Value* x, Value* e) const {
        return call(llvm::Intrinsic::x86_avx512_mask_scalef_ps_512,
                    llvm::Intrinsic::x86_avx512_mask_scalef_pd_512,
                    {x, e, llvm::Constant::getNullValue(x->getType()), all(),
                     lanes.b.getInt32(4)});
    }
    /// Returns 2^(k/16), where k is the low four bits of each lane of `bits`.
    Value* look_up(Value* bits) const {
        std::array<double, 16> table;
        for (std::size_t k = 0; k < table.size(); ++k)
            table[k] = std::exp2(double(k) / 16);
        return PieceChoice(lanes, bits).of(table);
    }
    Value* magic() const {
        return lanes.number(single ? DType::F32 : DType::F64,
                            single ? 0x1.8p19 : 0x1.8p48);
    }
    Value* bits(Value* x) const {
        llvm::Type* integer =
            single ? lanes.b.getInt32Ty() : lanes.b.getInt64Ty();
        return lanes.b.CreateBitCast(
            x, llvm::FixedVectorType::get(integer, single ? 16u : 8u));
    }
};

TableParts parts_by_table(Lanes& lanes, const Avx512& cpu, Value* u) {
    Value* entry = cpu.look_up(cpu.bits(cpu.add_down(u, cpu.magic())));
    Value* f = cpu.reduce(u);
    return {entry, f,
            cpu.single ? horner(lanes, table_f32, f)
                       : horner(lanes, table_f64, f)};
}

Value* exp2_by_table(Lanes& lanes, Value* u, ir::Sign) {
    const Avx512 cpu{lanes, lanes.dtype_of(u) == DType::F32};
    const auto [entry, f, q] = parts_by_table(lanes, cpu, u);
    Value* e = lanes.fma(lanes.b.CreateFMul(entry, f), q, entry);
    return cpu.scale(e, u);
}

/// Computes 2^(n/8) of F32 by AVX2's permutation of a register. Eighths are
/// added to `magic`, which leaves their number in the low bits.
struct Eighths {
    Lanes& lanes;
    static constexpr double magic = 0x1.8p20;
    static constexpr double least = -127, most = 127.875;

    Value* number(double value) const {
        return lanes.number(DType::F32, value);
    }
    /// Returns eighths that are at most `most`, for which `sign` may vouch.
    Value* bounded(Value* eighths, ir::Sign sign) const {
        return sign == ir::Sign::NonPositive
                   ? eighths
                   : lanes.smaller(number(magic + most), eighths);
    }
    Value* subtract_magic(Value* eighths) const {
        return lanes.b.CreateFSub(eighths, number(magic));
    }
    /// Entry k has the bits of 2^(k/8) less those that k adds when shifted.
    Value* power(Value* eighths) const {
        auto& b = lanes.b;
        std::array<std::uint32_t, 8> table;
        for (std::uint32_t k = 0; k < table.size(); ++k)
            table[k] = std::bit_cast<std::uint32_t>(float(std::exp2(k / 8.0))) -
                       (k << 20);
        Value* bits = b.CreateBitCast(
            eighths, llvm::FixedVectorType::get(b.getInt32Ty(), 8));
        Value* entry = b.CreateIntrinsic(
            llvm::Intrinsic::x86_avx2_permd, {},
            {llvm::ConstantDataVector::get(lanes.context(), table), bits});
        return b.CreateBitCast(b.CreateAdd(entry, b.CreateShl(bits, 20)),
                               eighths->getType());
    }
    /// Returns 2^(n/8) (1 + r q(r)), without a product that could underflow
    /// before it is added.
    Value* times_power(Value* eighths, std::span<const double> q,
                       Value* r) const {
        Value* scale = power(eighths);
        Value* rest = lanes.b.CreateFMul(r, horner(lanes, q, r));
        return lanes.fma(scale, rest, scale);
    }
};

Value* exp2_by_eighths(Lanes& lanes, Value* u, ir::Sign sign) {
    const Eighths of{lanes};
    u = lanes.larger(of.number(of.least), u);
    Value* eighths =
        of.bounded(lanes.b.CreateFAdd(u, of.number(of.magic)), sign);
    Value* f = lanes.b.CreateFSub(u, of.subtract_magic(eighths));
    return of.times_power(eighths, eighths_f32, f);
}

/// How far the exponent's fraction goes: where its whole part is not held back
/// below an overflow, no further than a half.
struct Fraction {
    DType dtype;
    ir::Sign sign;

    bool is_nearest() const { return sign == ir::Sign::NonPositive; }
    Value* bounded(Lanes& lanes, Value* n) const {
        const double most = dtype == DType::F32 ? 127 : 1023;
        return is_nearest() ? n : lanes.smaller(lanes.number(dtype, most), n);
    }
    std::span<const double> polynomial() const {
        if (dtype == DType::F32)
            return is_nearest() ? std::span<const double>(nearest_f32)
                                : whole_f32;
        return is_nearest() ? std::span<const double>(nearest_f64)
                            : rest_of_power_of_two;
    }
};

/// Returns 2^n (1 + r q(r)).
Value* times_power(Lanes& lanes, Value* n, std::span<const double> q,
                   Value* r) {
    Value* e = lanes.fma(r, horner_of_pairs(lanes, q, r),
                         lanes.number(lanes.dtype_of(r), 1));
    return lanes.b.CreateFMul(e, power_of_two(lanes, n));
}

double least_power(DType dtype) {
    return dtype == DType::F32 ? -127 : -1023;
}

Value* exp2_by_polynomial(Lanes& lanes, Value* u, ir::Sign sign) {
    const Fraction fraction{lanes.dtype_of(u), sign};
    u = lanes.larger(lanes.number(fraction.dtype, least_power(fraction.dtype)),
                     u);
    Value* n = fraction.bounded(
        lanes, lanes.b.CreateUnaryIntrinsic(llvm::Intrinsic::rint, u));
    return times_power(lanes, n, fraction.polynomial(),
                       lanes.b.CreateFSub(u, n));
}

/// Applies `f` to both halves of a vector twice as long as a register.
template <class Emit> Value* by_halves(Lanes& lanes, Value* x, Emit emit) {
    const int half = lanes.width() / 2;
    Lanes part(lanes.b, half, lanes.real(), lanes.isa());
    llvm::SmallVector<int, 64> low, high, whole;
    for (int k = 0; k < half; ++k) {
        low.push_back(k);
        high.push_back(half + k);
    }
    for (int k = 0; k < lanes.width(); ++k)
        whole.push_back(k);
    Value* a = emit(part, lanes.b.CreateShuffleVector(x, low));
    Value* b = emit(part, lanes.b.CreateShuffleVector(x, high));
    return lanes.b.CreateShuffleVector(a, b, whole);
}

/// How a function is computed: in full registers of AVX-512, in those of F32 of
/// AVX2, and as vectors come.
struct Ways {
    using Emit = Value* (*)(Lanes&, Value*, ir::Sign);
    Emit by_avx512, by_avx2, otherwise;
};

Value* in_registers(Lanes& lanes, Value* x, ir::Sign sign, const Ways& ways) {
    const IsaRow& isa = row_of(lanes.isa());
    const bool by_avx2 = isa.is_avx2() && lanes.dtype_of(x) == DType::F32;
    const int bytes = lanes.width() * int(size_of(lanes.dtype_of(x)));
    if ((!isa.masks && !by_avx2) || bytes < isa.vector_bytes)
        return ways.otherwise(lanes, x, sign);
    if (bytes > isa.vector_bytes)
        return by_halves(lanes, x, [&](Lanes& half, Value* part) {
            return in_registers(half, part, sign, ways);
        });
    return (by_avx2 ? ways.by_avx2 : ways.by_avx512)(lanes, x, sign);
}

} // namespace

Value* emit_exp2(Lanes& lanes, Value* x, ir::Sign sign) {
    return in_registers(lanes, x, sign,
                        {exp2_by_table, exp2_by_eighths, exp2_by_polynomial});
}

Value* emit_exp2_added(Lanes& lanes, Value* x, Value* sum) {
    const IsaRow& isa = row_of(lanes.isa());
    const DType dtype = lanes.dtype_of(x);
    if (!isa.masks ||
        lanes.width() * std::int64_t(size_of(dtype)) != isa.vector_bytes)
        return lanes.b.CreateFAdd(sum, emit_exp2(lanes, x));
    const Avx512 cpu{lanes, dtype == DType::F32};
    const auto [entry, f, q] = parts_by_table(lanes, cpu, x);
    Value* rest = lanes.fma(f, q, lanes.number(dtype, 1));
    return lanes.fma(cpu.scale(entry, x), rest, sum);
}

namespace {

/// Returns the coefficients of (e^r - 1)/r: those of (2^f - 1)/f, each over
/// its power of ln 2.
std::vector<double> natural(std::span<const double> of_two) {
    std::vector<double> coefficients{1};
    double power = std::numbers::log2e;
    for (double coefficient : of_two.subspan(1))
        coefficients.push_back(coefficient * (power *= std::numbers::log2e));
    return coefficients;
}

/// Returns x - n ln 2.
Value* remainder(Lanes& lanes, Value* x, Value* n) {
    const DType dtype = lanes.dtype_of(x);
    const bool single = dtype == DType::F32;
    const auto step = [&](Value* from, double part) {
        return lanes.fma(n, lanes.number(dtype, -part), from);
    };
    Value* r = step(x, single ? ln2_high_f32 : ln2_high_f64);
    return step(r, single ? ln2_low_f32 : ln2_low_f64);
}

/// Returns the whole number next to x log2 e.
Value* nearest_power(Lanes& lanes, Value* x) {
    Value* u = lanes.b.CreateFMul(
        x, lanes.number(lanes.dtype_of(x), std::numbers::log2e));
    return lanes.b.CreateUnaryIntrinsic(llvm::Intrinsic::rint, u);
}

Value* exp_by_scaling(Lanes& lanes, Value* x, ir::Sign) {
    const DType dtype = lanes.dtype_of(x);
    const bool single = dtype == DType::F32;
    const double most = single ? 110 : 760; // beyond, results are 0 or infinite
    x = lanes.larger(lanes.number(dtype, -most), x);
    x = lanes.smaller(lanes.number(dtype, most), x);
    Value* n = nearest_power(lanes, x);
    Value* r = remainder(lanes, x, n);
    Value* q = horner(
        lanes,
        natural(single ? std::span<const double>(nearest_f32) : nearest_f64),
        r);
    Value* e = lanes.fma(r, q, lanes.number(dtype, 1));
    return Avx512{lanes, single}.scale(e, n);
}

Value* exp_by_eighths(Lanes& lanes, Value* x, ir::Sign sign) {
    const Eighths of{lanes};
    x = lanes.larger(of.number(of.least / std::numbers::log2e), x);
    Value* eighths = of.bounded(
        lanes.fma(x, of.number(std::numbers::log2e), of.number(of.magic)),
        sign);
    Value* r = remainder(lanes, x, of.subtract_magic(eighths));
    return of.times_power(eighths, natural(eighths_f32), r);
}

Value* exp_by_polynomial(Lanes& lanes, Value* x, ir::Sign sign) {
    const Fraction fraction{lanes.dtype_of(x), sign};
    const double least = least_power(fraction.dtype) / std::numbers::log2e;
    x = lanes.larger(lanes.number(fraction.dtype, least), x);
    Value* n = fraction.bounded(lanes, nearest_power(lanes, x));
    return times_power(lanes, n, natural(fraction.polynomial()),
                       remainder(lanes, x, n));
}

} // namespace

/// Computes e^x = 2^n e^r with n = rint(x log2 e), r = x - n ln 2 in two
/// steps; it is scaled as 2^x is.
Value* emit_exp(Lanes& lanes, Value* x, ir::Sign sign) {
    return in_registers(lanes, x, sign,
                        {exp_by_scaling, exp_by_eighths, exp_by_polynomial});
}

Value* emit_int_pow(Lanes& lanes, Value* x, std::int64_t exponent) {
    const DType dtype = lanes.dtype_of(x);
    Value* power = nullptr;
    Value* square = x;
    auto left = std::uint64_t(exponent < 0 ? -exponent : exponent);
    for (; left; left >>= 1) {
        if (left & 1)
            power = power ? lanes.b.CreateFMul(power, square) : square;
        if (left > 1)
            square = lanes.b.CreateFMul(square, square);
    }
    if (!power)
        return lanes.number(dtype, 1);
    return exponent < 0 ? lanes.b.CreateFDiv(lanes.number(dtype, 1), power)
                        : power;
}

} // namespace tilefold::llvm_backend
