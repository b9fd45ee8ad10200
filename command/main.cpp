// command/main.cpp - the command line without Python: `tilefold --help`.
//
// It uses tilefold.hpp alone, as any program may. The Python package has more:
// files of other kinds, progress, what a machine offers.

#include "command/values.h"

#include <CLI/CLI.hpp>

#include <chrono>
#include <cstdio>
#include <exception>
#include <stdexcept>
#include <string>
#include <vector>

namespace tilefold::command {
namespace {

constexpr const char* values_help =
    "A VALUE is a number (0.5), several (1,2,3), a file of NumPy (x.npy), or a "
    "type and a shape (float32[1000,3]), which is an array of zeros.";

/// CLI11's own tells of the largest double.
const CLI::Validator positive(
    [](const std::string& text) -> std::string {
        double value = 0;
        const bool is_number = CLI::detail::lexical_cast(text, value);
        return is_number && value > 0 ? "" : "'" + text + "' is not above 0";
    },
    "ABOVE 0", "positive");

/// What run and explain are told.
struct Words {
    std::string formula;
    std::vector<std::string> values;
    int threads = 0;
    double tolerance = 0;
    std::string isa, devices;
};

/// Adds what both take to a command.
void take(CLI::App& command, Words& words) {
    command.add_option("formula", words.formula, "as 'sum_j exp(-|x_i-y_j|²)'")
        ->type_name("FORMULA")
        ->required();
    command.add_option("values", words.values, "arrays and numbers by name")
        ->type_name("NAME=VALUE");
    command.add_option("--threads", words.threads, "at most so many")
        ->check(positive);
    command.add_option("--isa", words.isa, "x86-64-v3 …");
    command.add_option("--devices", words.devices,
                       "cuda:0, cuda; the CPU where it is not given");
    command
        .add_option("--tolerance", words.tolerance,
                    "error of products of vectors: 1e-6 …")
        ->check(positive);
    command.footer(values_help);
}

const char* given(const std::string& text) {
    return text.empty() ? nullptr : text.c_str();
}

Session session_of(const Words& words) {
    Options options;
    options.threads = words.threads;
    options.tolerance = words.tolerance;
    options.isa = given(words.isa);
    options.devices = given(words.devices);
    return Session(options);
}

Values values_of(const Words& words) {
    Values values;
    try {
        for (const std::string& value : words.values)
            values.add(value);
    } catch (const std::invalid_argument& error) {
        throw CLI::ValidationError(error.what());
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

/// Of run alone.
struct RunWords {
    std::string out;
    std::int64_t rows = 0; ///< that are checked
    bool is_quiet = false;
};

void run(const Words& words, const RunWords& own) {
    const Values values = values_of(words);
    const Session session = session_of(words);
    const Formula formula = session.formula(words.formula);
    const auto start = std::chrono::steady_clock::now();
    const Bound bound = formula.bind(values.arguments());
    const Tensor result = bound();
    const std::chrono::duration<double> took =
        std::chrono::steady_clock::now() - start;
    if (own.out.empty())
        std::fputs(print(result).c_str(), stdout);
    else
        write_npy(own.out, result);
    if (!own.is_quiet)
        std::fprintf(
            stderr, "%s\n",
            summary_of(result, took.count(), session.statistics()).c_str());
    if (own.rows)
        std::fprintf(stderr, "largest relative error %.2e\n",
                     bound.check_rows(Array(result.tensor()), own.rows));
}

void explain(const Words& words, const std::string& stage, bool is_json) {
    const Values values = values_of(words);
    const Session session = session_of(words);
    const auto formula = session.formula(words.formula);
    const std::string text =
        is_json ? formula.explain_json(values.arguments())
                : formula.explain(values.arguments(), given(stage));
    std::printf("%s\n", text.c_str());
}

void formulas() {
    std::string title;
    for (std::int64_t k = 0; k < tilefold_language_size(); ++k) {
        const char *kind = nullptr, *summary = nullptr;
        const char* name = tilefold_language_name(k, &kind, &summary);
        if (title != kind)
            std::printf("%s%s\n", k ? "\n" : "", kind);
        title = kind;
        std::printf("  %-14s  %s\n", name, summary);
    }
}

void clear_cache() {
    std::int64_t removed = 0;
    check(tilefold_cache_clear(nullptr, &removed));
    std::printf("%lld files removed\n", static_cast<long long>(removed));
}

/// The commands, which run as soon as their words have been read.
class Commands {
public:
    Commands() {
        app_.set_version_flag("--version",
                              std::string("tilefold ") + tilefold_version());
        app_.require_subcommand(1);
        add_run();
        add_explain();
        app_.add_subcommand("formulas", "tells what formulas may hold")
            ->final_callback(formulas);
        CLI::App* cache = app_.add_subcommand("cache", "kernels kept on disk");
        cache->require_subcommand(1);
        cache->add_subcommand("clear", "removes them")
            ->final_callback(clear_cache);
    }

    /// 2 where the words are wrong.
    int run_words(int count, char** words) {
        try {
            app_.parse(count, words);
        } catch (const CLI::ParseError& error) {
            return tell(error) ? 2 : 0;
        }
        return 0;
    }

private:
    void add_run() {
        CLI::App* command = app_.add_subcommand("run", "computes a formula");
        take(*command, run_words_);
        command->add_option("-o", own_.out,
                            "where the result goes, as .npy; else printed");
        command
            ->add_option("--check", own_.rows,
                         "computes so many rows again in float64, and prints "
                         "the error")
            ->check(positive);
        command->add_flag("-q", own_.is_quiet, "no summary");
        command->final_callback([this] { run(run_words_, own_); });
    }
    void add_explain() {
        CLI::App* command =
            app_.add_subcommand("explain", "tells how it is computed");
        take(*command, explain_words_);
        CLI::Option* stage = command->add_option(
            "--stage", stage_,
            "one of reading, AST, IR, plan, LLVM IR, assembly");
        command->add_flag("--json", is_json_, "all stages as one document")
            ->excludes(stage);
        command->final_callback(
            [this] { explain(explain_words_, stage_, is_json_); });
    }

    /// What is no command is named; CLI11 says that one is required.
    int tell(const CLI::ParseError& error) {
        const std::vector<std::string> rest = app_.remaining();
        if (!app_.get_subcommands().empty() || rest.empty())
            return app_.exit(error);
        const auto required = CLI::ExitCodes::RequiredError;
        return app_.exit(
            CLI::ParseError("'" + rest[0] + "' is no command", required));
    }

    CLI::App app_{"tilefold: formulas over pairs of points, reduced in tiles",
                  "tilefold"};
    Words run_words_, explain_words_;
    RunWords own_;
    std::string stage_;
    bool is_json_ = false;
};

} // namespace
} // namespace tilefold::command

/// 0; 1 for an error of a formula, an array or a file; 2 for wrong words.
int main(int count, char** words) {
    try {
        return tilefold::command::Commands().run_words(count, words);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 1;
    }
}
