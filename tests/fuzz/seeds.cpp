// tests/fuzz/seeds.cpp - what mutations start from: formulas and words.
#include "tests/fuzz/seeds.h"

#include "compiler/build/build.h"
#include "compiler/ir/ir.h"
#include "compiler/language/vocabulary.h"
#include "formulas/catalogue.h"
#include "tests/formulas/golden.h"

#include <string_view>

namespace tilefold::tests {
namespace {

/// The formulas of a file of lines "formula ⇒ reading".
void add_corpus(std::vector<std::string>& formulas, std::string_view file) {
    for (const std::string& line : lines_of(read_golden(file))) {
        const std::size_t end = line.find(" ⇒");
        if (!line.starts_with('#') && end != std::string::npos)
            formulas.push_back(expand(line.substr(0, end)));
    }
}

/// The formulas of messages.txt: what stands between "===" and "---".
void add_messages(std::vector<std::string>& formulas) {
    std::string text;
    bool inside = false;
    for (const std::string& line : lines_of(read_golden("messages.txt"))) {
        if (line.starts_with("===")) {
            inside = true;
            text.clear();
        } else if (inside && line == "---") {
            formulas.push_back(expand(text));
            inside = false;
        } else if (inside) {
            text += (text.empty() ? "" : "\n") + line;
        }
    }
}

void add_tokens(std::vector<std::string>& words) {
#define TOKEN(kind, spelling, level) words.emplace_back(spelling);
#define SPELLING(kind, spelling) words.emplace_back(spelling);
#define LETTER(symbol, name) words.emplace_back(symbol);
#define REFUSED(spelling, code) words.emplace_back(spelling);
#define ALIAS(name, target) words.emplace_back(name);
#define SYNONYM(name, target) words.emplace_back(name);
#define REDUCTION_SYNONYM(name, target) words.emplace_back(name);
#include "formulas/tokens.def"
}

void add_names(std::vector<std::string>& words) {
    for (const std::string& name : vocabulary().names()) {
        words.push_back(name);
        if (vocabulary().function(name).most > 0)
            words.push_back(name + "(");
    }
    for (const ir::ReductionRow& row : ir::all_reduction_rows())
        for (const char* axes : {"_i", "_j", "_ij"}) {
            words.push_back(std::string(row.spelling) + axes);
            words.push_back(std::string(row.spelling) + axes + "(");
        }
    for (const ir::OpRow& row : ir::all_op_rows())
        if (!row.keops.empty())
            words.push_back(std::string(row.keops) + "(");
}

Seeds read_seeds() {
    Seeds all;
    add_corpus(all.formulas, "corpus.txt");
    add_messages(all.formulas);
    for (const NamedFormula& row : catalogue)
        all.formulas.emplace_back(row.formula);
    add_corpus(all.keops, "keops.txt");
    add_tokens(all.words);
    add_names(all.words);
    for (const char* word :
         {"x_i",   "x_j",        "y_j",  "y_i",   "b_j",     "l",     "A",
          "i",     "j",          "xᵢ",   "yⱼ",    "0",       "1",     "2",
          "3",     "0.5",        "1e-3", "1e308", "1e999",   "²",     "⁻¹",
          "^2",    "^-3",        "[0]",  "[-1]",  "[0:2]",   "[1:]",  "pi",
          "inf",   "_i",         "_j",   "_ij",   " ",       "\n",    "k(u,v)",
          "with",  " with ",     "u",    "v",     "k(u,v)=", "x_i)",  ", x_i)",
          "Vi(3)", "Var(0,3,0)", "^T",   "N",     "M",       "D",     "(i≠j)",
          "[i≠j]", "3/2",        "1{",   "_1",    "_+",      "{j≠i}", "im"})
        all.words.emplace_back(word);
    return all;
}

} // namespace

const Seeds& seeds() {
    static const Seeds all = read_seeds();
    return all;
}

const std::vector<std::string>& keops_aliases() {
    static const std::vector<std::string> aliases = {
        "x = Vi(3)", "y = Vj(3)", "b = Vj(2)", "g = Pm(1)", "s = Pm(3)"};
    return aliases;
}

} // namespace tilefold::tests
