// runtime/session/session.cpp - the handles Session and Formula.

#include "runtime/session/session.h"

#include "compiler/backends/cpu/choose_plan.h"
#include "formulas/diagnostic.h"
#include "formulas/names.h"
#include "runtime/bind/bind.h"
#include "runtime/bind/call_location.h"
#include "runtime/bind/session_state.h"

#include <new>

namespace tilefold {
namespace {

void allocate(Array& result) {
    double bytes = double(size_of(result.dtype)); // may exceed any integer
    for (std::int64_t extent : result.shape)
        bytes *= double(extent);
    try {
        if (bytes > 0x1p62)
            throw std::bad_alloc();
        result.bytes.resize(std::size_t(bytes));
    } catch (const std::bad_alloc&) {
        fail(Code::OutOfMemory,
             {"the result", std::to_string(std::int64_t(bytes / 1e6)) + " MB",
              "reduce it, or take a part of the rows at a time"});
    }
}

std::shared_ptr<detail::FormulaState> derived(const detail::FormulaState& from,
                                              DerivationStep step) {
    for (std::string& name : step.names)
        name = normalise_name(name);
    step.seed = normalise_name(step.seed);
    ForkGate::Pass inside(from.session->making);
    auto state = std::make_shared<detail::FormulaState>();
    state->session = from.session;
    state->parsed = from.parsed->derived(step);
    state->settings = from.settings;
    return state;
}

} // namespace

Session::Session(const Options& options)
    : state_(std::make_shared<detail::SessionState>(options)) {}

Session::~Session() = default;

Formula Session::formula(std::string_view text) const {
    auto state = std::make_shared<detail::FormulaState>();
    state->session = state_;
    state->parsed = state_->parsed(text);
    state->settings = state_->settings();
    return Formula(std::move(state));
}

Array Session::reduce(std::string_view text,
                      std::initializer_list<NamedView> arguments,
                      const RunOptions& options) const {
    return formula(text)(arguments, options);
}

Statistics Session::statistics() const {
    Statistics counted = state_->provider.statistics();
    state_->devices.add_to(counted);
    counted.runs = state_->runs;
    counted.tiles_visited = state_->tiles_visited;
    counted.tiles_skipped = state_->tiles_skipped;
    return counted;
}

std::vector<std::string> Session::describe_gpus() const {
    return state_->devices.describe();
}

int Session::threads() const {
    return state_->pool.threads();
}

const Options& Session::options() const {
    return state_->options;
}

std::vector<ExplainSection>
Session::explain(std::string_view text, std::span<const NamedView> arguments,
                 const BindOptions& options) const {
    return formula(text).explain(arguments, options);
}

std::vector<std::string> Formula::plans(std::span<const NamedView> arguments,
                                        const BindOptions& options) const {
    const ast::Formula& tree = state_->parsed->tree();
    const Derivation& derivation = state_->parsed->derivation();
    ForkGate::Pass inside(state_->session->making);
    const auto [types, mode, purpose] = compilable(*state_, arguments, options);
    const CpuProgram program = plan_for_cpu(
        needs_sweeps(tree, derivation, types, mode)
            ? compile_sweeps(tree, derivation, types, mode, purpose)
                  .sweeps.front()
                  .program
            : compile(tree, types, mode, purpose),
        state_->settings->cpu_options());
    std::vector<std::string> texts;
    for (const Plan& plan :
         enumerate_plans(program.graph(), program.plan.nest, program.plan.isa,
                         parts_of(program.plan)))
        texts.push_back(print(plan));
    return texts;
}

Formula::Formula(std::shared_ptr<detail::FormulaState> state)
    : state_(std::move(state)) {}

const std::string& Formula::text() const {
    return state_->parsed->text();
}

std::span<const FreeName> Formula::names() const {
    return state_->parsed->free_names();
}

Bound Formula::bind(std::span<const NamedView> arguments,
                    const BindOptions& options) const {
    return Bound(tilefold::bind(*state_, arguments, options));
}

Formula Formula::with(const Options& options) const {
    if (!sets_any(options, Scope::Call))
        return *this;
    auto state = std::make_shared<detail::FormulaState>(*state_);
    state->settings = state->session->settings_of(
        merged(state_->settings->options, options, Scope::Call));
    return Formula(std::move(state));
}

Array Formula::operator()(std::span<const NamedView> arguments,
                          const RunOptions& options) const {
    return std::move(results(arguments, options).front());
}

std::vector<Array> Formula::results(std::span<const NamedView> arguments,
                                    const RunOptions& options) const {
    Bound bound = bind(arguments);
    require_host(bound.location(), "a call that makes its result");
    std::vector<Array> results(bound.results());
    std::vector<Output> outs;
    for (std::size_t r = 0; r < results.size(); ++r) {
        const Extents& shape = bound.shape(r);
        results[r].dtype = bound.dtype(r);
        results[r].shape.assign(shape.begin(), shape.end());
        allocate(results[r]);
        outs.push_back(
            Output::of(results[r].bytes.data(), results[r].dtype, shape));
    }
    bound.run(outs, options);
    return results;
}

Formula Formula::gradient(std::span<const std::string> names,
                          std::string_view cotangent, bool value) const {
    return Formula(derived(*state_, {DerivationStep::Kind::Reverse,
                                     {names.begin(), names.end()},
                                     value,
                                     std::string(cotangent)}));
}

Formula Formula::jvp(std::span<const std::string> names,
                     std::string_view tangent) const {
    return Formula(derived(*state_, {DerivationStep::Kind::Forward,
                                     {names.begin(), names.end()},
                                     false,
                                     std::string(tangent)}));
}

Array Formula::operator()(std::initializer_list<NamedView> arguments,
                          const RunOptions& options) const {
    return (*this)(std::span(arguments.begin(), arguments.size()), options);
}

} // namespace tilefold
