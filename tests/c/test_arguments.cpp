// tests/c/test_arguments.cpp - each argument of each function of tilefold.h in
// turn is NULL, or a number that it cannot be: an error of which there is a
// message and nothing is written, or success, or nothing done. Cases are made
// from the types of the functions; that none is left out is asserted.
#include "tests/c/arrays.h"
#include "tests/formulas/golden.h"

#include <limits>
#include <set>
#include <tuple>
#include <utility>

namespace tilefold::test {

namespace {

template <class T> constexpr T most = std::numeric_limits<T>::max();

template <class T> constexpr bool is_handle = std::is_invocable_v<Free, T*>;

/// What is given in place of an argument of a type: NULL, or numbers at the
/// edges of what it can say.
template <class T> std::vector<T> replacements() {
    if constexpr (std::is_pointer_v<T>)
        return {nullptr};
    else if constexpr (std::is_floating_point_v<T>)
        return {T(-1), T(0), std::numeric_limits<T>::infinity(),
                std::numeric_limits<T>::quiet_NaN()};
    else
        return {T(-1), T(0), most<T>, std::numeric_limits<T>::min()};
}

/// Frees what a call has put where an argument points, and returns whether
/// there was something.
template <class T> bool take_out(T) {
    return false;
}
template <class T> bool take_out(T** out) {
    if constexpr (is_handle<T>) {
        if (out) {
            const Owned<T> made(std::exchange(*out, nullptr));
            return made != nullptr;
        }
    }
    return false;
}

class CArguments : public SessionTest {
protected:
    CArguments() : formula(parse("sum_j exp(-|x_i - y_j|^2) b_j")) {
        bound = bind(formula, arguments);
        options.cache_directory = "";
        options.threads = 1;
    }

    /// Calls a function as it is meant, and then with each argument replaced.
    /// All that it writes is freed.
    template <class Result, class... Parameters>
    void vary(const char* name, Result (*function)(Parameters...) noexcept,
              std::type_identity_t<Parameters>... given) {
        called.insert(name);
        const auto call = [&](std::tuple<Parameters...> values) {
            const auto take = [&] {
                return std::apply(
                    [](auto... value) {
                        return (take_out(value) | ... | false);
                    },
                    values);
            };
            if constexpr (std::is_same_v<Result, tilefold_error*>) {
                tilefold_error* const error = std::apply(function, values);
                return judge(name, error, take());
            } else {
                std::apply(function, values);
                return true;
            }
        };
        EXPECT_TRUE(call({given...})) << name;
        [&]<std::size_t... I>(std::index_sequence<I...>) {
            (
                [&] {
                    using One =
                        std::tuple_element_t<I, std::tuple<Parameters...>>;
                    for (const One other : replacements<One>()) {
                        std::tuple<Parameters...> values(given...);
                        std::get<I>(values) = other;
                        SCOPED_TRACE(testing::Message()
                                     << "argument " << I << " of " << name);
                        call(values);
                    }
                }(),
                ...);
        }(std::index_sequence_for<Parameters...>());
    }

    /// Whether there is no error; one has to be whole.
    static bool judge(const char* name, tilefold_error* error, bool wrote) {
        const Owned<tilefold_error> owned(error);
        if (!error)
            return true;
        EXPECT_FALSE(wrote) << name << " failed, and has written";
        const std::int32_t family = tilefold_error_family(error);
        EXPECT_GE(family, TILEFOLD_ERROR_FORMULA) << name;
        EXPECT_LT(family, TILEFOLD_ERROR_INTERNAL)
            << name << ": " << tilefold_error_message(error);
        EXPECT_STRNE(tilefold_error_message(error), "") << name;
        EXPECT_STRNE(tilefold_error_code(error), "") << name;
        return false;
    }

    /// Takes NULL, and does nothing then.
    template <class T>
    void nothing_to_free(const char* name, void (*function)(T*) noexcept) {
        called.insert(name);
        function(nullptr);
    }

    void vary_reductions();
    void vary_systems();
    void vary_what_cannot_fail();

    Array<double> x{{5, 3}}, y{{7, 3}}, b{{7}}, out{{5}}, right{{5}};
    std::vector<tilefold_argument> arguments{TILEFOLD_ARRAY("x", &x.tensor),
                                             TILEFOLD_ARRAY("y", &y.tensor),
                                             TILEFOLD_ARRAY("b", &b.tensor)};
    tilefold_options options = TILEFOLD_OPTIONS_INIT;
    Owned<tilefold_formula> formula;
    Owned<tilefold_bound> bound;
    std::set<std::string> called;
};

#define VARY(function, ...) vary(#function, function, __VA_ARGS__)
#define NOTHING_TO_FREE(function) nothing_to_free(#function, function)

void CArguments::vary_reductions() {
    const char* const names[] = {"x"};
    const DLTensor* const outs[] = {&out.tensor};
    const auto* a = arguments.data();
    auto* s = session.get();
    auto* f = formula.get();
    auto* u = bound.get();
    tilefold_formula* derived = nullptr;
    tilefold_bound* made = nullptr;
    DLManagedTensorVersioned* tensor = nullptr;
    char* text = nullptr;
    double error = 0;
    std::int32_t axes = 0;
    const std::int64_t* shape = nullptr;
    DLDataType type{};
    tilefold_bind_options how = TILEFOLD_BIND_OPTIONS_INIT;
    tilefold_run_options run = TILEFOLD_RUN_OPTIONS_INIT;
    VARY(tilefold_formula_parse, s, "sum_j y_j", &derived);
    VARY(tilefold_formula_gradient, f, names, 1, "g", 1, &derived);
    VARY(tilefold_formula_jvp, f, names, 1, "t", &derived);
    VARY(tilefold_bind, f, a, 3, &how, &made);
    VARY(tilefold_bound_shape, u, 0, &axes, &shape, &type);
    VARY(tilefold_bound_allocate, u, 0, nullptr, &tensor);
    VARY(tilefold_bound_run, u, outs, 1, &run);
    VARY(tilefold_bound_finish, u, nullptr);
    VARY(tilefold_bound_check, u, &out.tensor, 5, &error);
    VARY(tilefold_reduce, s, "sum_j exp(-|x_i - y_j|^2) b_j", a, 3, &run,
         &tensor);
    VARY(tilefold_explain, f, a, 3, "plan", &text);
    VARY(tilefold_explain_json, f, a, 3, "sm_90", &text);
}

void CArguments::vary_systems() {
    const auto pair = parse("exp(-|x_i - x_j|^2)");
    const auto distance = parse("|x_i - x_j|");
    const std::int64_t ends[] = {5}, offsets[] = {0, 1}, columns[] = {0, 7};
    auto* p = pair.get();
    const auto* a = arguments.data();
    tilefold_session* session_made = nullptr;
    tilefold_ranges* ranges = nullptr;
    tilefold_neighbors* neighbors = nullptr;
    tilefold_statistics counted = TILEFOLD_STATISTICS_INIT;
    tilefold_solve_options how = TILEFOLD_SOLVE_OPTIONS_INIT;
    tilefold_solve_outcome outcome = TILEFOLD_SOLVE_OUTCOME_INIT;
    std::int64_t removed = 0;
    how.ridge = 1;
    VARY(tilefold_session_create, &options, &session_made);
    VARY(tilefold_session_statistics, session.get(), &counted);
    VARY(tilefold_ranges_create, ends, 1, offsets, columns, &ranges);
    VARY(tilefold_solve, p, a, 1, &right.tensor, &how, &out.tensor, &outcome);
    VARY(tilefold_radius_neighbors, distance.get(), a, 1, 0.5, 1, &neighbors);
    VARY(tilefold_cache_clear, "/nowhere/at/all", &removed);
}

void CArguments::vary_what_cannot_fail() {
    tilefold_formula* none = nullptr;
    const Owned<tilefold_error> error(
        tilefold_formula_parse(session.get(), "sum_j (", &none));
    tilefold_neighbors* found = nullptr;
    const auto pair = parse("|x_i - x_j|");
    expect_success(tilefold_radius_neighbors(pair.get(), arguments.data(), 1,
                                             0.5, 1, &found));
    const Owned<tilefold_neighbors> neighbors(found);
    auto* e = error.get();
    auto* n = neighbors.get();
    std::int64_t begin = 0, end = 0;
    std::int32_t axes = 0;
    const char *kind = nullptr, *summary = nullptr;
    VARY(tilefold_error_family, e);
    VARY(tilefold_error_code, e);
    VARY(tilefold_error_message, e);
    VARY(tilefold_error_formula, e);
    VARY(tilefold_error_span, e, &begin, &end);
    VARY(tilefold_session_threads, session.get());
    VARY(tilefold_formula_names, formula.get());
    VARY(tilefold_formula_name, formula.get(), 0, &axes);
    VARY(tilefold_bound_results, bound.get());
    VARY(tilefold_neighbors_rows, n);
    VARY(tilefold_neighbors_offsets, n);
    VARY(tilefold_neighbors_columns, n);
    VARY(tilefold_neighbors_values, n);
    VARY(tilefold_language_name, 0, &kind, &summary);
    const std::int32_t threads = tilefold_get_num_threads();
    VARY(tilefold_set_num_threads, threads);
    tilefold_set_num_threads(threads);
    NOTHING_TO_FREE(tilefold_error_free);
    NOTHING_TO_FREE(tilefold_session_free);
    NOTHING_TO_FREE(tilefold_formula_free);
    NOTHING_TO_FREE(tilefold_bound_free);
    NOTHING_TO_FREE(tilefold_ranges_free);
    NOTHING_TO_FREE(tilefold_neighbors_free);
    NOTHING_TO_FREE(tilefold_tensor_free);
    NOTHING_TO_FREE(tilefold_text_free);
}

/// The functions of the interface that have parameters.
std::set<std::string> functions() {
    std::set<std::string> all;
    for (const std::string& line :
         tests::lines_of(tests::read_golden("../consumer/symbols.txt")))
        if (const std::size_t at = line.find("@@"); at != std::string::npos)
            all.insert(line.substr(0, at));
    for (const char* without :
         {"tilefold_abi", "tilefold_version", "tilefold_get_num_threads",
          "tilefold_language_size"})
        EXPECT_EQ(all.erase(without), 1U) << without;
    return all;
}

} // namespace

TEST_F(CArguments, EachOfEachFunction) {
    vary_reductions();
    vary_systems();
    vary_what_cannot_fail();
    EXPECT_EQ(called, functions());
}

} // namespace tilefold::test
