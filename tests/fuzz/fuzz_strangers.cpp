// tests/fuzz/fuzz_strangers.cpp - fuzzes a session of untrusted formulas: each
// is refused or computed, within 2 s of a processor and 512 MB, by the library
// as programs have it, compiler and all.
#include "tests/c/arrays.h"
#include "tests/fuzz/formula_input.h"
#include "tests/fuzz/harness.h"

#include <chrono>
#include <list>
#include <stdexcept>

namespace tilefold::tests {
namespace {

using test::Array;
using test::Owned;

/// What a run is given: time is no limit of ours, but the caller's.
constexpr double most_run_seconds = 0.3;

/// A session of untrusted formulas that keeps nothing.
tilefold_session* make_session() {
    tilefold_options options = TILEFOLD_OPTIONS_INIT;
    options.threads = 2;
    options.untrusted = 1;
    options.cache_directory = "";
    tilefold_session* made = nullptr;
    if (const Owned<tilefold_error> error(
            tilefold_session_create(&options, &made));
        error)
        throw std::runtime_error(tilefold_error_message(error.get()));
    return made;
}

/// Whether there is no error; one that is the library's own fault is thrown.
bool succeeded(tilefold_error* given) {
    const Owned<tilefold_error> error(given);
    if (tilefold_error_family(given) == TILEFOLD_ERROR_INTERNAL)
        throw std::runtime_error(tilefold_error_message(given));
    return !given;
}

class Call {
public:
    Call(Random& random, const tilefold_formula* formula) {
        const std::int64_t count = tilefold_formula_names(formula);
        const int length = 1 + below(random, 4);
        for (std::int64_t k = 0; k < count; ++k) {
            std::int32_t axes = 0;
            const char* name = tilefold_formula_name(formula, k, &axes);
            arguments_.push_back(some_argument(random, name, axes, length));
        }
    }
    std::span<const tilefold_argument> arguments() const { return arguments_; }

private:
    tilefold_argument some_argument(Random& random, const char* name,
                                    std::int32_t axes, int length) {
        if (axes == TILEFOLD_AXES_PARAMETER && below(random, 2))
            return TILEFOLD_NUMBER(name, below(random, 5) * 0.5);
        std::vector<std::int64_t> shape;
        if (axes != TILEFOLD_AXES_PARAMETER)
            shape.push_back(axes == TILEFOLD_AXES_J ? 150 : 130);
        if (below(random, 2) || shape.empty())
            shape.push_back(length);
        arrays_.emplace_back(shape);
        return TILEFOLD_ARRAY(name, &arrays_.back().tensor);
    }

    std::list<Array<double>> arrays_;
    std::vector<tilefold_argument> arguments_;
};

struct Stop {
    std::chrono::steady_clock::time_point at;
};

int32_t goes_on(void* context, double, double) {
    return std::chrono::steady_clock::now() < static_cast<Stop*>(context)->at;
}

Reached run_stranger(Random& random) {
    const std::string text = random_input(random).text;
    const Owned<tilefold_session> session(make_session());
    tilefold_formula* parsed = nullptr;
    if (!succeeded(
            tilefold_formula_parse(session.get(), text.c_str(), &parsed)))
        return Reached::Refused;
    const Owned<tilefold_formula> formula(parsed);
    const Call call(random, parsed);
    tilefold_bound* made = nullptr;
    if (!succeeded(tilefold_bind(parsed, call.arguments().data(),
                                 std::int64_t(call.arguments().size()), nullptr,
                                 &made)))
        return Reached::Half;
    const Owned<tilefold_bound> bound(made);
    std::vector<Owned<DLManagedTensorVersioned>> results;
    std::vector<const DLTensor*> outs;
    for (std::int64_t k = 0; k < tilefold_bound_results(made); ++k) {
        DLManagedTensorVersioned* tensor = nullptr;
        if (!succeeded(tilefold_bound_allocate(made, k, nullptr, &tensor)))
            return Reached::Half;
        results.emplace_back(tensor);
        outs.push_back(&tensor->dl_tensor);
    }
    Stop stop{std::chrono::steady_clock::now() +
              std::chrono::milliseconds(int(most_run_seconds * 1e3))};
    tilefold_run_options options = TILEFOLD_RUN_OPTIONS_INIT;
    options.poll = goes_on;
    options.context = &stop;
    return succeeded(tilefold_bound_run(made, outs.data(),
                                        std::int64_t(outs.size()), &options))
               ? Reached::End
               : Reached::Half;
}

} // namespace
} // namespace tilefold::tests

int main(int count, char** words) {
    using namespace tilefold::tests;
    const Target target{
        .run = run_stranger,
        .describe =
            [](Random& random) { return describe(random_input(random)); },
        .half = "parsed",
        .end = "computed",
        .most_seconds = 2 + 2 * most_run_seconds,
        .most_megabytes = 512,
    };
    return fuzz(target, count, words);
}
