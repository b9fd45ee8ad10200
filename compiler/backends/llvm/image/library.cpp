// compiler/backends/llvm/image/library.cpp - texts in, bytes out; the C door.

#include "compiler/backends/llvm/factory.h"

#include "compiler/artifact/artifact.h"
#include "compiler/backends/llvm/image/compilation_units.h"
#include "compiler/backends/llvm/image/target.h"
#include "compiler/ir/text.h"
#include "formulas/diagnostic.h"

#include <llvm/Config/llvm-config.h>
#include <llvm/Support/ErrorHandling.h>

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <new>
#include <stdexcept>
#include <string>

namespace tilefold::llvm_backend {
namespace {

std::string compile_text(std::string_view graph_text,
                         std::string_view plan_text,
                         const tilefold_caller& caller) {
    const auto start = std::chrono::steady_clock::now();
    const ir::Graph graph = ir::parse_ir(graph_text);
    const Plan plan = parse_plan(plan_text);
    Artifact artifact = make_image(graph, plan, caller);
    artifact.compiler = "LLVM " LLVM_VERSION_STRING;
    artifact.compile_milliseconds =
        std::chrono::duration<double, std::milli>(
            std::chrono::steady_clock::now() - start)
            .count();
    const std::vector<std::byte> bytes = serialise(artifact);
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// Explains the code as one module, which reads better.
std::string explain_text(std::string_view graph_text,
                         std::string_view plan_text, std::string_view what,
                         const tilefold_caller& caller) {
    const ir::Graph graph = ir::parse_ir(graph_text);
    const Plan plan = parse_plan(plan_text);
    auto machine = make_machine(plan.isa);
    const LoweredKernel kernel = lower(graph, plan);
    Written written =
        write(graph, plan, kernel, CompilationUnit::Whole, caller);
    if (plan.min_stage_cycles)
        written.gate->leave_out(scheduling);
    const auto text = [&] {
        optimise(*written.module, *machine, plan.isa, caller);
        return what == "asm" ? emit_assembly(*written.module, *machine)
                             : text_of(*written.module);
    };
    return unless_early(text, written.module, written.context, machine);
}

/// Hands `text` over; the caller gives it back through release().
tilefold_outcome hand_over(std::string_view text, tilefold_outcome outcome,
                           tilefold_bytes* result) {
    result->data = static_cast<char*>(std::malloc(text.size() + 1));
    result->size = result->data ? text.size() : 0;
    if (!result->data)
        return tilefold_no_memory;
    std::memcpy(result->data, text.data(), text.size());
    return outcome;
}

template <class Work>
tilefold_outcome guarded(tilefold_bytes* result, Work work) {
    *result = {nullptr, 0};
    try {
        const Reserve reserve;
        return hand_over(work(), tilefold_made, result);
    } catch (const Abandoned&) {
        return tilefold_abandoned;
    } catch (const TooLarge&) {
        return tilefold_too_large;
    } catch (const NoTarget& error) {
        return hand_over(error.isa, tilefold_no_target, result);
    } catch (const Starved&) {
        return tilefold_no_memory;
    } catch (const std::bad_alloc&) {
        return tilefold_no_memory;
    } catch (const std::exception& error) {
        return hand_over(error.what(), tilefold_failed, result);
    }
}

/// LLVM ends the process where its selection of instructions meets what it
/// does not know, unless such a function leaves by an exception.
[[noreturn]] void fail_instead(void*, const char* reason, bool) {
    throw std::runtime_error(std::string("LLVM: ") + reason);
}

/// Where the reserve is used up within a pass, too, LLVM would end the process.
[[noreturn]] void starve(void*, const char*, bool) {
    throw std::bad_alloc();
}

tilefold_outcome compile(const char* graph, std::size_t graph_size,
                         const char* plan, std::size_t plan_size,
                         tilefold_caller caller, tilefold_bytes* result) {
    return guarded(result, [&] {
        return compile_text({graph, graph_size}, {plan, plan_size}, caller);
    });
}

tilefold_outcome explain(const char* graph, std::size_t graph_size,
                         const char* plan, std::size_t plan_size,
                         const char* what, tilefold_caller caller,
                         tilefold_bytes* result) {
    return guarded(result, [&] {
        return explain_text({graph, graph_size}, {plan, plan_size}, what,
                            caller);
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
    [[maybe_unused]] static const bool installed = [] {
        llvm::install_fatal_error_handler(tilefold::llvm_backend::fail_instead);
        llvm::install_bad_alloc_error_handler(tilefold::llvm_backend::starve);
        return true;
    }();
    return &backend;
}
