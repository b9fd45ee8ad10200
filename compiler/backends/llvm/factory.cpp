// compiler/backends/llvm/factory.cpp - texts in, bytes out; the C door.

#include "compiler/backends/llvm/factory.h"

#include "compiler/artifact.h"
#include "compiler/backends/llvm/portions.h"
#include "compiler/backends/llvm/target.h"
#include "compiler/passes.h"
#include "formulas/diagnostic.h"

#include <llvm/Config/llvm-config.h>

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <exception>

namespace tilefold::llvm_backend {
namespace {

std::string compile_text(std::string_view graph_text,
                         std::string_view plan_text,
                         const tilefold_helpers& helpers) {
    const auto start = std::chrono::steady_clock::now();
    const ir::Graph graph = ir::parse_ir(graph_text);
    const Plan plan = parse_plan(plan_text);
    Artifact artifact = make_image(graph, plan, helpers);
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
    if (plan.stage)
        without_scheduling(*written.context);
    if (what == "asm")
        return emit_assembly(*written.module, *machine);
    return text_of(*written.module);
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
                     tilefold_helpers helpers, tilefold_bytes* result) {
    return guarded(result, [&] {
        return compile_text({graph, graph_size}, {plan, plan_size}, helpers);
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
