// tests/c/test_memory.cpp - at every allocation of a call, memory is refused:
// the call gives an error of its family, writes nothing, and works afterwards.
// Of a compile, which has tens of thousands, some are refused.
#include "tests/c/arrays.h"
#include "tests/c/failing_malloc.h"

#include <functional>

namespace tilefold::test {

namespace {

class CMemory : public SessionTest {
protected:
    /// Refuses each allocation of `call` in turn, one and all from there on,
    /// until none is left; or one in so many, a `factor` more each time.
    static void refuse_each(const std::function<tilefold_error*()>& call,
                            double factor = 1) {
        expect_success(call()); // what is made once is there
        for (const std::int64_t count : {1, 1 << 30})
            for (std::int64_t first = 0;;
                 first = std::int64_t(double(first) * factor) + 1) {
                let_allocations_fail(first, count);
                tilefold_error* error = call();
                const bool met = stop_failing() > 0;
                if (error) {
                    EXPECT_EQ(tilefold_error_family(error),
                              TILEFOLD_ERROR_MEMORY)
                        << first << ": " << tilefold_error_message(error);
                }
                tilefold_error_free(error);
                expect_success(call());
                if (!met) {
                    EXPECT_GT(first, 0);
                    break;
                }
                ASSERT_LT(first, factor > 1 ? 50'000'000 : 5000);
            }
    }

    Array<double> x{{5, 3}}, y{{7, 3}}, b{{7}}, out{{5}};
    std::vector<tilefold_argument> arguments{TILEFOLD_ARRAY("x", &x.tensor),
                                             TILEFOLD_ARRAY("y", &y.tensor),
                                             TILEFOLD_ARRAY("b", &b.tensor)};
};

} // namespace

TEST_F(CMemory, OfAFormula) {
    refuse_each([&] {
        tilefold_formula* formula = nullptr;
        tilefold_error* error = tilefold_formula_parse(
            session.get(), "sum_j exp(-|x_i - y_j|^2) b_j", &formula);
        EXPECT_EQ(error == nullptr, formula != nullptr);
        tilefold_formula_free(formula);
        return error;
    });
}

TEST_F(CMemory, OfASession) {
    tilefold_options options = TILEFOLD_OPTIONS_INIT;
    options.cache_directory = "";
    options.threads = 2;
    refuse_each([&] {
        tilefold_session* made = nullptr;
        tilefold_error* error = tilefold_session_create(&options, &made);
        EXPECT_EQ(error == nullptr, made != nullptr);
        tilefold_session_free(made);
        return error;
    });
    refuse_each(
        [&] { return tilefold_cache_clear("/nowhere/at/all", nullptr); });
}

TEST_F(CMemory, OfACompile) {
    tilefold_options options = TILEFOLD_OPTIONS_INIT;
    options.cache_directory = "";
    options.threads = 1;
    refuse_each(
        [&] {
            tilefold_session* made = nullptr;
            tilefold_error* error = tilefold_session_create(&options, &made);
            const Owned<tilefold_session> owned(made);
            DLManagedTensorVersioned* result = nullptr;
            if (!error)
                error = tilefold_reduce(made, "sum_j exp(-|x_i - y_j|^2) b_j",
                                        arguments.data(), 3, nullptr, &result);
            EXPECT_EQ(error == nullptr, result != nullptr);
            tilefold_tensor_free(result);
            return error;
        },
        1.06);
}

TEST_F(CMemory, OfAnExplanation) {
    const auto formula = parse("sum_j exp(-|x_i - y_j|^2) b_j");
    refuse_each(
        [&] {
            char* text = nullptr;
            tilefold_error* error = tilefold_explain(
                formula.get(), arguments.data(), 3, "assembly", &text);
            EXPECT_EQ(error == nullptr, text != nullptr);
            tilefold_text_free(text);
            return error;
        },
        1.12);
}

TEST_F(CMemory, OfStatisticsAndShapes) {
    const auto formula = parse("sum_j exp(-|x_i - y_j|^2) b_j");
    const auto bound = bind(formula, arguments);
    // They have nothing to allocate, and so nothing to be refused.
    let_allocations_fail(0, 1 << 30);
    tilefold_statistics counted = TILEFOLD_STATISTICS_INIT;
    std::int32_t axes = 0;
    const std::int64_t* shape = nullptr;
    DLDataType type{};
    tilefold_error* const first =
        tilefold_session_statistics(session.get(), &counted);
    tilefold_error* const second =
        tilefold_bound_shape(bound.get(), 0, &axes, &shape, &type);
    EXPECT_EQ(stop_failing(), 0);
    expect_success(first);
    expect_success(second);
}

TEST_F(CMemory, OfADirection) {
    const auto formula = parse("sum_j exp(-|x_i - y_j|^2) b_j");
    const char* names[] = {"x", "b"};
    refuse_each([&] {
        tilefold_formula* derived = nullptr;
        tilefold_error* error =
            tilefold_formula_jvp(formula.get(), names, 2, "t", &derived);
        EXPECT_EQ(error == nullptr, derived != nullptr);
        tilefold_formula_free(derived);
        return error;
    });
}

TEST_F(CMemory, OfWhatIsAskedOfABoundFormula) {
    const auto formula = parse("sum_j exp(-|x_i - y_j|^2) b_j");
    const auto bound = bind(formula, arguments);
    refuse_each([&] {
        DLManagedTensorVersioned* made = nullptr;
        tilefold_error* error =
            tilefold_bound_allocate(bound.get(), 0, nullptr, &made);
        EXPECT_EQ(error == nullptr, made != nullptr);
        tilefold_tensor_free(made);
        return error;
    });
    const DLTensor* outs[] = {&out.tensor};
    expect_success(tilefold_bound_run(bound.get(), outs, 1, nullptr));
    refuse_each([&] {
        double found = 0;
        return tilefold_bound_check(bound.get(), &out.tensor, 3, &found);
    });
}

TEST_F(CMemory, OfADerivative) {
    const auto formula = parse("sum_j exp(-|x_i - y_j|^2) b_j");
    const char* names[] = {"x", "b"};
    refuse_each([&] {
        tilefold_formula* derived = nullptr;
        tilefold_error* error = tilefold_formula_gradient(formula.get(), names,
                                                          2, "g", 1, &derived);
        EXPECT_EQ(error == nullptr, derived != nullptr);
        tilefold_formula_free(derived);
        return error;
    });
}

TEST_F(CMemory, OfABoundFormula) {
    const auto formula = parse("sum_j exp(-|x_i - y_j|^2) b_j");
    const DLTensor* outs[] = {&out.tensor};
    refuse_each([&] {
        tilefold_bound* bound = nullptr;
        tilefold_error* error =
            tilefold_bind(formula.get(), arguments.data(), 3, nullptr, &bound);
        EXPECT_EQ(error == nullptr, bound != nullptr);
        if (!error)
            error = tilefold_bound_run(bound, outs, 1, nullptr);
        tilefold_bound_free(bound);
        return error;
    });
}

TEST_F(CMemory, OfAReduction) {
    refuse_each([&] {
        DLManagedTensorVersioned* made = nullptr;
        tilefold_error* error =
            tilefold_reduce(session.get(), "sum_j exp(-|x_i - y_j|^2) b_j",
                            arguments.data(), 3, nullptr, &made);
        EXPECT_EQ(error == nullptr, made != nullptr);
        tilefold_tensor_free(made);
        return error;
    });
}

TEST_F(CMemory, OfRangesAndNeighbours) {
    const std::int64_t ends[] = {2, 5}, offsets[] = {0, 1, 2},
                       columns[] = {0, 3, 1, 2};
    refuse_each([&] {
        tilefold_ranges* ranges = nullptr;
        tilefold_error* error =
            tilefold_ranges_create(ends, 2, offsets, columns, &ranges);
        EXPECT_EQ(error == nullptr, ranges != nullptr);
        tilefold_ranges_free(ranges);
        return error;
    });
    const auto pair = parse("norm(x_i - y_j)");
    refuse_each([&] {
        tilefold_neighbors* found = nullptr;
        tilefold_error* error = tilefold_radius_neighbors(
            pair.get(), arguments.data(), 2, 1, 1, &found);
        EXPECT_EQ(error == nullptr, found != nullptr);
        tilefold_neighbors_free(found);
        return error;
    });
}

TEST_F(CMemory, OfASystem) {
    const auto pair = parse("exp(-|x_i - x_j|^2)");
    Array<double> right{{5}};
    tilefold_solve_options options = TILEFOLD_SOLVE_OPTIONS_INIT;
    options.ridge = 1;
    refuse_each([&] {
        return tilefold_solve(pair.get(), arguments.data(), 1, &right.tensor,
                              &options, &out.tensor, nullptr);
    });
}

TEST_F(CMemory, OfAnErrorThatIsBeingMade) {
    tilefold_formula* formula = nullptr;
    for (std::int64_t first = 0; first < 5000; ++first) {
        let_allocations_fail(first, 1 << 30);
        tilefold_error* error = tilefold_formula_parse(
            session.get(), "sum_j expp(x_i - y_j)", &formula);
        const bool met = stop_failing() > 0;
        ASSERT_NE(error, nullptr);
        EXPECT_EQ(tilefold_error_family(error),
                  met ? TILEFOLD_ERROR_MEMORY : TILEFOLD_ERROR_FORMULA);
        EXPECT_STRNE(tilefold_error_message(error), "");
        tilefold_error_free(error);
        if (!met)
            return;
    }
    FAIL() << "memory was always wanted";
}

} // namespace tilefold::test
