// bench/calls/calls.cpp - a formula bound to several arrays, run in turn.
//
// What a C++ program does whose arrays stay where they are: it binds once and
// runs often. The time of a round is taken by the caller, over many rounds.

#include <tilefold/tilefold.hpp>

#include <cstdint>
#include <cstdio>
#include <exception>
#include <memory>
#include <utility>
#include <vector>

namespace {

struct Call {
    tilefold::Bound bound;
    tilefold::Array out;
};

struct Calls {
    tilefold::Session session;
    std::vector<float> results;
    std::vector<Call> calls;

    explicit Calls(const tilefold::Options& options) : session(options) {}
};

std::unique_ptr<Calls> open(const char* text, std::int64_t count,
                            const float* const* arrays,
                            const std::int64_t* rows, std::int64_t width) {
    tilefold::Options options;
    options.cache_directory = ""; // compiles are counted
    auto made = std::make_unique<Calls>(options);
    const tilefold::Formula formula = made->session.formula(text);
    made->results.resize(std::size_t(count));
    for (std::int64_t k = 0; k < count; ++k) {
        tilefold::Bound bound =
            formula.bind({{"x", {arrays[k], {rows[k], width}}}});
        const tilefold::Array out(&made->results[std::size_t(k)],
                                  bound.shape());
        made->calls.push_back({std::move(bound), out});
    }
    return made;
}

} // namespace

extern "C" {

/// A handle, or null with the reason written. x is float32, (rows[k], width),
/// and has to live as long as the handle, which lives as long as the process.
void* tilefold_calls_open(const char* text, std::int64_t count,
                          const float* const* arrays, const std::int64_t* rows,
                          std::int64_t width, char* reason,
                          std::int64_t capacity) {
    try {
        return open(text, count, arrays, rows, width).release();
    } catch (const std::exception& error) {
        std::snprintf(reason, std::size_t(capacity), "%s", error.what());
        return nullptr;
    }
}

std::int64_t tilefold_calls_compiles(void* handle) {
    return static_cast<Calls*>(handle)->session.statistics().compiles;
}

/// Runs each call so many times, in turn; results has a number for each.
int tilefold_calls_run(void* handle, std::int64_t rounds, float* results) {
    Calls& made = *static_cast<Calls*>(handle);
    try {
        for (std::int64_t round = 0; round < rounds; ++round)
            for (const Call& call : made.calls)
                call.bound.run(call.out);
    } catch (const std::exception&) {
        return 1;
    }
    for (std::size_t k = 0; k < made.results.size(); ++k)
        results[k] = made.results[k];
    return 0;
}
}
