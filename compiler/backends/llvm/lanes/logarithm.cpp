// compiler/backends/llvm/lanes/logarithm.cpp - logarithms of F32, in place, and
// what is theirs of special numbers, of F64 too.
//
// x = 2^i (1 + m), with 1 + m from sqrt(1/2) to sqrt(2), by the exponent's
// bits. log_b(1 + m) = m/ln b + m² q(m), and i times log_b 2 is added last.
// Each base has its own polynomial, so that a product is rounded once, and its
// constants in two parts. Bases 2 and 10 have the rounding of m², too: where i
// is 0 the result may be small, and a sum of three roundings would be above
// one ulp. All operations are those of any instruction set.

#include "compiler/backends/llvm/lanes/avx512.h"
#include "compiler/backends/llvm/lanes/binary_exponent.h"
#include "compiler/backends/llvm/lanes/logarithm_by_quotient.h"
#include "compiler/backends/llvm/lanes/logarithm_by_table.h"
#include "compiler/backends/llvm/lanes/math.h"
#include "compiler/backends/llvm/lanes/polynomial.h"

#include <array>
#include <cmath>

namespace tilefold::llvm_backend {
namespace {

using llvm::Value;

/// The numbers of log_b: q, minimax in the relative error of the logarithm
/// (4.7e-9 to 5.9e-9), 1/ln b and log_b 2 in two parts.
struct Base {
    std::array<double, 9> q;
    double slope, slope_low;
    double of_2, of_2_low;
};

constexpr Base base_e = {{-0x1p-1, 0x1.555554p-2, -0x1.000226p-2, 0x1.99a01cp-3,
                          -0x1.54728ap-3, 0x1.22d92ep-3, -0x1.0d8242p-3,
                          0x1.055ec6p-3, -0x1.38c9dep-4},
                         1,
                         0,
                         0x1.62e43p-1,
                         0};
constexpr Base base_2 = {{-0x1.71547p-1, 0x1.ec7094p-2, -0x1.715afep-2,
                          0x1.277f44p-2, -0x1.eaa24ap-3, 0x1.a2c9dcp-3,
                          -0x1.87f7eep-3, 0x1.7f281ep-3, -0x1.c39b94p-4},
                         0x1.715476p+0,
                         0x1.4ae0cp-26,
                         1,
                         0};
constexpr Base base_10 = {{-0x1.bcb7aap-3, 0x1.287a7p-3, -0x1.bcbf52p-4,
                           0x1.63d068p-4, -0x1.276a48p-4, 0x1.f84c1ap-5,
                           -0x1.d7938ep-5, 0x1.cd07cap-5, -0x1.108156p-5},
                          0x1.bcb7b2p-2,
                          -0x1.5b235ep-27,
                          0x1.344136p-2,
                          -0x1.ec10cp-27};

const Base& base_of(ir::Op logarithm) {
    switch (logarithm) {
    case ir::Op::Log2:
        return base_2;
    case ir::Op::Log10:
        return base_10;
    default:
        return base_e;
    }
}

class Logarithm {
public:
    Logarithm(Lanes& lanes, const Base& base) : lanes_(lanes), base_(base) {}

    /// Emits the logarithm of a finite x above 0.
    Value* of_ordinary(Value* x) {
        const auto [m, i] = split_exponent(lanes_, x);
        Value* square = b().CreateFMul(m, m);
        Value* rest = nullptr;
        if (base_.slope_low != 0) {
            Value* lost = lanes_.fma(m, m, b().CreateFNeg(square));
            rest = b().CreateFMul(m, number(base_.slope_low));
            rest = lanes_.fma(lost, number(base_.q[0]), rest);
        }
        if (base_.of_2_low != 0)
            rest = lanes_.fma(i, number(base_.of_2_low), rest);
        Value* q = horner_of_pairs(lanes_, base_.q, m);
        Value* sum = lanes_.fma(q, square, rest ? rest : m);
        if (rest)
            sum = lanes_.fma(m, number(base_.slope), sum);
        return base_.of_2 == 1 ? b().CreateFAdd(i, sum)
                               : lanes_.fma(i, number(base_.of_2), sum);
    }

private:
    llvm::IRBuilder<>& b() { return lanes_.b; }
    Value* number(double value) { return lanes_.number(DType::F32, value); }

    Lanes& lanes_;
    const Base& base_;
};

} // namespace

Value* emit_logarithm(Lanes& lanes, ir::Op op, Value* x, ir::Sign sign) {
    if (has_avx512(lanes))
        return logarithm_by_table(lanes, op, x);
    auto& b = lanes.b;
    const DType dtype = lanes.dtype_of(x);
    const auto number = [&](double value) {
        return lanes.number(dtype, value);
    };
    Value* y = dtype == DType::F64
                   ? logarithm_of_double(lanes, op, x)
                   : Logarithm(lanes, base_of(op)).of_ordinary(x);
    // Infinity and NaN are their own logarithms.
    y = lanes.select(b.CreateFCmpOLT(x, number(INFINITY)), y, x);
    Value* of_others = number(-INFINITY);
    if (!ir::is_nonnegative(sign))
        of_others =
            lanes.select(b.CreateFCmpOEQ(x, number(0)), of_others, number(NAN));
    return lanes.select(b.CreateFCmpUGT(x, number(0)), y, of_others);
}

} // namespace tilefold::llvm_backend
