// compiler/backends/llvm/lanes/integer.cpp - operations on whole numbers, as
// integer.h defines them.

#include "compiler/ir/integer.h"

#include "compiler/backends/llvm/lanes/math.h"

#include <cmath>
#include <limits>
#include <numbers>

namespace tilefold::llvm_backend {
namespace {

using ir::Op;
using llvm::Value;

Value* saturating(Lanes& lanes, llvm::Intrinsic::ID id, Value* a, Value* b) {
    return lanes.b.CreateBinaryIntrinsic(id, a, b);
}

Value* negation(Lanes& lanes, Value* a) {
    return saturating(lanes, llvm::Intrinsic::ssub_sat,
                      lanes.number(DType::I64, 0), a);
}

/// Returns a mod b or a // b. Division itself traps at 0, and at -2^63 by -1.
Value* division(Lanes& lanes, Op op, Value* a, Value* b) {
    auto& builder = lanes.b;
    Value* zero = lanes.number(DType::I64, 0);
    Value* minus_one = lanes.number(DType::I64, -1);
    Value* none = builder.CreateICmpEQ(b, zero);
    Value* negates = builder.CreateICmpEQ(b, minus_one);
    Value* safe = lanes.select(builder.CreateOr(none, negates),
                               lanes.number(DType::I64, 1), b);
    Value* quotient = builder.CreateSDiv(a, safe);
    Value* rest = builder.CreateSub(a, builder.CreateMul(quotient, safe));
    Value* below = builder.CreateAnd(
        builder.CreateICmpNE(rest, zero),
        builder.CreateICmpSLT(builder.CreateXor(rest, safe), zero));
    if (op == Op::Mod) {
        rest = lanes.select(below, builder.CreateAdd(rest, safe), rest);
        return lanes.select(builder.CreateOr(none, negates), zero, rest);
    }
    quotient =
        lanes.select(below, builder.CreateAdd(quotient, minus_one), quotient);
    quotient = lanes.select(negates, negation(lanes, a), quotient);
    return lanes.select(none, zero, quotient);
}

/// Returns a 32-bit word in 64-bit lanes.
Value* word_in_long(Lanes& lanes, std::uint32_t value) {
    return lanes.number(DType::I64, double(value));
}

Value* low(Lanes& lanes, Value* x) {
    return lanes.b.CreateAnd(
        x, word_in_long(lanes, std::numeric_limits<std::uint32_t>::max()));
}

Value* high(Lanes& lanes, Value* x) {
    return lanes.b.CreateLShr(x, word_in_long(lanes, 32));
}

std::array<Value*, 4> philox(Lanes& lanes, Value* seed, Value* i, Value* j) {
    auto& b = lanes.b;
    std::array<Value*, 4> x{low(lanes, i), high(lanes, i), low(lanes, j),
                            high(lanes, j)};
    std::array<Value*, 2> key{low(lanes, seed), high(lanes, seed)};
    for (int round = 0; round < ir::philox_rounds; ++round) {
        Value* a =
            b.CreateMul(x[0], word_in_long(lanes, ir::philox_multipliers[0]));
        Value* c =
            b.CreateMul(x[2], word_in_long(lanes, ir::philox_multipliers[1]));
        x = {b.CreateXor(b.CreateXor(high(lanes, c), x[1]), key[0]),
             low(lanes, c),
             b.CreateXor(b.CreateXor(high(lanes, a), x[3]), key[1]),
             low(lanes, a)};
        for (std::size_t k = 0; k < 2; ++k)
            key[k] = low(
                lanes,
                b.CreateAdd(key[k], word_in_long(lanes, ir::philox_steps[k])));
    }
    return x;
}

/// Returns a word's upper 24 bits as a number in [0, 1).
Value* uniform(Lanes& lanes, DType dtype, Value* word) {
    auto& b = lanes.b;
    llvm::Type* narrow = b.getInt32Ty();
    if (auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(word->getType()))
        narrow = llvm::FixedVectorType::get(narrow, vector->getNumElements());
    Value* bits = b.CreateLShr(b.CreateTrunc(word, narrow),
                               llvm::ConstantInt::get(narrow, 8));
    return b.CreateFMul(b.CreateSIToFP(bits, lanes.type(dtype)),
                        lanes.number(dtype, 0x1p-24));
}

/// Returns a normally distributed number, by Box and Muller.
Value* normal(Lanes& lanes, const FunctionTable& functions, DType dtype,
              Value* first, Value* second) {
    auto& b = lanes.b;
    Value* rest = b.CreateFSub(lanes.number(dtype, 1), first);
    Value* angle =
        b.CreateFMul(lanes.number(dtype, 2 * std::numbers::pi), second);
    Value* log =
        call_external(lanes, functions, External::Log, dtype, {&rest, 1});
    Value* cosine = emit_sine(lanes, functions, External::Cos, angle);
    Value* radius = b.CreateUnaryIntrinsic(
        llvm::Intrinsic::sqrt, b.CreateFMul(lanes.number(dtype, -2), log));
    return b.CreateFMul(radius, cosine);
}

} // namespace

Whole integer_of(Lanes& lanes, Value* value) {
    auto& b = lanes.b;
    const DType dtype = lanes.dtype_of(value);
    if (kind_of(dtype) != DTypeKind::Float)
        return {lanes.as(DType::I64, value), nullptr};
    Value* magnitude = lanes.absolute(value);
    Value* rounded = b.CreateUnaryIntrinsic(llvm::Intrinsic::floor, value);
    Value* holds = b.CreateAnd(
        b.CreateFCmpOEQ(rounded, value),
        b.CreateFCmpOLE(magnitude,
                        lanes.number(dtype, ir::largest_integer(dtype))));
    Value* safe = lanes.select(holds, value, lanes.number(dtype, 0));
    return {lanes.as(DType::I64, safe), holds};
}

Value* both_hold(Lanes& lanes, Value* a, Value* b) {
    if (!a || !b)
        return a ? a : b;
    return lanes.b.CreateAnd(a, b);
}

Value* emit_integer(Lanes& lanes, Op op, std::span<Value* const> operands) {
    const auto binary = [&](llvm::Intrinsic::ID id) {
        return saturating(lanes, id, operands[0], operands[1]);
    };
    switch (op) {
    case Op::Add:
        return binary(llvm::Intrinsic::sadd_sat);
    case Op::Sub:
        return binary(llvm::Intrinsic::ssub_sat);
    case Op::Minimum:
        return binary(llvm::Intrinsic::smin);
    case Op::Maximum:
        return binary(llvm::Intrinsic::smax);
    case Op::Neg:
        return negation(lanes, operands[0]);
    case Op::Abs:
        return saturating(lanes, llvm::Intrinsic::smax, operands[0],
                          negation(lanes, operands[0]));
    case Op::Mod:
    case Op::FloorDiv:
        return division(lanes, op, operands[0], operands[1]);
    default:
        internal_error(std::string(ir::mnemonic(op)) + " of integers");
    }
}

Value* emit_random(Lanes& lanes, const FunctionTable& functions, Op op,
                   DType dtype, std::span<Value* const> operands) {
    std::array<Value*, 3> numbers{};
    Value* holds = nullptr;
    for (std::size_t k = 0; k < numbers.size(); ++k) {
        const Whole whole = integer_of(lanes, operands[k]);
        numbers[k] = whole.number;
        holds = both_hold(lanes, holds, whole.holds);
    }
    const auto words = philox(lanes, numbers[0], numbers[1], numbers[2]);
    Value* result = uniform(lanes, dtype, words[0]);
    if (op == Op::Randn)
        result = normal(lanes, functions, dtype, result,
                        uniform(lanes, dtype, words[1]));
    return holds ? lanes.select(holds, result, lanes.number(dtype, NAN))
                 : result;
}

} // namespace tilefold::llvm_backend
