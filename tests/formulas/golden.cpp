// tests/formulas/golden.cpp - files of expected texts beside the tests.
#include "tests/formulas/golden.h"

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace tilefold::tests {

namespace {

std::string path_of(std::string_view file) {
    return std::string(TILEFOLD_FORMULAS_TESTS_FOLDER) + "/" +
           std::string(file);
}

std::string expand_one(const std::string& directive) {
    constexpr std::string_view times = "×";
    if (directive == "tab")
        return "\t";
    if (directive.starts_with("byte "))
        return {static_cast<char>(std::stoi(directive.substr(5), nullptr, 16))};
    const std::size_t at = directive.find(times);
    if (at == std::string::npos)
        throw std::runtime_error("unknown directive " + directive);
    std::string repeated;
    const int count = std::stoi(directive.substr(0, at));
    for (int index = 0; index < count; ++index)
        repeated += directive.substr(at + times.size());
    return repeated;
}

} // namespace

std::string read_golden(std::string_view file) {
    const std::ifstream input(path_of(file));
    if (!input)
        throw std::runtime_error("missing golden " + path_of(file));
    std::ostringstream text;
    text << input.rdbuf();
    return text.str();
}

void write_golden(std::string_view file, std::string_view text) {
    std::ofstream(path_of(file)) << text;
}

bool updating_golden() {
    const char* set = std::getenv("TILEFOLD_UPDATE_GOLDEN");
    return set != nullptr && std::string_view(set) == "1";
}

std::vector<std::string> lines_of(std::string_view text) {
    std::vector<std::string> lines;
    std::istringstream input{std::string(text)};
    for (std::string line; std::getline(input, line);)
        lines.push_back(line);
    return lines;
}

std::string expand(std::string_view text) {
    constexpr std::string_view open = "⟪", close = "⟫";
    std::string expanded;
    for (;;) {
        const std::size_t begin = text.find(open);
        const std::size_t end = text.find(close);
        if (begin == std::string_view::npos || end == std::string_view::npos)
            return expanded + std::string(text);
        expanded += text.substr(0, begin);
        const std::size_t start = begin + open.size();
        expanded += expand_one(std::string(text.substr(start, end - start)));
        text = text.substr(end + close.size());
    }
}

std::string first_line(std::string_view text) {
    return std::string(text.substr(0, text.find('\n')));
}

} // namespace tilefold::tests
