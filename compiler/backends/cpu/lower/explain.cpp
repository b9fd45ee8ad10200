// compiler/backends/cpu/lower/explain.cpp - see explain.h.

#include "compiler/backends/cpu/lower/explain.h"

#include "compiler/backends/cpu/choose_plan.h"
#include "compiler/backends/cpu/lower/lowered_kernel.h"
#include "compiler/backends/cpu/plan_cost.h"
#include "compiler/ir/document.h"
#include "compiler/passes/exponents.h"

#include <iomanip>
#include <nlohmann/json.hpp>
#include <sstream>

namespace tilefold {
namespace {

/// Says what the model expects of a plan on one core.
std::string expected(const CpuProgram& program) {
    const double time = nanoseconds_per_pair(program.graph(), program.plan);
    std::ostringstream text;
    text << std::setprecision(2) << "  expected of one core: " << time
         << " ns a pair, " << 1 / time << " G pairs/s\n";
    return text.str();
}

/// Says which exponents a large call may have a kernel for.
std::string exponents(const ir::Graph& graph) {
    std::string text;
    for (ir::ValueId exponent : ir::uniform_exponents(graph))
        text += (text.empty() ? "  kernels of their own for exponents of a call"
                                " that are whole or half: %"
                              : ", %") +
                std::to_string(exponent);
    return text.empty() ? text : text + "\n";
}

/// The plan, what it should cost, and the others that were thought of.
std::string plans(const CpuProgram& program) {
    const PlanKindRow& kind = row_of(kind_of(program.graph(), program.plan));
    std::string text = print(program.plan) + "\n" + expected(program);
    text += "  of the kind " + std::string(kind.spelling) + ": " +
            std::string(kind.doc) + "\n";
    for (const Plan& plan :
         enumerate_plans(program.graph(), program.plan.nest, program.plan.isa,
                         parts_of(program.plan)))
        if (plan != program.plan)
            text += "  or " + print(plan) + "\n";
    return text + exponents(program.graph());
}

/// What the text of plans says, and what each of the others should cost.
Document document_of_plans(const CpuProgram& program) {
    const ir::Graph& graph = program.graph();
    const auto costs = [&](const Plan& plan) {
        return Document{
            {"plan", document_of(plan)},
            {"nanoseconds_per_pair", nanoseconds_per_pair(graph, plan)},
            {"slots_per_pair", code_slots_of_pair(graph, plan)}};
    };
    Document made = {{"chosen", costs(program.plan)},
                     {"kind", row_of(kind_of(graph, program.plan)).spelling},
                     {"key", program.key.hex()}};
    made["others"] = Document::array();
    for (const Plan& plan :
         enumerate_plans(graph, program.plan.nest, program.plan.isa,
                         parts_of(program.plan)))
        if (plan != program.plan)
            made["others"].push_back(costs(plan));
    made["exponents"] = ir::uniform_exponents(graph);
    return made;
}

} // namespace

std::vector<ExplainSection> explain_plan(const CpuProgram& program) {
    return {
        {"plan", plans(program), [=] { return document_of_plans(program); }},
        {"lowered kernel",
         print(lower(program.graph(), program.plan), program.graph(),
               program.plan),
         [=] {
             return document_of(lower(program.graph(), program.plan),
                                program.graph(), program.plan);
         }},
    };
}

} // namespace tilefold
