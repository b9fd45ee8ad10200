// compiler/backends/llvm/lanes/sine.cpp - sin x and cos x of float32, in
// double.
//
//   sin x = (-1)^n sin r,  n = rint(x/pi),        r = x - n pi
//   cos x = (-1)^n sin r,  n = rint(x/pi + 1/2),  r = x - (n - 1/2) pi
//
// Double has the bits that the difference and the polynomial need, so that 13
// operations are right to 0.6 ulp, the sign of 0 included. SLEEF's of 0.9 ulp,
// in pairs of float32, takes longer: on a Zen 3 sin(x_i) is 1.31 ns an element
// with it, 0.77 with this. Beyond `farthest`, where x/pi runs out of bits, and
// for infinities a lane is left to SLEEF; the others keep what they have, since
// a number's sine is not to depend on what lies beside it.

#include "compiler/backends/llvm/lanes/math.h"

#include <array>

namespace tilefold::llvm_backend {
namespace {

using llvm::Value;

constexpr double farthest = 0x1p40;
constexpr double inverse_pi = 0x1.45f306dc9c883p-2;
/// pi in two parts.
constexpr double pi_high = 0x1.921fb54442d18p+1;
constexpr double pi_low = 0x1.1a62633145c07p-53;
/// A sum with it is a whole number, which its low bits hold.
constexpr double magic = 0x1.8p52;

/// sin r = r (1 + p(r²)), p without its constant of 0: minimax in the relative
/// error on [-pi/2, pi/2], 6.1e-9.
constexpr std::array<double, 4> odd{-0x1.55554bc82c016p-3, 0x1.110ed37e708dap-7,
                                    -0x1.9f6ffe8b33f80p-13,
                                    0x1.5dbdeb3b6c3eap-19};

Value* near_sine(Lanes& lanes, Value* narrow, bool is_cosine) {
    auto& b = lanes.b;
    const auto number = [&](double value) {
        return lanes.number(DType::F64, value);
    };
    Value* x = lanes.as(DType::F64, narrow);
    Value* turns =
        is_cosine ? b.CreateFAdd(lanes.fma(x, number(inverse_pi), number(0.5)),
                                 number(magic))
                  : lanes.fma(x, number(inverse_pi), number(magic));
    Value* n = b.CreateFSub(turns, number(magic));
    if (is_cosine)
        n = b.CreateFSub(n, number(0.5));
    Value* r = lanes.fma(n, number(-pi_high), x);
    r = lanes.fma(n, number(-pi_low), r);
    Value* square = b.CreateFMul(r, r);
    Value* p = number(odd.back());
    for (std::size_t k = odd.size() - 1; k-- > 0;)
        p = lanes.fma(p, square, number(odd[k]));
    Value* sine = b.CreateFMul(r, lanes.fma(p, square, number(1)));
    llvm::Type* bits = lanes.type(DType::I64);
    Value* sign = b.CreateShl(b.CreateBitCast(turns, bits), 63);
    sine = b.CreateXor(b.CreateBitCast(sine, bits), sign);
    return lanes.as(DType::F32, b.CreateBitCast(sine, lanes.type(DType::F64)));
}

} // namespace

Value* emit_sine(Lanes& lanes, const FunctionTable& functions,
                 External function, Value* x) {
    const DType dtype = lanes.dtype_of(x);
    const auto by_library = [&] {
        return call_external(lanes, functions, function, dtype, {&x, 1});
    };
    if (lanes.width() == 1 || dtype != DType::F32)
        return by_library();
    if (functions.sine)
        return functions.sine(function, x);
    auto& b = lanes.b;
    Value* result = lanes.variable(x->getType());
    Value* near = near_sine(lanes, x, function == External::Cos);
    b.CreateStore(near, result);
    Value* size = b.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, x);
    Value* is_near = // or NaN
        b.CreateFCmpULE(size, lanes.number(dtype, farthest));
    lanes.when_rare(b.CreateNot(lanes.all(is_near)), [&] {
        b.CreateStore(lanes.select(is_near, near, by_library()), result);
    });
    return b.CreateLoad(x->getType(), result);
}

} // namespace tilefold::llvm_backend
