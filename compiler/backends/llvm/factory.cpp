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

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <exception>

namespace tilefold::llvm_backend {
namespace {

/// The module of a request and what the caller must know to run it. The
/// context outlives the module.
struct Written {
    std::unique_ptr<llvm::LLVMContext> context;
    std::unique_ptr<llvm::Module> module;
    Layout layout;
    Isa isa;
};

Written write(std::string_view graph_text, std::string_view plan_text) {
    const ir::Graph graph = ir::parse_ir(graph_text);
    const Plan plan = parse_plan(plan_text);
    ModuleWriter writer(graph, plan);
    write_prepare(writer);
    if (plan.nest == Nest::Reduce)
        write_reduce_nest(writer);
    else
        write_values_nest(writer);
#ifndef NDEBUG
    std::string broken;
    llvm::raw_string_ostream stream(broken);
    if (llvm::verifyModule(writer.module(), &stream))
        internal_error("emitted LLVM IR is broken: " + broken);
#endif
    optimise(writer.module(), plan.isa);
    return {writer.take_context(), writer.take_module(), writer.layout,
            plan.isa};
}

Entries entries_of(const Image& image) {
    const auto find = [&](const char* name) {
        const auto found = image.entries.find(name);
        return found == image.entries.end() ? Entries::absent : found->second;
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

std::string compile_text(std::string_view graph, std::string_view plan) {
    const auto start = std::chrono::steady_clock::now();
    const Written written = write(graph, plan);
    Image image = link_flat(emit_object(*written.module, written.isa));
    Artifact artifact;
    artifact.layout = written.layout;
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

std::string explain_text(std::string_view graph, std::string_view plan,
                         std::string_view what) {
    const Written written = write(graph, plan);
    if (what == "asm")
        return emit_assembly(*written.module, written.isa);
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
