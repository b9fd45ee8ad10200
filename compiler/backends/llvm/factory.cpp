// compiler/backends/llvm/factory.cpp - texts in, bytes out; the C door.

#include "compiler/backends/llvm/factory.h"

#include "compiler/artifact.h"
#include "compiler/backends/llvm/link.h"
#include "compiler/backends/llvm/nest.h"
#include "compiler/backends/llvm/target.h"
#include "compiler/passes.h"
#include "formulas/diagnostic.h"

#include <llvm/Config/llvm-config.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Support/raw_ostream.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <future>

namespace tilefold::llvm_backend {
namespace {

/// A module and what the caller must know to run it. The context outlives the
/// module.
struct Written {
    std::unique_ptr<llvm::LLVMContext> context;
    std::unique_ptr<llvm::Module> module;
    Layout layout;
    Borrowed borrowed;
};

Written write(const ir::Graph& graph, const Plan& plan, Portion portion,
              const Borrowed& borrowed = {}) {
    ModuleWriter writer(graph, plan, portion);
    if (writer.has_rest)
        write_prepare(writer);
    if (plan.nest == Nest::Reduce)
        write_reduce_nest(writer);
    else
        write_values_nest(writer);
    for (const auto& write_function : borrowed)
        write_function(writer);
#ifndef NDEBUG
    std::string broken;
    llvm::raw_string_ostream stream(broken);
    if (llvm::verifyModule(writer.module(), &stream))
        internal_error("emitted LLVM IR is broken: " + broken);
#endif
    return {writer.take_context(), writer.take_module(), writer.layout,
            std::move(writer.borrowed)};
}

Entries entries_of(const Image& image) {
    const auto find = [&](const char* name) {
        const auto found = image.functions.find(name);
        return found == image.functions.end() ? Entries::absent : found->second;
    };
    Entries entries;
    entries.prepare = find("prepare");
    entries.init = find("init");
    entries.accumulate = find("accumulate");
    entries.merge = find("merge");
    entries.finalise = find("finalise");
    entries.zip = find("zip");
    entries.dense = find("dense");
    return entries;
}

llvm::SmallVector<char, 0> object_of(const Written& written, Isa isa) {
    const auto machine = make_machine(isa);
    optimise(*written.module, *machine, isa);
    return emit_object(*written.module, *machine);
}

/// Each portion notes what its own functions need.
Layout joined(Layout layout, const Layout& other) {
    layout.scratch = std::max(layout.scratch, other.scratch);
    layout.scratch_per_width =
        std::max(layout.scratch_per_width, other.scratch_per_width);
    layout.uses_functions |= other.uses_functions;
    return layout;
}

std::string compile_text(std::string_view graph_text,
                         std::string_view plan_text) {
    const auto start = std::chrono::steady_clock::now();
    const ir::Graph graph = ir::parse_ir(graph_text);
    const Plan plan = parse_plan(plan_text);
    const Written pairs = write(graph, plan, Portion::Pairs);
    const Written rest = write(graph, plan, Portion::Rest, pairs.borrowed);
    without_strength_reduction(*rest.context);
    auto object_of_rest = std::async([&] { return object_of(rest, plan.isa); });
    const auto object_of_pairs = object_of(pairs, plan.isa);
    Image image;
    link_flat(object_of_rest.get(), image);
    link_flat(object_of_pairs, image);
    Artifact artifact;
    artifact.layout = joined(pairs.layout, rest.layout);
    artifact.entries = entries_of(image);
    artifact.code = std::move(image.code);
    artifact.compiler = "LLVM " LLVM_VERSION_STRING;
    artifact.compile_milliseconds =
        std::chrono::duration<double, std::milli>(
            std::chrono::steady_clock::now() - start)
            .count();
    const std::vector<std::byte> bytes = serialise(artifact);
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// In one module, which reads better.
std::string explain_text(std::string_view graph_text,
                         std::string_view plan_text, std::string_view what) {
    const ir::Graph graph = ir::parse_ir(graph_text);
    const Plan plan = parse_plan(plan_text);
    const Written written = write(graph, plan, Portion::Whole);
    const auto machine = make_machine(plan.isa);
    optimise(*written.module, *machine, plan.isa);
    if (what == "asm")
        return emit_assembly(*written.module, *machine);
    std::string text;
    llvm::raw_string_ostream stream(text);
    written.module->print(stream, nullptr);
    return text;
}

/// Hands `text` over; the caller gives it back through release().
std::int32_t hand_over(const std::string& text, std::int32_t status,
                       tilefold_bytes* result) {
    result->size = text.size();
    result->data = static_cast<char*>(std::malloc(text.size() + 1));
    if (result->data)
        std::memcpy(result->data, text.data(), text.size());
    else
        result->size = 0;
    return status;
}

template <class Work> std::int32_t guarded(tilefold_bytes* result, Work work) {
    try {
        return hand_over(work(), 0, result);
    } catch (const std::exception& error) {
        return hand_over(error.what(), 1, result);
    }
}

std::int32_t compile(const char* graph, std::size_t graph_size,
                     const char* plan, std::size_t plan_size,
                     tilefold_bytes* result) {
    return guarded(result, [&] {
        return compile_text({graph, graph_size}, {plan, plan_size});
    });
}

std::int32_t explain(const char* graph, std::size_t graph_size,
                     const char* plan, std::size_t plan_size, const char* what,
                     tilefold_bytes* result) {
    return guarded(result, [&] {
        return explain_text({graph, graph_size}, {plan, plan_size}, what);
    });
}

void release(tilefold_bytes bytes) {
    std::free(bytes.data);
}

} // namespace
} // namespace tilefold::llvm_backend

extern "C" __attribute__((visibility("default"))) const tilefold_llvm_backend*
tilefold_llvm_get_backend(void) {
    static const tilefold_llvm_backend backend = {
        tilefold_llvm_abi, LLVM_VERSION_STRING, tilefold::llvm_backend::compile,
        tilefold::llvm_backend::explain, tilefold::llvm_backend::release};
    return &backend;
}
