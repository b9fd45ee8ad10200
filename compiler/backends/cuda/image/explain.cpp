// compiler/backends/cuda/image/explain.cpp - see explain.h.

#include "compiler/backends/cuda/image/explain.h"

#include "compiler/backends/cuda/plan/model.h"
#include "compiler/ir/document.h"

#include <cstdio>
#include <nlohmann/json.hpp>

namespace tilefold::cuda {
namespace {

std::int64_t shared_by(const Resources& kernel, const Image& image) {
    const bool is_loop = Source::takes_shared(kernel.kernel);
    return kernel.shared_bytes + (is_loop ? image.shape.shared_bytes : 0);
}

std::string resources_of(const Image& image) {
    std::string text =
        image.compiler + " for " + image.architecture + ", " +
        std::to_string(std::int64_t(image.compile_milliseconds)) + " ms\n";
    if (image.resources.empty())
        text += "  PTX, which the driver compiles: nothing is known of its "
                "registers\n";
    for (const Resources& of : image.resources)
        text += "  " + of.kernel + ": " + std::to_string(of.registers) +
                " registers, " +
                std::to_string(of.spill_stores + of.spill_loads) +
                " bytes spilled, " + std::to_string(of.stack_bytes) +
                " bytes of stack, " + std::to_string(shared_by(of, image)) +
                " bytes of shared memory\n";
    return text;
}

/// Says what a tolerance changed; nothing where it changed nothing.
std::string accuracy_of(const Plan& plan) {
    std::string text;
    char error[16];
    const auto say = [&](const std::string& what, double typical) {
        std::snprintf(error, sizeof error, "%.0e", typical);
        text += "\n  " + what + error;
    };
    if (error_of(plan.multiply) > 0)
        say("inner products on tensor cores: an error of |x| |y| of ",
            error_of(plan.multiply));
    if (plan.expands)
        text += "\n  squared distances are |x|² + |y|² - 2 x·y of centred "
                "points";
    const char* of_weights = "weights of sums of vectors: an error of ";
    if (plan.halves && plan.weight_parts == 1)
        say(of_weights, half_error);
    if (plan.uses_value_matmul() && !plan.halves && plan.weight_parts < 3)
        say(of_weights, error_of(plan.weight_parts == 2 ? Multiply::Bf16x3
                                                        : Multiply::Bf16x1));
    return text.empty() ? text : text + "\n";
}

std::string text_of(const Plan& plan, const std::optional<Plan>& few) {
    std::string text = print(plan) + accuracy_of(plan);
    if (few)
        text += "\nof few rows, or few pairs in all: " + print(*few);
    return text;
}

/// What is known of an image; null of PTX's kernels.
Document document_of_resources(const Image& image) {
    Document made = {{"compiler", image.compiler},
                     {"architecture", image.architecture},
                     {"milliseconds", image.compile_milliseconds},
                     {"is_ptx", image.is_ptx}};
    made["bytes"] = Document::array();
    for (const auto& code : image.codes)
        made["bytes"].push_back(code.size());
    made["kernels"] = Document::array();
    for (const Resources& of : image.resources)
        made["kernels"].push_back({{"name", of.kernel},
                                   {"registers", of.registers},
                                   {"spill_stores", of.spill_stores},
                                   {"spill_loads", of.spill_loads},
                                   {"stack_bytes", of.stack_bytes},
                                   {"shared_bytes", shared_by(of, image)}});
    return made;
}

Document document_of_plans(const Plan& plan, const std::optional<Plan>& few) {
    return {{"chosen", document_of(plan)},
            {"of_few_rows", few ? document_of(*few) : Document(nullptr)},
            {"error", tilefold::document_of(error_of(plan.multiply))}};
}

Document document_of_kernel(const LoweredKernel& kernel) {
    Document made = {{"loop", spelling_of(kernel.loop)}};
    made["constants"] = Document::array();
    for (const Constant& constant : kernel.registers.constants)
        made["constants"].push_back({{"value", constant.id},
                                     {"kind", spelling_of(constant.kind)},
                                     {"length", constant.length},
                                     {"offset", constant.offset},
                                     {"in_memory", constant.in_memory()}});
    return made;
}

Document document_of_cost(const PairCost& cost) {
    const Card card;
    return {{"card", card.name},
            {"instructions", cost.single},
            {"special", cost.special},
            {"wide", cost.wide},
            {"tensor", cost.tensor},
            {"overhead", cost.overhead},
            {"bytes", cost.bytes},
            {"shared_bytes", cost.shared},
            {"pairs_per_second", cost.rate(card, true)},
            {"most_pairs_per_second", cost.rate(card, false)}};
}

std::vector<ExplainSection> stages(const ir::Graph& graph, const Plan& plan,
                                   const std::optional<Plan>& few,
                                   ExplainSection resources) {
    const LoweredKernel kernel = lower(graph, plan);
    const PairCost cost = cost_of_pair(graph, plan);
    return {{"CUDA plan", text_of(plan, few),
             [=] { return document_of_plans(plan, few); }},
            {"lowered kernel", print(kernel),
             [=] { return document_of_kernel(lower(graph, plan)); }},
            {"CUDA C++", emit(kernel).source.text()},
            std::move(resources),
            {std::string("expected on an ") + Card().name, print(cost),
             [=] { return document_of_cost(cost); }}};
}

} // namespace

std::vector<ExplainSection> explain(const ir::Graph& graph, const Plan& plan,
                                    const std::optional<Plan>& few,
                                    const Image& image) {
    return stages(graph, plan, few, {"registers", resources_of(image), [=] {
                                         return document_of_resources(image);
                                     }});
}

std::vector<ExplainSection> explain(const ir::Graph& graph, const Plan& plan,
                                    const std::optional<Plan>& few,
                                    const std::string& why) {
    return stages(graph, plan, few, {"registers", "not compiled: " + why});
}

} // namespace tilefold::cuda
