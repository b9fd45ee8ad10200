// compiler/backends/llvm/lanes/math.h - elementary functions on lanes: the hot
// ones emitted inline, the rest called through the call's table of functions.
#pragma once

#include "compiler/backends/llvm/lanes/lanes.h"
#include "compiler/ir/ir.h"
#include "compiler/passes/passes.h"

#include <functional>
#include <span>

namespace tilefold::llvm_backend {

enum class External : int {
#define EXTERNAL(name, ...) name,
#include "compiler/ir/externals.def"
#undef EXTERNAL
};

/// What a function of an image may call.
struct FunctionTable {
    /// Loads entry k of call->functions and sets Layout::uses_functions.
    std::function<llvm::Value*(int k)> load;
    /// Computes the sine or cosine of lanes of F32 by a function of the image;
    /// empty where it is written in place.
    std::function<llvm::Value*(External function, llvm::Value* x)> sine = {};
    /// Computes the sines or cosines of `count` numbers in memory, whole
    /// vectors, in place.
    std::function<void(External function, llvm::Value* x, llvm::Value* count)>
        sines = {};
};

/// Emits 2^x, within 1.1 ulp for F32 and F64; 0 for -inf, inf for inf, NaN for
/// NaN. `sign` is what is known of x.
llvm::Value* emit_exp2(Lanes& lanes, llvm::Value* x,
                       ir::Sign sign = ir::Sign::Unknown);
/// Emits sum + 2^x with one operation less than 2^x and a sum have. Where 2^x
/// is within 5% of the smallest normal number, it may be taken for 0.
llvm::Value* emit_exp2_added(Lanes& lanes, llvm::Value* x, llvm::Value* sum);
/// Emits e^x in the same way as emit_exp2().
llvm::Value* emit_exp(Lanes& lanes, llvm::Value* x, ir::Sign sign);
/// Emits the sine or cosine (`function`), for F32 within 0.6 ulp, for F64
/// within 1 ulp.
llvm::Value* emit_sine(Lanes& lanes, const FunctionTable& functions,
                       External function, llvm::Value* x);
/// Emits the logarithm (`op` is Log, Log2 or Log10), within 1 ulp, of base 10
/// and F64 within 1.1.
llvm::Value* emit_logarithm(Lanes& lanes, ir::Op op, llvm::Value* x,
                            ir::Sign sign);
/// Emits log(1 + x), within 1.01 ulp, of Unit x within 1.2; 0 for subnormal x
/// where results are flushed.
llvm::Value* emit_log1p(Lanes& lanes, llvm::Value* x, ir::Sign sign);
/// Emits tanh or erf (`op`) of F32, within 1.01 ulp; 0 for subnormal x where
/// results are flushed.
llvm::Value* emit_by_pieces(Lanes& lanes, ir::Op op, llvm::Value* x);
/// Emits erf or erfc (`op`): of F32 within 1.03 ulp, of F64 within 1.1
/// and 2 ulp; `sign` is that of x.
llvm::Value* emit_error_function(Lanes& lanes, ir::Op op, llvm::Value* x,
                                 ir::Sign sign);
/// Emits expm1 of F32 on AVX-512 and AVX2, within 1.05 ulp.
llvm::Value* expm1_by_table(Lanes& lanes, llvm::Value* x);
/// Emits sinh or cosh (`op`) of F32 on AVX-512 and AVX2, within 0.98 and 0.61
/// ulp.
llvm::Value* hyperbolic_by_table(Lanes& lanes, ir::Op op, llvm::Value* x);
/// Emits expm1, sinh or cosh (`op`) of F32, where there are no such
/// permutations within 0.51 ulp.
llvm::Value* emit_exponential_kin(Lanes& lanes, ir::Op op, llvm::Value* x);
/// Emits expm1, sinh, cosh or tanh (`op`) of F64, within 1.2 ulp.
llvm::Value* emit_exponential_of_double(Lanes& lanes, ir::Op op,
                                        llvm::Value* x);
/// Emits lgamma or digamma of F32, within 0.52 ulp, or of F64, of what is not
/// below 0 within 2.1 and 2.6 ulp; `sign` is that of x.
llvm::Value* emit_lgamma(Lanes& lanes, const FunctionTable& functions,
                         llvm::Value* x, ir::Sign sign);
llvm::Value* emit_digamma(Lanes& lanes, const FunctionTable& functions,
                          llvm::Value* x, ir::Sign sign);
/// Emits J of order -1, 0 or 1: within 3e-16 of it in F64, in F32 rounded from
/// what is within 2^-36 of it.
llvm::Value* emit_bessel_j(Lanes& lanes, const FunctionTable& functions,
                           int order, llvm::Value* x);
/// Emits tan x of F32 near 0, 300,000 at the most, within 1.25 ulp.
llvm::Value* near_tangent_of_single(Lanes& lanes, llvm::Value* x);
/// Emits tan x, of F32 as above, of F64 within 0.9 ulp.
llvm::Value* emit_tangent(Lanes& lanes, const FunctionTable& functions,
                          llvm::Value* x);
/// Emits atan (`op`), within 1.05 ulp, asin or acos, within 0.8.
llvm::Value* emit_arc(Lanes& lanes, ir::Op op, llvm::Value* x);
/// Emits the angle of the point (x, y), within 1.05 ulp; of special numbers as
/// C's atan2 has it.
llvm::Value* emit_angle(Lanes& lanes, llvm::Value* y, llvm::Value* x);
/// Emits x^y, of F32 within 1.4 ulp, of F64 within 1.6, of special numbers as
/// C's pow has it; `sign` is that of x, and `is_uniform` is of y.
llvm::Value* emit_power(Lanes& lanes, llvm::Value* x, llvm::Value* y,
                        ir::Sign sign, bool is_uniform);
/// Emits x^exponent by repeated squaring, and by one division where the
/// exponent is negative.
llvm::Value* emit_int_pow(Lanes& lanes, llvm::Value* x, std::int64_t exponent);

/// What holds of an operand whatever its value is.
struct Known {
    ir::Sign sign = ir::Sign::Unknown;
    bool is_uniform = false; ///< the same for all pairs
};

/// Emits a function of the table of externals; see emit_operation().
llvm::Value* emit_function(Lanes& lanes, const FunctionTable& functions,
                           ir::Op op, DType dtype, std::span<const Known> known,
                           std::span<llvm::Value* const> operands);
/// Emits one component of an elementwise operation of ops.def. Operands come
/// as the caller's graph types them, with what it knows; the result has
/// `dtype`.
llvm::Value* emit_operation(Lanes& lanes, const FunctionTable& functions,
                            ir::Op op, DType dtype,
                            std::span<const Known> known,
                            std::span<llvm::Value* const> operands);

/// A value as I64 lanes, and where it is a whole number (null: everywhere).
struct Whole {
    llvm::Value* number;
    llvm::Value* holds;
};
Whole integer_of(Lanes& lanes, llvm::Value* value);
/// Returns where both conditions hold; null stands for everywhere.
llvm::Value* both_hold(Lanes& lanes, llvm::Value* a, llvm::Value* b);

/// Emits an operation whose result rule is Affine, on I64 lanes.
llvm::Value* emit_integer(Lanes& lanes, ir::Op op,
                          std::span<llvm::Value* const> operands);
/// Emits Rand or Randn, which is NaN where an operand is no whole number.
llvm::Value* emit_random(Lanes& lanes, const FunctionTable& functions,
                         ir::Op op, DType dtype,
                         std::span<llvm::Value* const> operands);

llvm::Value* call_external(Lanes& lanes, const FunctionTable& functions,
                           External function, DType dtype,
                           std::span<llvm::Value* const> operands);

} // namespace tilefold::llvm_backend
