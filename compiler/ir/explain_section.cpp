// compiler/ir/explain_section.cpp - see explain_section.h.

#include "compiler/ir/explain_section.h"

#include "compiler/ir/document.h"

#include <nlohmann/json.hpp>

namespace tilefold {

ExplainSection::ExplainSection(std::string name, std::string text)
    : name(std::move(name)), text(std::move(text)) {}

ExplainSection::ExplainSection(std::string name, std::string text,
                               std::function<Document()> value)
    : name(std::move(name)), text(std::move(text)), value(std::move(value)) {}

std::string ExplainSection::title() const {
    if (sweep == 0)
        return name;
    return "sweep " + std::to_string(sweep) + " of " + std::to_string(sweeps) +
           ": " + name;
}

std::string joined(std::span<const ExplainSection> stages) {
    std::string text;
    for (const ExplainSection& stage : stages)
        text += (text.empty() ? "" : "\n") + ("── " + stage.title()) + "\n" +
                stage.text + (stage.text.ends_with('\n') ? "" : "\n");
    return text;
}

std::string json_of(std::string_view formula,
                    std::span<const ExplainSection> stages) {
    Document made = {{"document", "tilefold explain"},
                     {"version", explain_version},
                     {"formula", formula}};
    made["stages"] = Document::array();
    for (const ExplainSection& stage : stages) {
        Document one = {{"stage", stage.name}};
        if (stage.sweep > 0) {
            one["sweep"] = stage.sweep;
            one["sweeps"] = stage.sweeps;
        }
        if (stage.value)
            one["value"] = stage.value();
        one["text"] = stage.text;
        made["stages"].push_back(std::move(one));
    }
    return made.dump(2, ' ', false, Document::error_handler_t::replace);
}

} // namespace tilefold
