// tests/c/test_refusals.cpp - every function of tilefold.h with NULL, sizes and
// counts that cannot be: an error and nothing written, or nothing done.
#include "tests/c/arrays.h"

#include <cstring>
#include <limits>
#include <set>

namespace tilefold::test {

namespace {

constexpr std::int64_t huge = std::numeric_limits<std::int64_t>::max();

class CRefusals : public SessionTest {
protected:
    CRefusals() : formula(parse("sum_j exp(-|x_i - y_j|^2) b_j")) {
        bound = bind(formula, arguments);
        outs[0] = &out.tensor;
    }

    /// Binds with an array changed.
    template <class Change> std::string with_array(Change change) {
        DLTensor changed = x.tensor;
        change(changed);
        auto given = arguments;
        given[0].array = &changed;
        return bound_code(given);
    }
    std::string bound_code(const std::vector<tilefold_argument>& given,
                           const tilefold_bind_options* options = nullptr) {
        tilefold_bound* made = untouched<tilefold_bound>();
        const std::string code =
            code_of(tilefold_bind(formula.get(), given.data(),
                                  std::int64_t(given.size()), options, &made));
        EXPECT_EQ(made, untouched<tilefold_bound>()) << code;
        return code;
    }
    template <class T> static T* untouched() {
        return reinterpret_cast<T*>(std::uintptr_t(0x123));
    }

    Array<double> x{{5, 3}}, y{{7, 3}}, b{{7}}, out{{5}};
    std::vector<tilefold_argument> arguments{TILEFOLD_ARRAY("x", &x.tensor),
                                             TILEFOLD_ARRAY("y", &y.tensor),
                                             TILEFOLD_ARRAY("b", &b.tensor)};
    Owned<tilefold_formula> formula;
    Owned<tilefold_bound> bound;
    const DLTensor* outs[1];
};

} // namespace

TEST_F(CRefusals, FunctionsThatCannotFailTakeNull) {
    EXPECT_EQ(tilefold_error_family(nullptr), 0);
    EXPECT_STREQ(tilefold_error_code(nullptr), "");
    EXPECT_STREQ(tilefold_error_message(nullptr), "");
    EXPECT_STREQ(tilefold_error_formula(nullptr), "");
    std::int64_t begin = -1, end = -1;
    tilefold_error_span(nullptr, &begin, &end);
    EXPECT_EQ(begin + end, 0);
    tilefold_error_span(nullptr, nullptr, nullptr);
    EXPECT_EQ(tilefold_session_threads(nullptr), 0);
    EXPECT_EQ(tilefold_formula_names(nullptr), 0);
    EXPECT_EQ(tilefold_formula_name(nullptr, 0, nullptr), nullptr);
    EXPECT_EQ(tilefold_formula_name(formula.get(), -1, nullptr), nullptr);
    EXPECT_EQ(tilefold_formula_name(formula.get(), huge, nullptr), nullptr);
    EXPECT_EQ(tilefold_bound_results(nullptr), 0);
    EXPECT_EQ(tilefold_neighbors_rows(nullptr), 0);
    EXPECT_EQ(tilefold_neighbors_offsets(nullptr), nullptr);
    EXPECT_EQ(tilefold_neighbors_columns(nullptr), nullptr);
    EXPECT_EQ(tilefold_neighbors_values(nullptr), nullptr);
    EXPECT_EQ(tilefold_language_name(huge, nullptr, nullptr), nullptr);
    tilefold_error_free(nullptr);
    tilefold_session_free(nullptr);
    tilefold_formula_free(nullptr);
    tilefold_bound_free(nullptr);
    tilefold_ranges_free(nullptr);
    tilefold_neighbors_free(nullptr);
    tilefold_tensor_free(nullptr);
    tilefold_text_free(nullptr);
}

namespace {

/// Each has to be of NULL; they are freed.
void expect_null_pointers(std::initializer_list<tilefold_error*> errors) {
    int number = 0;
    for (tilefold_error* const error : errors) {
        EXPECT_EQ(tilefold_error_family(error), TILEFOLD_ERROR_ARGUMENT);
        EXPECT_EQ(code_of(error), "NullPointer") << number;
        ++number;
    }
}

} // namespace

TEST_F(CRefusals, SessionsAndFormulasAskForEveryPointer) {
    auto* s = session.get();
    auto* f = formula.get();
    const auto* a = arguments.data();
    const char* names[] = {"x", nullptr};
    tilefold_statistics counted = TILEFOLD_STATISTICS_INIT;
    auto* out_formula = untouched<tilefold_formula>();
    auto* text_out = untouched<char>();
    expect_null_pointers({
        tilefold_session_create(nullptr, nullptr),
        tilefold_session_statistics(nullptr, &counted),
        tilefold_session_statistics(s, nullptr),
        tilefold_formula_parse(nullptr, "x_i", &out_formula),
        tilefold_formula_parse(s, nullptr, &out_formula),
        tilefold_formula_parse(s, "x_i", nullptr),
        tilefold_formula_gradient(nullptr, names, 1, nullptr, 0, &out_formula),
        tilefold_formula_gradient(f, nullptr, 1, nullptr, 0, &out_formula),
        tilefold_formula_gradient(f, names, 2, nullptr, 0, &out_formula),
        tilefold_formula_gradient(f, names, 1, nullptr, 0, nullptr),
        tilefold_formula_jvp(nullptr, names, 1, nullptr, &out_formula),
        tilefold_formula_jvp(f, nullptr, 1, nullptr, &out_formula),
        tilefold_formula_jvp(f, names, 2, nullptr, &out_formula),
        tilefold_formula_jvp(f, names, 1, nullptr, nullptr),
        tilefold_explain(nullptr, a, 3, nullptr, &text_out),
        tilefold_explain(f, nullptr, 3, nullptr, &text_out),
        tilefold_explain(f, a, 3, nullptr, nullptr),
        tilefold_explain_json(nullptr, a, 3, nullptr, &text_out),
        tilefold_explain_json(f, nullptr, 3, nullptr, &text_out),
        tilefold_explain_json(f, a, 3, nullptr, nullptr),
    });
    EXPECT_EQ(out_formula, untouched<tilefold_formula>());
    EXPECT_EQ(text_out, untouched<char>());
}

TEST_F(CRefusals, CallsAskForEveryPointer) {
    auto* s = session.get();
    auto* f = formula.get();
    auto* u = bound.get();
    const auto* a = arguments.data();
    double error = 0;
    auto* bound_out = untouched<tilefold_bound>();
    auto* tensor_out = untouched<DLManagedTensorVersioned>();
    const DLTensor* no_out[] = {nullptr};
    expect_null_pointers({
        tilefold_bind(nullptr, a, 3, nullptr, &bound_out),
        tilefold_bind(f, nullptr, 3, nullptr, &bound_out),
        tilefold_bind(f, a, 3, nullptr, nullptr),
        tilefold_bound_shape(nullptr, 0, nullptr, nullptr, nullptr),
        tilefold_bound_allocate(nullptr, 0, nullptr, &tensor_out),
        tilefold_bound_allocate(u, 0, nullptr, nullptr),
        tilefold_bound_run(nullptr, outs, 1, nullptr),
        tilefold_bound_run(u, nullptr, 1, nullptr),
        tilefold_bound_run(u, no_out, 1, nullptr),
        tilefold_bound_finish(nullptr, nullptr),
        tilefold_bound_check(nullptr, &out.tensor, 5, &error),
        tilefold_bound_check(u, nullptr, 5, &error),
        tilefold_bound_check(u, &out.tensor, 5, nullptr),
        tilefold_reduce(nullptr, "sum_j y_j", a, 3, nullptr, &tensor_out),
        tilefold_reduce(s, nullptr, a, 3, nullptr, &tensor_out),
        tilefold_reduce(s, "sum_j y_j", nullptr, 3, nullptr, &tensor_out),
        tilefold_reduce(s, "sum_j y_j", a, 3, nullptr, nullptr),
    });
    EXPECT_EQ(bound_out, untouched<tilefold_bound>());
    EXPECT_EQ(tensor_out, untouched<DLManagedTensorVersioned>());
}

TEST_F(CRefusals, RangesAndSystemsAskForEveryPointer) {
    auto* f = formula.get();
    const auto* a = arguments.data();
    const std::int64_t ends[] = {5}, offsets[] = {0, 1};
    auto* ranges_out = untouched<tilefold_ranges>();
    auto* neighbors_out = untouched<tilefold_neighbors>();
    expect_null_pointers({
        tilefold_ranges_create(nullptr, 1, offsets, ends, &ranges_out),
        tilefold_ranges_create(ends, 1, nullptr, ends, &ranges_out),
        tilefold_ranges_create(ends, 1, offsets, nullptr, &ranges_out),
        tilefold_ranges_create(ends, 0, nullptr, nullptr, &ranges_out),
        tilefold_ranges_create(ends, 1, offsets, offsets, nullptr),
        tilefold_solve(nullptr, a, 1, &b.tensor, nullptr, &b.tensor, nullptr),
        tilefold_radius_neighbors(nullptr, a, 2, 1, 0, &neighbors_out),
        tilefold_radius_neighbors(f, a, 2, 1, 0, nullptr),
    });
    EXPECT_EQ(ranges_out, untouched<tilefold_ranges>());
    EXPECT_EQ(neighbors_out, untouched<tilefold_neighbors>());
}

TEST_F(CRefusals, APairTermIsAskedForItsArrays) {
    const auto pair = parse("exp(-|x_i - x_j|^2)");
    Array<double> right{{5}}, narrow{{4}}, solution{{5}}, wide{{5, 2}};
    Array<std::int64_t> whole{{5}};
    const auto code = [&](const DLTensor* side, const DLTensor* into) {
        return code_of(tilefold_solve(pair.get(), arguments.data(), 1, side,
                                      nullptr, into, nullptr));
    };
    EXPECT_EQ(code(nullptr, &solution.tensor), "NullPointer");
    EXPECT_EQ(code(&right.tensor, nullptr), "NullPointer");
    EXPECT_EQ(code(&narrow.tensor, &solution.tensor), "SolveSide");
    EXPECT_EQ(code(&right.tensor, &narrow.tensor), "BadTensor");
    EXPECT_EQ(code(&right.tensor, &wide.tensor), "BadTensor");
    EXPECT_EQ(code(&right.tensor, &whole.tensor), "BadTensor");
    EXPECT_EQ(code(&right.tensor, &solution.tensor), "nothing");
    const char* by[] = {"x"};
    tilefold_formula* derived = nullptr;
    expect_success(tilefold_formula_jvp(pair.get(), by, 1, nullptr, &derived));
    EXPECT_EQ(code_of(tilefold_solve(Owned<tilefold_formula>(derived).get(),
                                     arguments.data(), 1, &right.tensor,
                                     nullptr, &solution.tensor, nullptr)),
              "BadCount");
    EXPECT_EQ(code_of(tilefold_solve(formula.get(), arguments.data(), 3,
                                     &right.tensor, nullptr, &solution.tensor,
                                     nullptr)),
              "KernelReduces");
    auto* none = untouched<tilefold_neighbors>();
    EXPECT_EQ(code_of(tilefold_radius_neighbors(
                  pair.get(), arguments.data(), 1,
                  std::numeric_limits<double>::quiet_NaN(), 0, &none)),
              "BadCount");
    EXPECT_EQ(code_of(tilefold_radius_neighbors(pair.get(), arguments.data(), 1,
                                                1, 2, &none)),
              "BadCount");
    EXPECT_EQ(none, untouched<tilefold_neighbors>());
}

TEST_F(CRefusals, CountsThatCannotBe) {
    auto* bound_out = untouched<tilefold_bound>();
    auto* formula_out = untouched<tilefold_formula>();
    auto* ranges_out = untouched<tilefold_ranges>();
    auto* tensor_out = untouched<DLManagedTensorVersioned>();
    const char* names[] = {"x"};
    double error = 0;
    const std::int64_t ends[] = {5}, offsets[] = {0, 1}, backwards[] = {0, -1},
                       numbers[] = {0, 7}, late[] = {1, 2};
    for (const std::int64_t count : {std::int64_t(-1), huge, -huge}) {
        const auto* a = arguments.data();
        for (tilefold_error* const refused :
             {tilefold_bind(formula.get(), a, count, nullptr, &bound_out),
              tilefold_reduce(session.get(), "sum_j y_j", a, count, nullptr,
                              &tensor_out),
              tilefold_formula_gradient(formula.get(), names, count, nullptr, 0,
                                        &formula_out),
              tilefold_formula_jvp(formula.get(), names, count, nullptr,
                                   &formula_out),
              tilefold_bound_run(bound.get(), outs, count, nullptr),
              tilefold_bound_shape(bound.get(), count, nullptr, nullptr,
                                   nullptr),
              tilefold_bound_allocate(bound.get(), count, nullptr, &tensor_out),
              tilefold_bound_check(bound.get(), &out.tensor, count, &error),
              tilefold_ranges_create(ends, count, offsets, numbers,
                                     &ranges_out)})
            EXPECT_EQ(code_of(refused), "BadCount") << count;
    }
    EXPECT_EQ(
        code_of(tilefold_bound_check(bound.get(), &out.tensor, 0, &error)),
        "BadCount");
    EXPECT_EQ(code_of(tilefold_bound_run(bound.get(), outs, 0, nullptr)),
              "BadCount");
    EXPECT_EQ(code_of(tilefold_formula_jvp(formula.get(), names, 0, nullptr,
                                           &formula_out)),
              "BadCount");
    EXPECT_EQ(code_of(tilefold_ranges_create(ends, 1, backwards, numbers,
                                             &ranges_out)),
              "BadCount");
    EXPECT_EQ(
        code_of(tilefold_ranges_create(ends, 1, late, numbers, &ranges_out)),
        "BadCount");
    const std::int64_t empty[] = {7, 0};
    EXPECT_EQ(
        code_of(tilefold_ranges_create(ends, 1, offsets, empty, &ranges_out)),
        "RangesInterval");
    EXPECT_EQ(ranges_out, untouched<tilefold_ranges>());
    EXPECT_EQ(bound_code({}), "MissingArgument");
}

TEST_F(CRefusals, ArraysThatAreNone) {
    const auto bad = [&](auto change) { return with_array(change); };
    EXPECT_EQ(bad([](DLTensor& t) { t.data = nullptr; }), "BadTensor");
    EXPECT_EQ(bad([](DLTensor& t) { t.shape = nullptr; }), "BadTensor");
    EXPECT_EQ(bad([](DLTensor& t) { t.ndim = -1; }), "BadTensor");
    EXPECT_EQ(bad([](DLTensor& t) { t.ndim = 1 << 30; }), "BadTensor");
    EXPECT_EQ(bad([](DLTensor& t) { t.dtype.bits = 7; }), "UnsupportedDType");
    EXPECT_EQ(bad([](DLTensor& t) { t.dtype.lanes = 2; }), "UnsupportedDType");
    EXPECT_EQ(bad([](DLTensor& t) { t.dtype = {99, 64, 1}; }),
              "UnsupportedDType");
    EXPECT_EQ(bad([](DLTensor& t) { t.device = {kDLMetal, 0}; }),
              "OtherDevice");
    static std::int64_t negative[] = {-5, 3}, large[] = {huge, huge},
                        steps[] = {huge, 1};
    EXPECT_EQ(bad([](DLTensor& t) { t.shape = negative; }), "BadTensor");
    EXPECT_EQ(bad([](DLTensor& t) { t.shape = large; }), "BadTensor");
    EXPECT_EQ(bad([](DLTensor& t) { t.strides = steps; }), "BadTensor");
    DLTensor whole = out.tensor, complex = out.tensor, four = out.tensor;
    whole.dtype = {kDLInt, 64, 1};
    complex.dtype = {kDLComplex, 128, 1};
    std::int64_t shape[] = {4};
    four.shape = shape;
    const auto run = [&](const DLTensor& into) {
        const DLTensor* given[] = {&into};
        return code_of(tilefold_bound_run(bound.get(), given, 1, nullptr));
    };
    EXPECT_EQ(run(whole), "OutDType");
    EXPECT_EQ(run(complex), "OutDType");
    EXPECT_EQ(run(four), "OutShape");
    // In one thing alone unlike what a result is.
    const auto but = [&](auto&& change) {
        DLTensor other = out.tensor;
        change(other);
        return run(other);
    };
    static std::int64_t column[] = {5, 1};
    EXPECT_EQ(but([](DLTensor&) {}), "nothing");
    EXPECT_EQ(but([](DLTensor& t) { t.dtype.bits = 32; }), "OutDType");
    EXPECT_EQ(but([](DLTensor& t) { t.dtype.lanes = 2; }), "UnsupportedDType");
    EXPECT_EQ(but([](DLTensor& t) { t.data = nullptr; }), "BadTensor");
    EXPECT_EQ(but([](DLTensor& t) { t.shape = nullptr; }), "BadTensor");
    EXPECT_EQ(but([](DLTensor& t) { t.ndim = -1; }), "BadTensor");
    EXPECT_EQ(but([](DLTensor& t) { t.ndim = 2, t.shape = column; }),
              "OutShape");
    EXPECT_EQ(but([](DLTensor& t) { t.device.device_type = kDLMetal; }),
              "OtherDevice");
    EXPECT_EQ(but([](DLTensor& t) { t.device.device_type = kDLCUDA; }),
              "OtherDevice");
}

TEST_F(CRefusals, FieldsThatAreNoChoice) {
    auto given = arguments;
    given[0].axes = 7;
    EXPECT_EQ(bound_code(given), "BadCount");
    given = arguments;
    given[1].reserved = 1;
    EXPECT_EQ(bound_code(given), "BadCount");
    given = arguments;
    given[2].name = nullptr;
    EXPECT_EQ(bound_code(given), "NullPointer");
    const auto with_options = [&](auto change) {
        tilefold_bind_options options = TILEFOLD_BIND_OPTIONS_INIT;
        change(options);
        return bound_code(arguments, &options);
    };
    const std::int64_t one = 0;
    EXPECT_EQ(with_options([](auto& o) { o.want = 4; }), "BadCount");
    EXPECT_EQ(with_options([](auto& o) { o.want = -1; }), "BadCount");
    EXPECT_EQ(with_options([](auto& o) { o.on_host = 2; }), "BadCount");
    EXPECT_EQ(with_options([](auto& o) { o.rows_i_count = 3; }), "NullPointer");
    EXPECT_EQ(with_options([&](auto& o) {
                  o.rows_j = &one;
                  o.rows_j_count = huge;
              }),
              "BadCount");
    EXPECT_EQ(with_options([&](auto& o) {
                  o.sum_batch = &one;
                  o.sum_batch_count = -1;
              }),
              "BadCount");
    tilefold_run_options run = TILEFOLD_RUN_OPTIONS_INIT;
    run.accumulate = 2;
    EXPECT_EQ(code_of(tilefold_bound_run(bound.get(), outs, 1, &run)),
              "BadCount");
    run.accumulate = 1;
    auto* tensor_out = untouched<DLManagedTensorVersioned>();
    EXPECT_EQ(
        code_of(tilefold_reduce(session.get(), "sum_j exp(-|x_i - y_j|^2) b_j",
                                arguments.data(), 3, &run, &tensor_out)),
        "AccumulateNeedsOut");
    EXPECT_EQ(tensor_out, untouched<DLManagedTensorVersioned>());
    tilefold_options options = TILEFOLD_OPTIONS_INIT;
    auto* none = untouched<tilefold_session>();
    const auto created = [&] {
        return code_of(tilefold_session_create(&options, &none));
    };
    options.log = 2;
    EXPECT_EQ(created(), "BadCount");
    options = TILEFOLD_OPTIONS_INIT;
    options.threads = -3;
    EXPECT_EQ(created(), "BadOption");
    options = TILEFOLD_OPTIONS_INIT;
    options.isa = "z80";
    EXPECT_EQ(created(), "UnknownTarget");
    options = TILEFOLD_OPTIONS_INIT;
    options.tolerance = -1;
    EXPECT_EQ(created(), "BadOption");
    EXPECT_EQ(none, untouched<tilefold_session>());
}

namespace {

/// A structure as earlier and later headers have it.
template <class T> struct Longer {
    T known;
    unsigned char tail[64];
};

/// The codes for sizes that are too small, unknown or of other headers.
template <class T, class Use> void check_sizes(T init, Use use) {
    for (const std::uint64_t size :
         {std::uint64_t(0), std::uint64_t(7), std::uint64_t(4097),
          std::numeric_limits<std::uint64_t>::max()}) {
        init.size = size;
        EXPECT_EQ(use(&init), "StructSize") << size;
    }
    init.size = sizeof init.size;
    EXPECT_EQ(use(&init), "nothing"); // of the first header
    Longer<T> later{init, {}};
    later.known.size = sizeof later;
    EXPECT_EQ(use(&later.known), "nothing");
    later.tail[63] = 1;
    EXPECT_EQ(use(&later.known), "StructTail");
}

} // namespace

TEST_F(CRefusals, SizesOfEarlierAndLaterHeaders) {
    check_sizes(tilefold_options TILEFOLD_OPTIONS_INIT,
                [](const tilefold_options* options) {
                    tilefold_session* made = nullptr;
                    std::string code =
                        code_of(tilefold_session_create(options, &made));
                    tilefold_session_free(made);
                    return code;
                });
    check_sizes(tilefold_bind_options TILEFOLD_BIND_OPTIONS_INIT,
                [&](const tilefold_bind_options* options) {
                    tilefold_bound* made = nullptr;
                    std::string code = code_of(tilefold_bind(
                        formula.get(), arguments.data(), 3, options, &made));
                    tilefold_bound_free(made);
                    return code;
                });
    check_sizes(tilefold_run_options TILEFOLD_RUN_OPTIONS_INIT,
                [&](const tilefold_run_options* options) {
                    return code_of(
                        tilefold_bound_run(bound.get(), outs, 1, options));
                });
    const auto pair = parse("exp(-|x_i - x_j|^2)");
    Array<double> right{{5}}, solution{{5}};
    check_sizes(tilefold_solve_options TILEFOLD_SOLVE_OPTIONS_INIT,
                [&](const tilefold_solve_options* options) {
                    return code_of(tilefold_solve(pair.get(), arguments.data(),
                                                  1, &right.tensor, options,
                                                  &solution.tensor, nullptr));
                });
}

TEST_F(CRefusals, StructuresThatAreWrittenHaveTheSizeOfTheCaller) {
    tilefold_statistics counted = TILEFOLD_STATISTICS_INIT;
    counted.compiles = -7;
    counted.memory_hits = -7;
    counted.size = 0;
    EXPECT_EQ(code_of(tilefold_session_statistics(session.get(), &counted)),
              "StructSize");
    counted.size = 16; // of a header with `compiles` alone
    expect_success(tilefold_session_statistics(session.get(), &counted));
    EXPECT_GE(counted.compiles, 0);
    EXPECT_EQ(counted.memory_hits, -7);
    EXPECT_EQ(counted.size, 16u);
    Longer<tilefold_statistics> later{TILEFOLD_STATISTICS_INIT, {}};
    std::memset(later.tail, 5, sizeof later.tail);
    later.known.size = sizeof later;
    expect_success(tilefold_session_statistics(session.get(), &later.known));
    EXPECT_EQ(later.tail[0], 5);
    tilefold_solve_outcome outcome = TILEFOLD_SOLVE_OUTCOME_INIT;
    outcome.size = 3;
    const auto pair = parse("exp(-|x_i - x_j|^2)");
    Array<double> right{{5}}, solution{{5}};
    EXPECT_EQ(
        code_of(tilefold_solve(pair.get(), arguments.data(), 1, &right.tensor,
                               nullptr, &solution.tensor, &outcome)),
        "StructSize");
}

} // namespace tilefold::test
