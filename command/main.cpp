// command/main.cpp - the command line without Python: `tilefold --help`.
//
// It uses tilefold.hpp alone, as any program may. The Python package has more:
// files of other kinds, progress, what a machine offers.

#include "command/values.h"

#include <chrono>
#include <cstdio>
#include <exception>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

namespace tilefold::command {
namespace {

constexpr const char* help =
    R"(tilefold: formulas over pairs of points, reduced in tiles

  tilefold run FORMULA NAME=VALUE … [-o out.npy] [--check ROWS]
  tilefold explain FORMULA NAME=VALUE … [--stage STAGE]
  tilefold formulas              what formulas may hold
  tilefold cache clear           removes the kernels kept on disk
  tilefold --version

A VALUE is a number (0.5), several (1,2,3), a file of NumPy (x.npy), or a type
and a shape (float32[1000,3]), which is an array of zeros.

of run and explain:
  --threads N       at most so many
  --isa ISA         x86-64-v3 …
  --devices DEVICES cuda:0, cuda; the CPU where it is not given
  --tolerance ERROR of products of vectors: 1e-6 …
of run:
  -o FILE           where the result goes, as .npy; else it is printed
  --check ROWS      computes rows again in float64, and prints the error
  -q                no summary
of explain:
  --stage STAGE     one of them: reading, AST, IR, plan, LLVM IR, assembly
)";

/// What is wrong with the words themselves.
class UsageError : public std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// The words of a command: options with their values, and the others.
struct Words {
    std::map<std::string, std::string> options;
    std::vector<std::string> others;

    bool has(const char* name) const { return options.contains(name); }
    const char* text(const char* name) const {
        const auto place = options.find(name);
        return place == options.end() ? nullptr : place->second.c_str();
    }
    double number(const char* name) const {
        const char* given = text(name);
        if (!given)
            return 0;
        std::size_t read = 0;
        double value = 0;
        try {
            value = std::stod(given, &read);
        } catch (const std::exception&) {
            read = 0;
        }
        if (read == 0 || given[read] || !(value > 0))
            throw UsageError("'" + std::string(given) + "' is no number for " +
                             name);
        return value;
    }
};

/// `with_value` are the options that take the next word, `alone` the others.
Words read_words(int count, char** words,
                 const std::vector<std::string>& with_value,
                 const std::vector<std::string>& alone = {}) {
    const auto is_of = [](const std::string& word, const auto& all) {
        return std::find(all.begin(), all.end(), word) != all.end();
    };
    Words read;
    for (int k = 0; k < count; ++k) {
        const std::string word = words[k];
        if (is_of(word, alone))
            read.options[word];
        else if (is_of(word, with_value) && k + 1 < count)
            read.options[word] = words[++k];
        else if (word.size() > 1 && word[0] == '-' && is_of(word, with_value))
            throw UsageError("a value is missing behind " + word);
        else if (word.starts_with("--"))
            throw UsageError("there is no option " + word);
        else
            read.others.push_back(word);
    }
    return read;
}

Session session_of(const Words& words) {
    Options options;
    options.threads = int(words.number("--threads"));
    options.tolerance = words.number("--tolerance");
    options.isa = words.text("--isa");
    options.devices = words.text("--devices");
    return Session(options);
}

Values values_of(const Words& words) {
    if (words.others.empty())
        throw UsageError("a formula is missing");
    Values values;
    try {
        for (std::size_t k = 1; k < words.others.size(); ++k)
            values.add(words.others[k]);
    } catch (const std::invalid_argument& error) {
        throw UsageError(error.what());
    }
    return values;
}

std::string summary_of(const Tensor& result, double seconds,
                       const tilefold_statistics& counted) {
    std::string shape;
    for (const std::int64_t extent : result.shape())
        shape += (shape.empty() ? "" : ", ") + std::to_string(extent);
    char text[200];
    std::snprintf(text, sizeof text, "%s (%s) in %.3g s, %s",
                  name_of(result.type()).c_str(), shape.c_str(), seconds,
                  counted.compiles ? "compiled" : "kernel read from the cache");
    return text;
}

int run(int count, char** given) {
    const Words words = read_words(
        count, given,
        {"-o", "--check", "--threads", "--isa", "--devices", "--tolerance"},
        {"-q"});
    const Values values = values_of(words);
    const Session session = session_of(words);
    const Formula formula = session.formula(words.others[0]);
    const auto start = std::chrono::steady_clock::now();
    const Bound bound = formula.bind(values.arguments());
    const Tensor result = bound();
    const std::chrono::duration<double> took =
        std::chrono::steady_clock::now() - start;
    if (const char* path = words.text("-o"))
        write_npy(path, result);
    else
        std::fputs(print(result).c_str(), stdout);
    if (!words.has("-q"))
        std::fprintf(
            stderr, "%s\n",
            summary_of(result, took.count(), session.statistics()).c_str());
    if (words.has("--check"))
        std::fprintf(stderr, "largest relative error %.2e\n",
                     bound.check_rows(Array(result.tensor()),
                                      std::int64_t(words.number("--check"))));
    return 0;
}

int explain(int count, char** given) {
    const Words words = read_words(
        count, given,
        {"--stage", "--threads", "--isa", "--devices", "--tolerance"});
    const Values values = values_of(words);
    const Session session = session_of(words);
    const std::string text =
        session.formula(words.others[0])
            .explain(values.arguments(), words.text("--stage"));
    std::printf("%s\n", text.c_str());
    return 0;
}

int formulas() {
    std::string title;
    for (std::int64_t k = 0; k < tilefold_language_size(); ++k) {
        const char *kind = nullptr, *summary = nullptr;
        const char* name = tilefold_language_name(k, &kind, &summary);
        if (title != kind)
            std::printf("%s%s\n", k ? "\n" : "", kind);
        title = kind;
        std::printf("  %-14s  %s\n", name, summary);
    }
    return 0;
}

int cache(int count, char** words) {
    if (count != 1 || std::string(words[0]) != "clear")
        throw UsageError("pass 'cache clear'");
    std::int64_t removed = 0;
    check(tilefold_cache_clear(nullptr, &removed));
    std::printf("%lld files removed\n", static_cast<long long>(removed));
    return 0;
}

int command(int count, char** words) {
    const std::string name = count > 1 ? words[1] : "--help";
    if (name == "run")
        return run(count - 2, words + 2);
    if (name == "explain")
        return explain(count - 2, words + 2);
    if (name == "formulas")
        return formulas();
    if (name == "cache")
        return cache(count - 2, words + 2);
    if (name == "--version")
        return std::printf("tilefold %s\n", tilefold_version()) < 0;
    if (name == "--help" || name == "-h")
        return std::fputs(help, stdout) < 0;
    throw UsageError("there is no command '" + name + "'");
}

} // namespace
} // namespace tilefold::command

/// 0; 1 for an error of a formula, an array or a file; 2 for wrong words.
int main(int count, char** words) {
    try {
        return tilefold::command::command(count, words);
    } catch (const tilefold::command::UsageError& error) {
        std::fprintf(stderr, "tilefold: %s; see tilefold --help\n",
                     error.what());
        return 2;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 1;
    }
}
