// compiler/backends/llvm/module/module.h - one nest's LLVM module under way:
// its functions, the fields of the call structure, and loads and stores of
// strided arrays (strided_copies.cpp).
#pragma once

#include "compiler/artifact/artifact.h"
#include "compiler/backends/cpu/lower/lowered_kernel.h"
#include "compiler/backends/cpu/plan.h"
#include "compiler/backends/llvm/lanes/lanes.h"
#include "compiler/backends/llvm/lanes/math.h"
#include "compiler/backends/llvm/memory/caller.h"
#include "compiler/ir/ir.h"

#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace tilefold::llvm_backend {

/// One state element, f64 or i64, has so many bytes.
inline constexpr std::int64_t state_bytes = 8;

/// The place of an argument's fields in call->operands.
enum class OperandField : std::int64_t {
    Base = offsetof(tilefold_kernel_operand, base),
    Stride = offsetof(tilefold_kernel_operand, stride),
    Component = offsetof(tilefold_kernel_operand, component),
    Column = offsetof(tilefold_kernel_operand, column),
};

/// Returns the vector type of as many `type` as there are lanes; for one lane,
/// `type` itself.
llvm::Type* as_lanes(const Lanes& lanes, llvm::Type* type);
/// Loads what lies at `pointer`, one element or as many as there are lanes,
/// and returns it as `to` is stored; any alignment and any stored dtype will
/// do. With a `mask`, it is zero where the mask is not set.
llvm::Value* load_elements(const Lanes& lanes, DType from, DType to,
                           llvm::Value* pointer, llvm::Value* mask = nullptr);

/// Which functions of an image a module holds: all, the one with the loop over
/// pairs, the other entries, or one that entries share.
enum class CompilationUnit { Whole, Pairs, Rest, Shared };

class ModuleWriter;
/// Functions that a module calls and does not hold, by name, each with what
/// writes it into a module of its own.
using Borrowed = std::map<std::string, std::function<void(ModuleWriter&)>>;

class ModuleWriter {
public:
    /// `kernel` is lower(graph, plan), and outlives the writer.
    ModuleWriter(const ir::Graph& graph, const Plan& plan,
                 const LoweredKernel& kernel, CompilationUnit unit);

    const ir::Graph& graph;
    const Plan plan;
    const bool has_pairs, has_rest, has_shared; ///< of the unit
    const LoweredKernel& kernel;
    /// Returns null for a value that is not packed as words.
    const Words* words_of(ir::ValueId id) const {
        return kernel.contractions.words_of(id);
    }
    DType packed_dtype(ir::ValueId id) const { return kernel.packed[id]; }
    Layout layout;

    Borrowed borrowed;

    llvm::Module& module() { return *module_; }
    Owned<llvm::LLVMContext> take_context();
    Owned<llvm::Module> take_module();

    /// Starts an entry whose parameters are pointers ('p') and i64 ('n'); the
    /// builder stands in its first block.
    llvm::Function* begin(llvm::IRBuilder<>& builder, const std::string& name,
                          std::string_view parameters);
    /// Returns a function that entries call. It is written with `body` unless
    /// the module has one of this name. Lanes of F32 ('v') or of the computing
    /// dtype ('r') may be parameters and the `result`, which `body` returns.
    /// `body` may outlive the writer.
    using Body =
        std::function<void(ModuleWriter&, llvm::IRBuilder<>&, llvm::Function*)>;
    llvm::Function* shared(const std::string& name, std::string_view parameters,
                           const Body& body, char result = 0);
    /// Returns lanes of the plan in `builder`'s function.
    Lanes lanes(llvm::IRBuilder<>& builder, int width) const {
        return {builder, width, graph.real, plan.isa};
    }

    llvm::Value* field(llvm::IRBuilder<>& b, llvm::Value* call,
                       std::size_t offset, bool is_pointer) const;
    llvm::Value* operand_field(llvm::IRBuilder<>& b, llvm::Value* call,
                               std::int64_t argument, OperandField field) const;
    /// Loads a function pointer out of call->functions, and notes that it is
    /// used.
    llvm::Value* function_pointer(llvm::IRBuilder<>& b, llvm::Value* call,
                                  int entry);
    /// Returns what `b`'s function may call; `b` and the writer outlive the
    /// table.
    FunctionTable functions(llvm::IRBuilder<>& b, llvm::Value* call);

    /// Returns void(p base, n stride, p list, n first, n count, p out, n
    /// padded), which loads count elements of points first… (or list[first]…)
    /// to `out` in the dtype `to`, and then writes zeros up to `padded`.
    llvm::Function* strided_load(DType from, DType to);
    /// Returns void(p place, n count, p out, n run), which loads points of so
    /// many `components` that lie side by side, each component to a run of its
    /// own, `run` bytes on. Without masks, `count` is a multiple of the plan's
    /// lanes.
    llvm::Function* interleaved_load(DType dtype, int components);
    /// Returns v(v x, p call), which computes the sine or cosine.
    llvm::Function* sine(External function);
    /// Returns void(p x, n count, p call), which computes sines or cosines of
    /// numbers in memory, in place.
    llvm::Function* sines(External function);
    /// Returns void(p list, n first, n count, p out), which writes the points'
    /// numbers, as I64.
    llvm::Function* count_points();
    /// Returns void(p values, n count, p out, n stride, n accumulate), which
    /// stores values `stride` bytes apart, or adds them to what is there.
    llvm::Function* strided_store(DType dtype);

private:
    llvm::Type* type_of(char kind) const;
    llvm::Function* declare(const std::string& name,
                            std::string_view parameters, char result = 0);

    Owned<llvm::LLVMContext> context_;
    Owned<llvm::Module> module_;
};

} // namespace tilefold::llvm_backend
