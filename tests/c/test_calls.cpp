// tests/c/test_calls.cpp - what the functions of tilefold.h compute, against
// plain loops.
#include "tests/c/arrays.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace tilefold::test {

namespace {

class CCalls : public SessionTest {
protected:
    double gaussian(std::int64_t i, std::int64_t j) {
        double square = 0;
        for (std::int64_t d = 0; d < 3; ++d)
            square += (x(i, d) - y(j, d)) * (x(i, d) - y(j, d));
        return std::exp(-square / 2);
    }
    /// sum_j exp(-|x_i - y_j|²/2) b_j
    double expected(std::int64_t i) {
        double sum = 0;
        for (std::int64_t j = 0; j < 7; ++j)
            sum += gaussian(i, j) * b[j];
        return sum;
    }

    static constexpr const char* text = "sum_j exp(-|x_i - y_j|^2 / 2) b_j";
    Array<double> x{{5, 3}, 1}, y{{7, 3}, 2}, b{{7}, 3};
    std::vector<tilefold_argument> arguments{TILEFOLD_ARRAY("x", &x.tensor),
                                             TILEFOLD_ARRAY("y", &y.tensor),
                                             TILEFOLD_ARRAY("b", &b.tensor)};
    std::vector<tilefold_argument> points{TILEFOLD_ARRAY("x", &x.tensor),
                                          TILEFOLD_ARRAY("y", &y.tensor)};
};

} // namespace

TEST_F(CCalls, AReductionGivesAnArrayOfItsOwn) {
    const auto result = reduce(text, arguments);
    const DLTensor& tensor = result->dl_tensor;
    EXPECT_EQ(result->version.major, std::uint32_t(DLPACK_MAJOR_VERSION));
    EXPECT_EQ(tensor.ndim, 1);
    EXPECT_EQ(tensor.shape[0], 5);
    EXPECT_EQ(tensor.strides[0], 1);
    EXPECT_EQ(tensor.device.device_type, kDLCPU);
    EXPECT_EQ(std::uintptr_t(tensor.data) % 256, 0u);
    for (std::int64_t i = 0; i < 5; ++i)
        EXPECT_NEAR(doubles_of(result)[i], expected(i), 1e-14);
}

TEST_F(CCalls, ABoundFormulaReadsWhatArraysHoldThen) {
    const auto bound = bind(parse(text), arguments);
    Array<double> out{{5}};
    const DLTensor* outs[] = {&out.tensor};
    for (const double factor : {1.0, -2.0}) {
        for (double& value : b.values)
            value *= factor;
        expect_success(tilefold_bound_run(bound.get(), outs, 1, nullptr));
        for (std::int64_t i = 0; i < 5; ++i)
            EXPECT_NEAR(out[i], expected(i), 1e-14);
    }
    tilefold_run_options adding = TILEFOLD_RUN_OPTIONS_INIT;
    adding.accumulate = 1;
    expect_success(tilefold_bound_run(bound.get(), outs, 1, &adding));
    for (std::int64_t i = 0; i < 5; ++i)
        EXPECT_NEAR(out[i], 2 * expected(i), 1e-14);
    expect_success(tilefold_bound_finish(bound.get(), nullptr));
}

TEST_F(CCalls, ABoundOutlivesItsNamesFormulaAndSession) {
    std::string names[] = {"x", "y", "b"};
    auto given = arguments;
    for (std::size_t k = 0; k < 3; ++k)
        given[k].name = names[k].c_str();
    auto formula = parse(text);
    const auto bound = bind(formula, given);
    for (std::string& name : names)
        name = "#";
    given.clear();
    formula.reset();
    session.reset();
    Array<double> out{{5}};
    const DLTensor* outs[] = {&out.tensor};
    expect_success(tilefold_bound_run(bound.get(), outs, 1, nullptr));
    for (std::int64_t i = 0; i < 5; ++i)
        EXPECT_NEAR(out[i], expected(i), 1e-14);
    double error = 1;
    expect_success(tilefold_bound_check(bound.get(), &out.tensor, 5, &error));
    EXPECT_LT(error, 1e-14);
}

TEST_F(CCalls, StridesMayBeOfFortranAndNegative) {
    std::vector<double> columns(15);
    for (std::int64_t i = 0; i < 5; ++i)
        for (std::int64_t d = 0; d < 3; ++d)
            columns[std::size_t(d * 5 + i)] = x(i, d);
    std::int64_t strides[] = {1, 5};
    DLTensor fortran = x.tensor;
    fortran.data = columns.data();
    fortran.strides = strides;
    arguments[0].array = &fortran;
    const auto result = reduce(text, arguments);
    for (std::int64_t i = 0; i < 5; ++i)
        EXPECT_NEAR(doubles_of(result)[i], expected(i), 1e-14);
    // the same backwards, written backwards
    std::int64_t backwards[] = {-1, 5}, reversed[] = {-1};
    fortran.strides = backwards;
    fortran.byte_offset = 4 * sizeof(double);
    Array<double> out{{5}};
    DLTensor last = out.tensor;
    last.strides = reversed;
    last.byte_offset = 4 * sizeof(double);
    const auto bound = bind(parse(text), arguments);
    const DLTensor* outs[] = {&last};
    expect_success(tilefold_bound_run(bound.get(), outs, 1, nullptr));
    for (std::int64_t i = 0; i < 5; ++i)
        EXPECT_NEAR(out[i], expected(i), 1e-14);
    // in the middle of memory, with and without strides
    Array<double> wide{{9}};
    std::int64_t dense[] = {1}, five[] = {5};
    DLTensor middle = wide.tensor;
    middle.shape = five;
    middle.byte_offset = 2 * sizeof(double);
    outs[0] = &middle;
    for (std::int64_t* given : {dense, static_cast<std::int64_t*>(nullptr)}) {
        std::ranges::fill(wide.values, -7.0);
        middle.strides = given;
        expect_success(tilefold_bound_run(bound.get(), outs, 1, nullptr));
        for (std::int64_t i = 0; i < 5; ++i)
            EXPECT_NEAR(wide[6 - i], expected(i), 1e-14); // backwards
        EXPECT_EQ(wide[1], -7);
        EXPECT_EQ(wide[7], -7);
    }
}

TEST_F(CCalls, NumbersAndDeclaredAxes) {
    tilefold_argument p = TILEFOLD_ARRAY("p", &b.tensor);
    p.axes = TILEFOLD_AXES_J;
    const auto result = reduce("sum_j(p*s)", {p, TILEFOLD_NUMBER("s", 2.5)});
    double sum = 0;
    for (const double value : b.values)
        sum += 2.5 * value;
    EXPECT_NEAR(doubles_of(result)[0], sum, 1e-14);
}

TEST_F(CCalls, ComplexArraysAreOneTensor) {
    Array<std::complex<double>> z{{7}, 4};
    arguments[2].array = &z.tensor;
    const auto result = reduce(text, arguments);
    EXPECT_EQ(result->dl_tensor.dtype.code, kDLComplex);
    EXPECT_EQ(result->dl_tensor.dtype.bits, 128);
    const auto* values =
        static_cast<std::complex<double>*>(result->dl_tensor.data);
    for (std::int64_t i = 0; i < 5; ++i) {
        std::complex<double> sum = 0;
        for (std::int64_t j = 0; j < 7; ++j)
            sum += gaussian(i, j) * z[j];
        EXPECT_LT(std::abs(values[i] - sum), 1e-14);
    }
}

TEST_F(CCalls, NamesOfAFormulaAndTheirAxes) {
    const auto formula = parse("sum_j exp(-|x_i - x_j|^2 / (2 l^2)) b_j");
    ASSERT_EQ(tilefold_formula_names(formula.get()), 3);
    const std::string names[] = {"x", "l", "b"};
    const std::int32_t on[] = {TILEFOLD_AXES_BOTH, TILEFOLD_AXES_PARAMETER,
                               TILEFOLD_AXES_J};
    for (std::int64_t k = 0; k < 3; ++k) {
        std::int32_t axes = -7;
        EXPECT_EQ(tilefold_formula_name(formula.get(), k, &axes), names[k]);
        EXPECT_EQ(axes, on[k]);
    }
    EXPECT_EQ(tilefold_formula_name(formula.get(), 3, nullptr), nullptr);
}

TEST_F(CCalls, GradientsAreResultsInTheOrderOfTheirNames) {
    const auto formula = parse("sum_ij exp(-|x_i - y_j|^2 / 2) b_j");
    const char* by[] = {"b", "x"};
    tilefold_formula* derived = nullptr;
    expect_success(
        tilefold_formula_gradient(formula.get(), by, 2, nullptr, 1, &derived));
    arguments.push_back(TILEFOLD_NUMBER("grad", 1));
    const auto bound = bind(Owned<tilefold_formula>(derived), arguments);
    ASSERT_EQ(tilefold_bound_results(bound.get()), 3);
    std::vector<Owned<DLManagedTensorVersioned>> results;
    std::vector<const DLTensor*> outs;
    for (std::int64_t r = 0; r < 3; ++r) {
        DLManagedTensorVersioned* made = nullptr;
        expect_success(tilefold_bound_allocate(bound.get(), r, nullptr, &made));
        results.emplace_back(made);
        outs.push_back(&made->dl_tensor);
    }
    expect_success(tilefold_bound_run(bound.get(), outs.data(), 3, nullptr));
    double value = 0;
    for (std::int64_t i = 0; i < 5; ++i)
        value += expected(i);
    EXPECT_NEAR(doubles_of(results[0])[0], value, 1e-13);
    for (std::int64_t j = 0; j < 7; ++j) {
        double sum = 0;
        for (std::int64_t i = 0; i < 5; ++i)
            sum += gaussian(i, j);
        EXPECT_NEAR(doubles_of(results[1])[j], sum, 1e-13);
    }
    std::int32_t axes = 0;
    const std::int64_t* shape = nullptr;
    DLDataType type{};
    expect_success(tilefold_bound_shape(bound.get(), 2, &axes, &shape, &type));
    EXPECT_EQ(axes, 2);
    EXPECT_EQ(shape[0], 5);
    EXPECT_EQ(shape[1], 3);
    EXPECT_EQ(type.code, kDLFloat);
    EXPECT_EQ(type.bits, 64);
    double first = 0;
    for (std::int64_t j = 0; j < 7; ++j)
        first += gaussian(0, j) * b[j] * (y(j, 0) - x(0, 0));
    EXPECT_NEAR(doubles_of(results[2])[0], first, 1e-13);
    double error = 0;
    EXPECT_EQ(code_of(tilefold_bound_check(bound.get(), outs[0], 5, &error)),
              "SeveralResults");
}

TEST_F(CCalls, ADerivativeAlongATangent) {
    const auto formula = parse(text);
    const char* along[] = {"b"};
    tilefold_formula* derived = nullptr;
    expect_success(
        tilefold_formula_jvp(formula.get(), along, 1, nullptr, &derived));
    Array<double> tangent{{7}, 9};
    auto given = arguments;
    given.push_back(TILEFOLD_ARRAY("tangent", &tangent.tensor));
    const auto bound = bind(Owned<tilefold_formula>(derived), given);
    Array<double> out{{5}};
    const DLTensor* outs[] = {&out.tensor};
    expect_success(tilefold_bound_run(bound.get(), outs, 1, nullptr));
    b.values = tangent.values;
    for (std::int64_t i = 0; i < 5; ++i)
        EXPECT_NEAR(out[i], expected(i), 1e-14);
}

TEST_F(CCalls, ElementsOfAPairTerm) {
    const auto pair = parse("exp(-|x_i - y_j|^2 / 2)");
    const std::int64_t rows[] = {4, 0}, columns[] = {6, 1};
    tilefold_bind_options options = TILEFOLD_BIND_OPTIONS_INIT;
    options.want = TILEFOLD_DENSE;
    options.rows_i = rows;
    options.rows_i_count = 2;
    Array<double> dense{{2, 7}};
    const DLTensor* outs[] = {&dense.tensor};
    expect_success(tilefold_bound_run(bind(pair, points, &options).get(), outs,
                                      1, nullptr));
    for (std::int64_t j = 0; j < 7; ++j) {
        EXPECT_NEAR(dense(0, j), gaussian(4, j), 1e-15);
        EXPECT_NEAR(dense(1, j), gaussian(0, j), 1e-15);
    }
    options.want = TILEFOLD_PAIRS;
    options.rows_j = columns;
    options.rows_j_count = 2;
    Array<double> listed{{2}};
    outs[0] = &listed.tensor;
    expect_success(tilefold_bound_run(bind(pair, points, &options).get(), outs,
                                      1, nullptr));
    EXPECT_NEAR(listed[0], gaussian(4, 6), 1e-15);
    EXPECT_NEAR(listed[1], gaussian(0, 1), 1e-15);
    options = TILEFOLD_BIND_OPTIONS_INIT;
    options.want = TILEFOLD_DIAG;
    points[1].array = &x.tensor;
    Array<double> diagonal{{5}};
    outs[0] = &diagonal.tensor;
    expect_success(tilefold_bound_run(bind(pair, points, &options).get(), outs,
                                      1, nullptr));
    for (const double value : diagonal.values)
        EXPECT_EQ(value, 1);
}

TEST_F(CCalls, RangesChooseThePairs) {
    const std::int64_t row_ends[] = {2, 5}, offsets[] = {0, 1, 3},
                       columns[] = {0, 3, 1, 2, 5, 7};
    tilefold_ranges* ranges = nullptr;
    expect_success(
        tilefold_ranges_create(row_ends, 2, offsets, columns, &ranges));
    const Owned<tilefold_ranges> owned(ranges);
    tilefold_bind_options options = TILEFOLD_BIND_OPTIONS_INIT;
    options.ranges = ranges;
    Array<double> out{{5}};
    const DLTensor* outs[] = {&out.tensor};
    expect_success(tilefold_bound_run(
        bind(parse(text), arguments, &options).get(), outs, 1, nullptr));
    for (std::int64_t i = 0; i < 5; ++i) {
        double sum = 0;
        for (const std::int64_t j : i < 2 ? std::vector<std::int64_t>{0, 1, 2}
                                          : std::vector<std::int64_t>{1, 5, 6})
            sum += gaussian(i, j) * b[j];
        EXPECT_NEAR(out[i], sum, 1e-14);
    }
}

TEST_F(CCalls, SumsOverABatch) {
    Array<double> batch{{4, 7, 1}, 5};
    const std::int64_t first[] = {0};
    tilefold_bind_options options = TILEFOLD_BIND_OPTIONS_INIT;
    options.sum_batch = first;
    options.sum_batch_count = 1;
    const auto bound = bind(parse("sum_j b_j^2"),
                            {TILEFOLD_ARRAY("b", &batch.tensor)}, &options);
    DLManagedTensorVersioned* made = nullptr;
    expect_success(tilefold_bound_allocate(bound.get(), 0, nullptr, &made));
    const Owned<DLManagedTensorVersioned> result(made);
    const DLTensor* outs[] = {&made->dl_tensor};
    expect_success(tilefold_bound_run(bound.get(), outs, 1, nullptr));
    double sum = 0;
    for (const double value : batch.values)
        sum += value * value;
    EXPECT_NEAR(doubles_of(result)[0], sum, 1e-13);
}

TEST_F(CCalls, SolvesWithAKernel) {
    const auto pair = parse("exp(-|x_i - x_j|^2 / 2)");
    Array<double> many{{40, 3}, 6}, right{{40, 2}, 7}, found{{40, 2}};
    tilefold_solve_options options = TILEFOLD_SOLVE_OPTIONS_INIT;
    options.ridge = 0.1;
    options.rtol = 1e-10;
    tilefold_solve_outcome outcome = TILEFOLD_SOLVE_OUTCOME_INIT;
    const tilefold_argument given = TILEFOLD_ARRAY("x", &many.tensor);
    expect_success(tilefold_solve(pair.get(), &given, 1, &right.tensor,
                                  &options, &found.tensor, &outcome));
    EXPECT_EQ(outcome.converged, 1);
    EXPECT_GT(outcome.iterations, 1);
    EXPECT_LT(outcome.residual, 1e-10);
    for (std::int64_t i = 0; i < 40; ++i)
        for (std::int64_t c = 0; c < 2; ++c) {
            double sum = 0.1 * found(i, c);
            for (std::int64_t j = 0; j < 40; ++j) {
                double square = 0;
                for (std::int64_t d = 0; d < 3; ++d)
                    square += std::pow(many(i, d) - many(j, d), 2);
                sum += std::exp(-square / 2) * found(j, c);
            }
            EXPECT_NEAR(sum, right(i, c), 1e-8);
        }
    options.maxiter = 1;
    options.preconditioner = TILEFOLD_PRECONDITIONER_NONE;
    expect_success(tilefold_solve(pair.get(), &given, 1, &right.tensor,
                                  &options, &found.tensor, &outcome));
    EXPECT_EQ(outcome.converged, 0);
}

TEST_F(CCalls, NeighboursWithinARadius) {
    const auto pair = parse("norm(x_i - y_j)");
    tilefold_neighbors* made = nullptr;
    expect_success(
        tilefold_radius_neighbors(pair.get(), points.data(), 2, 1.1, 1, &made));
    const Owned<tilefold_neighbors> found(made);
    ASSERT_EQ(tilefold_neighbors_rows(made), 5);
    const std::int64_t* offsets = tilefold_neighbors_offsets(made);
    const std::int64_t* columns = tilefold_neighbors_columns(made);
    const double* values = tilefold_neighbors_values(made);
    std::int64_t k = 0;
    for (std::int64_t i = 0; i < 5; ++i) {
        EXPECT_EQ(offsets[i], k);
        for (std::int64_t j = 0; j < 7; ++j) {
            const double distance = std::sqrt(-2 * std::log(gaussian(i, j)));
            if (distance > 1.1)
                continue;
            EXPECT_EQ(columns[k], j);
            EXPECT_NEAR(values[k], distance, 1e-13);
            ++k;
        }
    }
    EXPECT_EQ(offsets[5], k);
    EXPECT_GT(k, 3);
    EXPECT_LT(k, 32);
    expect_success(
        tilefold_radius_neighbors(pair.get(), points.data(), 2, 1.1, 0, &made));
    EXPECT_EQ(tilefold_neighbors_values(made), nullptr);
    EXPECT_EQ(tilefold_neighbors_offsets(made)[5], k);
    tilefold_neighbors_free(made);
}

TEST_F(CCalls, StagesAsText) {
    const auto formula = parse(text);
    const auto explain = [&](const char* stage) {
        char* made = nullptr;
        expect_success(
            tilefold_explain(formula.get(), arguments.data(), 3, stage, &made));
        return std::string(Owned<char>(made).get());
    };
    const std::string all = explain(nullptr);
    EXPECT_NE(all.find("── LLVM IR\n"), std::string::npos);
    EXPECT_NE(all.find(explain("assembly")), std::string::npos);
    EXPECT_NE(explain("sm_90").find("__global__"), std::string::npos);
    char* untouched = nullptr;
    EXPECT_EQ(code_of(tilefold_explain(formula.get(), arguments.data(), 3,
                                       "poetry", &untouched)),
              "UnknownStage");
    EXPECT_EQ(untouched, nullptr);
}

TEST_F(CCalls, StagesAsJson) {
    const auto formula = parse(text);
    const auto explain = [&](const char* architecture) {
        char* made = nullptr;
        expect_success(tilefold_explain_json(formula.get(), arguments.data(), 3,
                                             architecture, &made));
        return std::string(Owned<char>(made).get());
    };
    const std::string all = explain(nullptr);
    EXPECT_EQ(all.find("{\n  \"document\": \"tilefold explain\",\n"
                       "  \"version\": 1,\n"),
              0u);
    EXPECT_NE(all.find("\"stage\": \"assembly\""), std::string::npos);
    EXPECT_NE(explain("sm_90").find("\"stage\": \"CUDA C++\""),
              std::string::npos);
}

TEST_F(CCalls, CountersAndTheCache) {
    const auto counted = [&] {
        tilefold_statistics statistics = TILEFOLD_STATISTICS_INIT;
        expect_success(tilefold_session_statistics(session.get(), &statistics));
        return statistics;
    };
    EXPECT_EQ(counted().runs, 0);
    reduce(text, arguments);
    reduce(text, arguments);
    const tilefold_statistics after = counted();
    EXPECT_EQ(after.runs, 2);
    EXPECT_EQ(after.compiles + after.disk_hits, 1);
    EXPECT_EQ(tilefold_session_threads(session.get()), 2);
}

TEST_F(CCalls, AFolderIsCleared) {
    std::string folder =
        std::filesystem::temp_directory_path() / "tilefold-XXXXXX";
    ASSERT_NE(mkdtemp(folder.data()), nullptr);
    tilefold_options options = TILEFOLD_OPTIONS_INIT;
    options.cache_directory = folder.c_str();
    tilefold_session* made = nullptr;
    expect_success(tilefold_session_create(&options, &made));
    session.reset(made);
    reduce("sum_j 3 b_j", {arguments[2]});
    std::int64_t removed = -1;
    expect_success(tilefold_cache_clear(folder.c_str(), &removed));
    EXPECT_EQ(removed, 1);
    expect_success(tilefold_cache_clear(folder.c_str(), nullptr));
    expect_success(tilefold_cache_clear("", &removed));
    EXPECT_EQ(removed, 0);
    std::filesystem::remove_all(folder);
}

TEST_F(CCalls, AStrangersFormulaHasLimits) {
    tilefold_options options = TILEFOLD_OPTIONS_INIT;
    options.untrusted = 1;
    tilefold_session* made = nullptr;
    expect_success(tilefold_session_create(&options, &made));
    session.reset(made);
    reduce(text, arguments);
    const std::string longer = text + std::string(10000, ' ');
    tilefold_formula* formula = nullptr;
    EXPECT_EQ(code_of(tilefold_formula_parse(made, longer.c_str(), &formula)),
              "UntrustedLimit");
}

TEST_F(CCalls, ACallbackCancels) {
    Array<float> many{{60000, 3}, 8};
    const tilefold_argument given = TILEFOLD_ARRAY("x", &many.tensor);
    tilefold_run_options options = TILEFOLD_RUN_OPTIONS_INIT;
    int asked = 0;
    options.context = &asked;
    options.poll = [](void* context, double, double) -> std::int32_t {
        return ++*static_cast<int*>(context) < 2;
    };
    DLManagedTensorVersioned* result = nullptr;
    tilefold_error* error =
        tilefold_reduce(session.get(), "sum_j exp(-|x_i - x_j|^2)", &given, 1,
                        &options, &result);
    EXPECT_EQ(tilefold_error_family(error), TILEFOLD_ERROR_CANCELLED);
    EXPECT_EQ(code_of(error), "Cancelled");
    EXPECT_EQ(result, nullptr);
    EXPECT_EQ(asked, 2);
}

TEST(CLanguage, HasEveryTable) {
    const std::int64_t size = tilefold_language_size();
    EXPECT_GT(size, 150);
    std::vector<std::string> kinds;
    bool has_exp = false;
    for (std::int64_t k = 0; k < size; ++k) {
        const char *kind = nullptr, *summary = nullptr;
        const char* name = tilefold_language_name(k, &kind, &summary);
        ASSERT_NE(name, nullptr);
        EXPECT_GT(std::strlen(summary), 0u) << name;
        has_exp |= std::string(name) == "exp";
        if (kinds.empty() || kinds.back() != kind)
            kinds.push_back(kind);
    }
    EXPECT_TRUE(has_exp);
    EXPECT_EQ(kinds.size(), 9u);
    EXPECT_EQ(tilefold_language_name(size, nullptr, nullptr), nullptr);
    EXPECT_EQ(tilefold_language_name(-1, nullptr, nullptr), nullptr);
}

TEST(CVersion, IsThatOfTheHeader) {
    EXPECT_EQ(tilefold_abi(), std::uint32_t(TILEFOLD_ABI));
    EXPECT_STREQ(tilefold_version(), TILEFOLD_VERSION);
}

} // namespace tilefold::test
