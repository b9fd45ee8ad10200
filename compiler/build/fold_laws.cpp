// compiler/build/fold_laws.cpp - a fold's functions at sampled states.

#include "compiler/build/fold_laws.h"

#include "compiler/backends/reference/interpreter.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace tilefold {
namespace {

using State = std::vector<double>;

/// Numbers that floating-point arguments are drawn from.
enum class Sample : std::uint8_t { Normal, Positive, Whole };
constexpr Sample samples[] = {Sample::Normal, Sample::Positive, Sample::Whole};
/// The parameters are drawn so many times.
constexpr int choices = 4;
/// A trial draws so many terms: 3 make the state a, 2 b, 1 c, one is added.
constexpr std::int64_t terms_drawn = 7;
/// Points on an axis, as far as a term can tell.
constexpr double axis_length = 64;

std::uint64_t mixed(std::uint64_t hash, std::uint64_t word) {
    hash = (hash ^ word) * 0x9e3779b97f4a7c15ull;
    return hash ^ hash >> 29;
}

/// Returns a number between 0 and 1, both excluded.
double uniform(std::uint64_t hash) {
    hash = mixed(mixed(hash, 1), 2);
    return (double(hash >> 12) + 0.5) * 0x1p-52;
}

/// One choice of all arguments of the formula.
class Draw {
public:
    Draw(Sample sample, int choice) : sample_(sample), choice_(choice) {}

    double operator()(const ir::Argument& argument, std::int64_t point,
                      std::int64_t component) const {
        if (argument.name == "#i" || argument.name == "#j")
            return axis_length;
        std::uint64_t hash = std::uint64_t(choice_) + 1;
        for (char c : argument.name)
            hash = mixed(hash, std::uint64_t(c));
        hash = mixed(hash, std::uint64_t(component));
        if (argument.axes == Axes::None)
            return choice_ == 0
                       ? 1 + std::floor(6 * uniform(hash))
                       : number(argument.dtype, Sample::Positive, hash);
        hash = mixed(mixed(hash, std::uint64_t(point)), std::uint64_t(sample_));
        return number(argument.dtype, sample_, hash);
    }

private:
    static double number(DType dtype, Sample sample, std::uint64_t hash) {
        const double u = uniform(hash);
        if (dtype == DType::Bool)
            return u < 0.5;
        if (kind_of(dtype) != DTypeKind::Float)
            return 1 + std::floor(4 * u);
        switch (sample) {
        case Sample::Normal:
            return std::sqrt(-2 * std::log(u)) *
                   std::cos(6.283185307179586 * uniform(mixed(hash, 3)));
        case Sample::Positive:
            return 0.25 + 1.75 * u;
        case Sample::Whole:
            return std::floor(6 * u) - 2;
        }
        internal_error("numbers of no sample");
    }

    Sample sample_;
    int choice_;
};

/// Returns the graph's result at one point of each axis.
State value_at(const ir::Graph& graph, const Draw& draw, std::int64_t point) {
    const auto read = [&](std::size_t number, std::int64_t at, std::int32_t row,
                          std::int32_t column) {
        const ir::Argument& argument = graph.arguments[number];
        return draw(argument, at,
                    std::int64_t(row) * argument.columns + column);
    };
    const reference::Sizes sizes{std::int64_t(axis_length),
                                 std::int64_t(axis_length), 1};
    return reference::evaluate(graph, sizes, read, std::span(&point, 1),
                               std::span(&point, 1));
}

bool has_nan(const State& state) {
    return std::ranges::any_of(state, [](double x) { return std::isnan(x); });
}

double size_of_state(const State& state) {
    double size = 0;
    for (double x : state)
        if (std::isfinite(x))
            size = std::max(size, std::abs(x));
    return size;
}

/// `scale` is the size of what the states were computed from.
bool close(const State& a, const State& b, double scale) {
    const auto equal = [&](double x, double y) {
        const double size = std::max(std::abs(x), std::abs(y));
        return x == y || std::abs(x - y) <= 1e-6 * size + 1e-9 * scale ||
               (std::isnan(x) && std::isnan(y));
    };
    return std::ranges::equal(a, b, equal);
}

std::string digits_of(double number, const char* format) {
    char digits[32];
    std::snprintf(digits, sizeof digits, format, number);
    return digits;
}

/// Prints a state as "[1, 0.5]", or "[1+2im, 0.5-1im]".
std::string text_of(const State& state, bool is_complex) {
    const std::size_t count = is_complex ? state.size() / 2 : state.size();
    std::string text;
    for (std::size_t k = 0; k < count; ++k) {
        text += (text.empty() ? "" : ", ") + digits_of(state[k], "%.6g");
        if (is_complex)
            text += digits_of(state[count + k], "%+.6g") + "im";
    }
    return count == 1 ? text : "[" + text + "]";
}

/// The sides of an equation, and the states that it is about.
struct Equation {
    FoldLaw law;
    State left, right;
    std::vector<State> states;

    bool holds() const {
        double scale = 0;
        for (const State& state : states)
            scale = std::max(scale, size_of_state(state));
        return close(left, right, scale);
    }

    BrokenLaw broken(const FoldOperands& of) const {
        BrokenLaw broken{law,
                         text_of(left, of.complex_state),
                         text_of(right, of.complex_state),
                         {}};
        for (std::size_t k = 0; k < states.size(); ++k) {
            const bool is_term = law == FoldLaw::Agreement && k == 1;
            broken.states[k] = text_of(states[k], is_term ? of.complex_term
                                                          : of.complex_state);
        }
        return broken;
    }
};

class Laws {
public:
    Laws(const ir::Fold& fold, const FoldOperands& operands)
        : operands_(operands), accumulate_(fold.accumulate),
          merge_(fold.merge) {}

    std::optional<BrokenLaw> find_broken(const Draw& draw) {
        const State init = value_at(operands_.initial, draw, 0);
        given_ =
            operands_.given ? value_at(*operands_.given, draw, 0) : State();
        std::vector<State> terms;
        for (std::int64_t k = 0; k < terms_drawn; ++k)
            terms.push_back(value_at(operands_.terms, draw, k));
        const std::span all(terms);
        const State a = folded(init, all.subspan(0, 3));
        const State b = folded(init, all.subspan(3, 2));
        const State c = folded(init, all.subspan(5, 1));
        const State f = terms.back(), of_f = folded(init, all.last(1));
        for (const State& state : {a, b, c, f, of_f})
            if (has_nan(state))
                return std::nullopt;
        const Equation equations[] = {
            {FoldLaw::Identity, merged(init, init), init, {init}},
            {FoldLaw::Identity, merged(init, a), a, {a}},
            {FoldLaw::Identity, merged(a, init), a, {a}},
            {FoldLaw::Commutative, merged(a, b), merged(b, a), {a, b}},
            {FoldLaw::Associative,
             merged(merged(a, b), c),
             merged(a, merged(b, c)),
             {a, b, c}},
            {FoldLaw::Agreement, added(a, f), merged(a, of_f), {a, f}},
        };
        const auto broken =
            std::ranges::find_if_not(equations, &Equation::holds);
        if (broken == std::end(equations))
            return std::nullopt;
        return broken->broken(operands_);
    }

private:
    State added(const State& state, const State& term) {
        const auto result = accumulate_(state, term, given_);
        return {result.begin(), result.end()};
    }

    State merged(const State& a, const State& b) {
        const auto result = merge_(a, b, given_);
        return {result.begin(), result.end()};
    }

    State folded(State state, std::span<const State> terms) {
        for (const State& term : terms)
            state = added(state, term);
        return state;
    }

    const FoldOperands& operands_;
    reference::FoldFunction accumulate_, merge_;
    State given_;
};

} // namespace

std::optional<BrokenLaw> find_broken_law(const ir::Fold& fold,
                                         const FoldOperands& operands) {
    Laws laws(fold, operands);
    const bool any_will_do =
        operands.reads_parameters && operands.initial.arguments.empty();
    std::optional<BrokenLaw> first;
    for (int choice = 0; choice < choices; ++choice) {
        std::optional<BrokenLaw> here;
        for (Sample sample : samples)
            if (!here)
                here = laws.find_broken({sample, choice});
        if (here && !any_will_do)
            return here;
        if (!here && any_will_do)
            return std::nullopt;
        if (!first)
            first = here;
    }
    return first;
}

} // namespace tilefold
