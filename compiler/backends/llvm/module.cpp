// compiler/backends/llvm/module.cpp - functions, the call's fields, strided
// loads and stores.

#include "compiler/backends/llvm/module.h"

#include "compiler/backends/llvm/evaluate.h"

#include <algorithm>
#include <limits>

namespace tilefold::llvm_backend {

using llvm::Value;

ModuleWriter::ModuleWriter(const ir::Graph& graph, const Plan& plan)
    : graph(graph), plan(plan),
      sites(find_sites(graph, plan.nest == Nest::Values)),
      words(find_words(graph, plan)),
      context_(std::make_unique<llvm::LLVMContext>()),
      module_(std::make_unique<llvm::Module>("tilefold", *context_)) {
    layout.constants = sites.constants_size;
    layout.lanes = plan.lanes;
    layout.real = graph.real;
    layout.row_block = plan.row_block;
    layout.panel = plan.panel;
}

DType ModuleWriter::packed_dtype(ir::ValueId id) const {
    const ir::Node& node = graph[id];
    if (words_of(id))
        return DType::F32;
    if (node.op != ir::Op::Argument || node.type.dtype != DType::I64 ||
        size_of(graph.arguments[std::size_t(node.first)].dtype) > 2)
        return node.type.dtype;
    const bool is_only_summed =
        std::ranges::all_of(graph.nodes, [&](const ir::Node& user) {
            return std::ranges::count(user.inputs(), id) == 0 ||
                   (is_contraction(user.op) && user.type.dtype == DType::F32);
        });
    return is_only_summed && graph.result != id ? DType::F32 : node.type.dtype;
}

std::unique_ptr<llvm::LLVMContext> ModuleWriter::take_context() {
    return std::move(context_);
}

std::unique_ptr<llvm::Module> ModuleWriter::take_module() {
    return std::move(module_);
}

llvm::Function* ModuleWriter::begin(llvm::IRBuilder<>& builder,
                                    const std::string& name,
                                    std::string_view parameters,
                                    bool exported) {
    std::vector<llvm::Type*> types;
    for (char kind : parameters)
        types.push_back(kind == 'p'
                            ? static_cast<llvm::Type*>(builder.getPtrTy())
                            : builder.getInt64Ty());
    auto* type = llvm::FunctionType::get(builder.getVoidTy(), types, false);
    auto* function =
        llvm::Function::Create(type,
                               exported ? llvm::Function::ExternalLinkage
                                        : llvm::Function::InternalLinkage,
                               name, *module_);
    function->setDoesNotThrow();
    function->addFnAttr("no-builtins");
    function->addFnAttr("frame-pointer", "none");
    function->addFnAttr("prefer-vector-width", "512");
    function->addFnAttr("min-legal-vector-width", "512");
    if (!exported)
        function->addFnAttr(llvm::Attribute::NoInline);
    for (llvm::Argument& argument : function->args())
        if (argument.getType()->isPointerTy())
            argument.addAttr(llvm::Attribute::NoAlias);
    builder.SetInsertPoint(
        llvm::BasicBlock::Create(*context_, "entry", function));
    llvm::FastMathFlags flags;
    flags.setAllowContract();
    builder.setFastMathFlags(flags);
    return function;
}

Value* ModuleWriter::field(llvm::IRBuilder<>& b, Value* call,
                           std::size_t offset, bool is_pointer) const {
    Value* place = b.CreatePtrAdd(call, b.getInt64(offset));
    llvm::Type* type =
        is_pointer ? static_cast<llvm::Type*>(b.getPtrTy()) : b.getInt64Ty();
    return b.CreateLoad(type, place);
}

Value* ModuleWriter::operand_field(llvm::IRBuilder<>& b, Value* call,
                                   std::int64_t argument,
                                   OperandField which) const {
    Value* operands = field(b, call, offsetof(tilefold_call, operands), true);
    const auto offset =
        argument * std::int64_t(sizeof(tilefold_operand)) + std::int64_t(which);
    return field(b, operands, std::size_t(offset), which == OperandField::Base);
}

Value* ModuleWriter::function_pointer(llvm::IRBuilder<>& b, Value* call,
                                      int entry) {
    layout.uses_functions = true;
    Value* table = field(b, call, offsetof(tilefold_call, functions), true);
    return field(b, table, std::size_t(entry) * sizeof(void*), true);
}

namespace {

/// As many of `type` as there are lanes.
llvm::Type* as_lanes(const Lanes& lanes, llvm::Type* type) {
    return lanes.width() == 1
               ? type
               : llvm::FixedVectorType::get(type, unsigned(lanes.width()));
}

/// `raw`, elements as they are stored, as `to`.
Value* converted(const Lanes& lanes, DType from, DType to, Value* raw) {
    auto& b = lanes.b;
    if (kind_of(to) == DTypeKind::Float) {
        llvm::Type* type = lanes.type(to);
        switch (kind_of(from)) {
        case DTypeKind::Float:
            return b.CreateFPCast(raw, type);
        case DTypeKind::Signed:
            return b.CreateSIToFP(raw, type);
        case DTypeKind::Unsigned:
        case DTypeKind::Truth:
            return b.CreateUIToFP(raw, type);
        }
    }
    if (to == DType::Bool)
        return b.CreateZExt(
            b.CreateICmpNE(raw, llvm::Constant::getNullValue(raw->getType())),
            as_lanes(lanes, b.getInt8Ty()));
    llvm::Type* whole = as_lanes(lanes, b.getInt64Ty());
    if (kind_of(from) == DTypeKind::Float)
        return b.CreateFPToSI(raw, whole);
    if (from == DType::U64) // what I64 does not hold is its largest number
        return b.CreateBinaryIntrinsic(
            llvm::Intrinsic::umin, raw,
            llvm::ConstantInt::get(
                whole,
                std::uint64_t(std::numeric_limits<std::int64_t>::max())));
    return b.CreateIntCast(raw, whole, kind_of(from) == DTypeKind::Signed);
}

} // namespace

Value* load_elements(const Lanes& lanes, DType from, DType to, Value* pointer,
                     Value* mask) {
    auto& b = lanes.b;
    llvm::Type* type = as_lanes(lanes, lanes.stored(from));
    Value* raw = mask ? static_cast<Value*>(b.CreateMaskedLoad(
                            type, pointer, llvm::Align(1), mask,
                            llvm::Constant::getNullValue(type)))
                      : b.CreateAlignedLoad(type, pointer, llvm::Align(1));
    return converted(lanes, from, to, raw);
}

namespace {

/// Elements copied at a time where they lie in a run.
constexpr int run_lanes = 16;

/// How many of `count` elements `stride` bytes apart are in whole runs: none
/// unless they are neighbours.
Value* whole_runs(const Lanes& scalar, Value* count, Value* stride,
                  DType dtype) {
    auto& b = scalar.b;
    Value* are_neighbours =
        b.CreateICmpEQ(stride, scalar.constant(std::int64_t(size_of(dtype))));
    Value* whole = b.CreateAnd(count, scalar.constant(-run_lanes));
    return b.CreateSelect(are_neighbours, whole, scalar.constant(0));
}

std::string pair_name(std::string_view verb, DType from, DType to) {
    return std::string(verb) + "_" + std::string(spelling_of(from)) + "_" +
           std::string(spelling_of(to));
}

} // namespace

namespace {

/// Of a strided load, what is left of a run after `whole` elements, under a
/// mask. Gives where the elements begin that are left then: of no run, at 0.
Value* copy_rest(const Lanes& wide, DType from, DType to,
                 llvm::Function* function, Value* whole, Value* count) {
    auto& b = wide.b;
    Value* stride = function->getArg(1);
    Value* is_run = b.CreateAnd(
        b.CreateICmpEQ(stride, wide.constant(std::int64_t(size_of(from)))),
        b.CreateICmpSLT(whole, count));
    wide.when(is_run, [&] {
        Value* mask = wide.first_lanes(b.CreateSub(count, whole));
        Value* point = b.CreateAdd(function->getArg(3), whole);
        Value* place =
            b.CreatePtrAdd(function->getArg(0), b.CreateMul(point, stride));
        b.CreateMaskedStore(
            load_elements(wide, from, to, place, mask),
            wide.at(function->getArg(5), whole, 0, std::int64_t(size_of(to))),
            llvm::Align(1), mask);
    });
    return b.CreateSelect(is_run, count, whole);
}

} // namespace

llvm::Function* ModuleWriter::strided_load(DType from, DType to) {
    const std::string name = pair_name("load", from, to);
    if (llvm::Function* found = module_->getFunction(name))
        return found;
    llvm::IRBuilder<> b(*context_);
    llvm::Function* function = begin(b, name, "pnpnnpn", false);
    const Lanes scalar = lanes(b, 1);
    Value* base = function->getArg(0);
    Value* stride = function->getArg(1);
    Value* list = function->getArg(2);
    Value* first = function->getArg(3);
    Value* count = function->getArg(4);
    Value* out = function->getArg(5);
    Value* zero = b.getInt64(0);
    Value* one = b.getInt64(1);
    const auto size = std::int64_t(size_of(to));
    const auto copy = [&](const Lanes& some, Value* point, Value* k) {
        Value* place = b.CreatePtrAdd(base, b.CreateMul(point, stride));
        b.CreateAlignedStore(load_elements(some, from, to, place),
                             scalar.at(out, k, 0, size),
                             llvm::Align(std::uint64_t(size)));
    };
    Value* listed = b.CreateIsNotNull(list);
    Value* in_order = b.CreateSelect(listed, zero, count);
    const Lanes wide = lanes(b, run_lanes);
    Value* vectors = whole_runs(scalar, in_order, stride, from);
    wide.loop(zero, vectors, b.getInt64(run_lanes),
              [&](Value* k) { copy(wide, b.CreateAdd(first, k), k); });
    if (row_of(plan.isa).masks && size_of(from) >= 4)
        vectors = copy_rest(wide, from, to, function, vectors, in_order);
    scalar.loop(vectors, in_order, one,
                [&](Value* k) { copy(scalar, b.CreateAdd(first, k), k); });
    scalar.loop(zero, b.CreateSelect(listed, count, zero), one, [&](Value* k) {
        Value* place = scalar.at(list, b.CreateAdd(first, k), 0, 8);
        copy(scalar, b.CreateLoad(b.getInt64Ty(), place), k);
    });
    const Lanes& zeros = row_of(plan.isa).masks ? wide : scalar;
    Value* padded = function->getArg(6);
    zeros.loop(
        count, padded, b.getInt64(std::uint64_t(zeros.width())), [&](Value* k) {
            Value* none =
                llvm::Constant::getNullValue(as_lanes(zeros, zeros.stored(to)));
            Value* place = scalar.at(out, k, 0, size);
            if (zeros.width() == 1)
                b.CreateStore(none, place);
            else
                b.CreateMaskedStore(none, place, llvm::Align(1),
                                    zeros.first_lanes(b.CreateSub(padded, k)));
        });
    b.CreateRetVoid();
    return function;
}

llvm::Function* ModuleWriter::count_points() {
    if (llvm::Function* found = module_->getFunction("count_points"))
        return found;
    llvm::IRBuilder<> b(*context_);
    llvm::Function* function = begin(b, "count_points", "pnnp", false);
    const Lanes scalar = lanes(b, 1);
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
    b.CreateRetVoid();
    return function;
}

llvm::Function* ModuleWriter::strided_store(DType dtype) {
    const std::string name = pair_name("store", dtype, dtype);
    if (llvm::Function* found = module_->getFunction(name))
        return found;
    llvm::IRBuilder<> b(*context_);
    llvm::Function* function = begin(b, name, "pnpnn", false);
    const Lanes scalar = lanes(b, 1);
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
                            : (dtype == DType::Bool ? b.CreateOr(old, value)
                                                    : b.CreateAdd(old, value));
            }
            b.CreateAlignedStore(value, place, llvm::Align(1));
        };
    };
    Value* plain = b.CreateSelect(accumulate, zero, count);
    Value* vectors = whole_runs(scalar, plain, stride, dtype);
    scalar.loop(zero, vectors, b.getInt64(run_lanes), write(run_lanes, false));
    scalar.loop(vectors, plain, b.getInt64(1), write(1, false));
    scalar.loop(zero, b.CreateSelect(accumulate, count, zero), b.getInt64(1),
                write(1, true));
    b.CreateRetVoid();
    return function;
}

} // namespace tilefold::llvm_backend
