// tests/formulas/test_messages.cpp - messages.txt: whole messages, one for
// every error that this room raises.
//
//   === Code                        natural maths, or
//   === Code | Sum | x = Vi(3); …   KeOps spelling: reduction and aliases
//   the formula, on one or more lines
//   ---
//   the message, up to the next ===
#include "formulas/diagnostic.h"
#include "formulas/keops_syntax.h"
#include "formulas/parser.h"
#include "tests/formulas/golden.h"
#include "tests/formulas/vocabulary.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <set>

namespace tilefold::tests {

namespace {

struct Block {
    std::string header; ///< after "=== "
    std::string formula;
    std::string message;
};

std::vector<Block> read_blocks() {
    std::vector<Block> blocks;
    std::string* into = nullptr;
    for (const std::string& line : lines_of(read_golden("messages.txt"))) {
        if (line.starts_with("=== ")) {
            blocks.push_back({line.substr(4), "", ""});
            into = &blocks.back().formula;
        } else if (line == "---") {
            into = &blocks.back().message;
        } else if (into != nullptr) {
            *into += (into->empty() ? "" : "\n") + line;
        }
    }
    for (Block& block : blocks)
        while (block.message.ends_with('\n'))
            block.message.pop_back();
    return blocks;
}

std::vector<std::string> split(const std::string& text,
                               const std::string& separator) {
    std::vector<std::string> parts;
    std::size_t at = 0;
    for (;;) {
        const std::size_t end = text.find(separator, at);
        parts.push_back(text.substr(at, end - at));
        if (end == std::string::npos)
            return parts;
        at = end + separator.size();
    }
}

void parse_block(const Block& block) {
    const auto parts = split(block.header, " | ");
    const std::string formula = expand(block.formula);
    if (parts.size() == 1) {
        parse(formula, vocabulary());
        return;
    }
    KeopsReduction reduction;
    reduction.operation = parts[1];
    const auto aliases =
        parts.size() > 2 ? split(parts[2], "; ") : std::vector<std::string>{};
    parse_keops(formula, aliases, reduction, vocabulary());
}

/// "Code\nmessage", or why there is none.
std::string outcome(const Block& block) {
    try {
        parse_block(block);
    } catch (const Error& error) {
        return std::string(error.code_name()) + "\n" + error.what();
    }
    return "no error";
}

/// The word at `at`, as far as letters and digits go.
std::string word_at(const std::string& line, std::size_t at) {
    std::size_t end = at;
    while (end < line.size() &&
           std::isalnum(static_cast<unsigned char>(line[end])) != 0)
        ++end;
    return line.substr(at, end - at);
}

/// The codes named in a line of a source or of a table.
void collect_codes(const std::string& line, std::set<std::string>& codes) {
    constexpr std::string_view scope = "Code::";
    if (line.starts_with("//"))
        return;
    for (std::size_t at = line.find(scope); at != std::string::npos;
         at = line.find(scope, at + 1))
        codes.insert(word_at(line, at + scope.size()));
}

/// The codes that the sources of the room raise.
std::set<std::string> raised_codes() {
    std::set<std::string> codes;
    for (const auto& entry :
         std::filesystem::directory_iterator(TILEFOLD_FORMULAS_FOLDER)) {
        if (entry.path().extension() == ".md")
            continue;
        std::ifstream source(entry.path());
        for (std::string line; std::getline(source, line);)
            collect_codes(line, codes);
    }
    codes.erase("InternalError"); // a bug of ours, which no formula shows
    return codes;
}

} // namespace

TEST(Messages, AreExactlyThese) {
    std::string written;
    for (const Block& block : read_blocks()) {
        const std::string got = outcome(block);
        const std::string code = split(block.header, " | ")[0];
        if (updating_golden()) {
            const std::string message = got.substr(got.find('\n') + 1);
            written += "=== " + block.header + "\n" + block.formula +
                       "\n---\n" + message + "\n\n";
        }
        if (updating_golden())
            EXPECT_EQ(first_line(got), code) << block.formula;
        else
            EXPECT_EQ(got, code + "\n" + block.message) << block.formula;
    }
    if (updating_golden())
        write_golden("messages.txt", written);
}

TEST(Messages, CoverEveryErrorOfTheRoom) {
    std::set<std::string> covered;
    for (const Block& block : read_blocks())
        covered.insert(split(block.header, " | ")[0]);
    EXPECT_GT(raised_codes().size(), 60U);
    for (const std::string& code : raised_codes())
        EXPECT_TRUE(covered.contains(code)) << code << " has no golden";
}

TEST(Messages, FitInAHundredColumns) {
    for (const Block& block : read_blocks())
        for (const std::string& line : lines_of(block.message)) {
            const auto characters = std::ranges::count_if(
                line, [](unsigned char byte) { return (byte & 0xC0) != 0x80; });
            EXPECT_LE(characters, 100) << line;
        }
}

} // namespace tilefold::tests
