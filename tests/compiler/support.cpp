// tests/compiler/support.cpp - formulas with typed arguments, golden files.

#include "tests/compiler/support.h"

#include "compiler/ir/text.h"
#include "compiler/language/vocabulary.h"
#include "formulas/parser.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace tilefold::tests {
namespace {

std::vector<std::string> split_at(std::string_view text, char separator) {
    std::vector<std::string> parts(1);
    int depth = 0;
    for (char c : text) {
        depth += (c == '[') - (c == ']');
        if (c == separator && depth == 0)
            parts.emplace_back();
        else
            parts.back() += c;
    }
    return parts;
}

/// "f32[2,3]"
void read_type(std::string text, ArgumentType& argument) {
    const std::size_t open = text.find('[');
    if (open != std::string::npos) {
        const auto lengths =
            split_at(text.substr(open + 1, text.size() - open - 2), ',');
        argument.rank = std::uint8_t(lengths.size());
        argument.rows = std::stoi(lengths[0]);
        argument.columns = lengths.size() > 1 ? std::stoi(lengths[1]) : 1;
        text = text.substr(0, open);
    }
    ASSERT_TRUE(parse_dtype(text, argument.dtype)) << text;
}

ArgumentType argument_of(const std::string& text) {
    ArgumentType argument;
    std::istringstream words(text);
    std::string type, preposition, role;
    words >> argument.name >> type >> preposition >> role;
    read_type(type, argument);
    if (preposition == "as")
        argument.declared = Axes::None;
    if (preposition == "on")
        argument.declared = role == "i" ? Axes::I : Axes::J;
    return argument;
}

} // namespace

std::vector<ArgumentType> arguments(std::string_view text) {
    std::vector<ArgumentType> all;
    if (text.empty())
        return all;
    for (const std::string& part : split_at(text, ','))
        all.push_back(argument_of(part));
    return all;
}

ir::Graph graph_of(std::string_view formula, std::string_view types) {
    return build(parse(formula, vocabulary()), arguments(types));
}

Program program_of(std::string_view formula, std::string_view types,
                   Mode mode) {
    return compile(parse(formula, vocabulary()), arguments(types), mode);
}

CpuProgram cpu_program_of(std::string_view formula, std::string_view types,
                          Mode mode, const CpuOptions& options) {
    return plan_for_cpu(program_of(formula, types, mode), options);
}

std::string print(const std::vector<SweepProgram>& sweeps) {
    std::string text;
    for (std::size_t k = 0; k < sweeps.size(); ++k) {
        const SweepProgram& sweep = sweeps[k];
        text += "sweep " + std::to_string(k) +
                (sweep.program.swapped ? ", i and j exchanged\n" : "\n");
        text += ir::print(sweep.program.graph());
        for (const SweepPart& part : sweep.parts)
            text += "leaves " + part.name + " : " + spelling_of(part.type) +
                    " from " + std::to_string(part.first) + "\n";
    }
    return text;
}

std::string message_of(const std::function<void()>& run) {
    try {
        run();
    } catch (const Error& error) {
        return error.what();
    }
    return "no error";
}

std::string refusal(std::string_view formula, std::string_view arguments) {
    return message_of([&] { graph_of(formula, arguments); });
}

void expect_golden(const std::string& name, const std::string& text) {
    const std::filesystem::path path =
        std::filesystem::path(TILEFOLD_GOLDEN_FOLDER) / name;
    const char* update = std::getenv("TILEFOLD_UPDATE_GOLDEN");
    if (update && std::string_view(update) == "1") {
        std::filesystem::create_directories(path.parent_path());
        std::ofstream(path) << text;
        return;
    }
    std::ifstream file(path);
    ASSERT_TRUE(file) << "no golden file " << path
                      << "; TILEFOLD_UPDATE_GOLDEN=1 writes it";
    std::stringstream wanted;
    wanted << file.rdbuf();
    EXPECT_EQ(wanted.str(), text) << path;
}

} // namespace tilefold::tests
