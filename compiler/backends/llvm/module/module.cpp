// compiler/backends/llvm/module/module.cpp - functions, the call's fields,
// numbers of every dtype.

#include "compiler/backends/llvm/module/module.h"

#include <algorithm>
#include <limits>

namespace tilefold::llvm_backend {

using llvm::Value;

ModuleWriter::ModuleWriter(const ir::Graph& graph, const Plan& plan,
                           const LoweredKernel& kernel, CompilationUnit unit)
    : graph(graph), plan(plan), has_pairs(unit == CompilationUnit::Whole ||
                                          unit == CompilationUnit::Pairs),
      has_rest(unit == CompilationUnit::Whole || unit == CompilationUnit::Rest),
      has_shared(unit == CompilationUnit::Whole ||
                 unit == CompilationUnit::Shared),
      kernel(kernel), context_(new llvm::LLVMContext),
      module_(new llvm::Module("tilefold", *context_)) {
    layout.constants = kernel.placement.constants_size;
    const WidthOffset slots = slots_of(kernel.reductions);
    // Rows that have their results after a panel have their state in
    // registers.
    layout.slots = plan.nest == Nest::SinglePanel ? 0 : slots.offset;
    layout.slots_per_width = slots.per_width;
    layout.scratch = kernel.scratch.offset;
    layout.scratch_per_width = kernel.scratch.per_width;
    layout.lanes = plan.lanes;
    layout.real = graph.real;
    layout.row_block = plan.row_block;
    layout.panel = plan.panel;
}

Owned<llvm::LLVMContext> ModuleWriter::take_context() {
    return std::move(context_);
}

Owned<llvm::Module> ModuleWriter::take_module() {
    return std::move(module_);
}

llvm::Type* ModuleWriter::type_of(char kind) const {
    switch (kind) {
    case 'p':
        return llvm::PointerType::getUnqual(*context_);
    case 'n':
        return llvm::Type::getInt64Ty(*context_);
    case 'v':
        return llvm::FixedVectorType::get(llvm::Type::getFloatTy(*context_),
                                          unsigned(plan.lanes));
    case 'r':
        return llvm::FixedVectorType::get(
            graph.real == DType::F64 ? llvm::Type::getDoubleTy(*context_)
                                     : llvm::Type::getFloatTy(*context_),
            unsigned(plan.lanes));
    default:
        return llvm::Type::getVoidTy(*context_);
    }
}

llvm::Function* ModuleWriter::declare(const std::string& name,
                                      std::string_view parameters,
                                      char result) {
    std::vector<llvm::Type*> types;
    for (char kind : parameters)
        types.push_back(type_of(kind));
    auto* type = llvm::FunctionType::get(type_of(result), types, false);
    auto* function = llvm::Function::Create(
        type, llvm::Function::ExternalLinkage, name, *module_);
    function->setDoesNotThrow();
    function->addFnAttr("no-builtins");
    function->addFnAttr("frame-pointer", "none");
    function->addFnAttr("prefer-vector-width", "512");
    function->addFnAttr("min-legal-vector-width", "512");
    for (llvm::Argument& argument : function->args())
        if (argument.getType()->isPointerTy())
            argument.addAttr(llvm::Attribute::NoAlias);
    return function;
}

namespace {

void start(llvm::IRBuilder<>& b, llvm::Function* function) {
    b.SetInsertPoint(
        llvm::BasicBlock::Create(function->getContext(), "entry", function));
    llvm::FastMathFlags flags;
    flags.setAllowContract();
    b.setFastMathFlags(flags);
}

} // namespace

llvm::Function* ModuleWriter::begin(llvm::IRBuilder<>& builder,
                                    const std::string& name,
                                    std::string_view parameters) {
    llvm::Function* function = declare(name, parameters);
    start(builder, function);
    return function;
}

llvm::Function* ModuleWriter::shared(const std::string& name,
                                     std::string_view parameters,
                                     const Body& body, char result) {
    if (llvm::Function* known = module_->getFunction(name))
        return known;
    llvm::Function* function = declare(name, parameters, result);
    function->setVisibility(llvm::GlobalValue::HiddenVisibility);
    function->addFnAttr(llvm::Attribute::NoInline);
    if (!has_shared) {
        borrowed.emplace(name, [=](ModuleWriter& its) {
            its.shared(name, parameters, body, result);
        });
        return function;
    }
    llvm::IRBuilder<> b(*context_);
    start(b, function);
    body(*this, b, function);
    if (!result)
        b.CreateRetVoid();
    return function;
}

llvm::Function* ModuleWriter::sine(External which) {
    const auto body = [which](ModuleWriter& writer, llvm::IRBuilder<>& b,
                              llvm::Function* function) {
        Lanes lanes = writer.lanes(b, writer.plan.lanes);
        b.CreateRet(emit_sine(lanes, writer.functions(b, function->getArg(1)),
                              which, function->getArg(0)));
    };
    return shared(which == External::Sin ? "sine" : "cosine", "vp", body, 'v');
}

llvm::Function* ModuleWriter::sines(External which) {
    const auto body = [which](ModuleWriter& writer, llvm::IRBuilder<>& b,
                              llvm::Function* function) {
        Lanes lanes = writer.lanes(b, writer.plan.lanes);
        const FunctionTable table = writer.functions(b, function->getArg(2));
        lanes.loop(lanes.constant(0), function->getArg(1),
                   lanes.constant(lanes.width()), [&](Value* k) {
                       Value* place = lanes.at(function->getArg(0), k, 0, 4);
                       Value* x = lanes.load(DType::F32, place);
                       lanes.store(emit_sine(lanes, table, which, x), place);
                   });
    };
    return shared(which == External::Sin ? "sines" : "cosines", "pnp", body);
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
    Value* operands =
        field(b, call, offsetof(tilefold_kernel_call, operands), true);
    const auto offset =
        argument * std::int64_t(sizeof(tilefold_kernel_operand)) +
        std::int64_t(which);
    return field(b, operands, std::size_t(offset), which == OperandField::Base);
}

Value* ModuleWriter::function_pointer(llvm::IRBuilder<>& b, Value* call,
                                      int entry) {
    layout.uses_functions = true;
    Value* table =
        field(b, call, offsetof(tilefold_kernel_call, functions), true);
    return field(b, table, std::size_t(entry) * sizeof(void*), true);
}

FunctionTable ModuleWriter::functions(llvm::IRBuilder<>& b, Value* call) {
    return {[this, &b, call](int k) { return function_pointer(b, call, k); }};
}

llvm::Type* as_lanes(const Lanes& lanes, llvm::Type* type) {
    return lanes.width() == 1
               ? type
               : llvm::FixedVectorType::get(type, unsigned(lanes.width()));
}

namespace {

/// Returns `raw`, elements as they are stored, as `to`.
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

} // namespace tilefold::llvm_backend
