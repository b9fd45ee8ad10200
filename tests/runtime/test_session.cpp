// tests/runtime/test_session.cpp - formulas on arrays, end to end: results,
// shapes, compiles and caches.

#include "compiler/pipeline.h"
#include "runtime/cache/disk_cache.h"
#include "runtime/cpu/float_mode.h"
#include "runtime/cpu/isa.h"
#include "runtime/session/inspect.h"
#include "tests/runtime/session_fixture.h"

#include <atomic>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

namespace tilefold::test {
namespace {

using Shape = std::vector<std::int64_t>;

template <class T>
double kernel_value(const Values<T>& x, std::int64_t i, const Values<T>& y,
                    std::int64_t j, double l) {
    double squared = 0;
    for (std::int64_t d = 0; d < x.shape.back(); ++d) {
        double difference = double(x.at(i, d)) - double(y.at(j, d));
        squared += difference * difference;
    }
    return std::exp(-squared / (2 * l * l));
}

TEST_F(SessionTest, SumsOverColumns) {
    Values<float> x({70, 3}), y({300, 3}, 2), b({300}, 3);
    Array out = session.reduce(gaussian, {named("x", x), named("y", y),
                                          named("b", b), named("l", 0.5)});
    ASSERT_EQ(out.dtype, DType::F32);
    ASSERT_EQ(out.shape, Shape{70});
    for (std::int64_t i = 0; i < 70; ++i) {
        double expected = 0;
        for (std::int64_t j = 0; j < 300; ++j)
            expected += kernel_value(x, i, y, j, 0.5) * double(b[j]);
        EXPECT_NEAR(out.as<float>()[i], expected, 1e-4);
    }
}

/// Their reciprocals are flushed to 0; see Program::as_written.
TEST_F(SessionTest, LargeDivisorsAreDividedBy) {
    Values<float> x({70}), b({300}, 2);
    for (std::int64_t k = 0; k < 300; ++k)
        b[k] = 1e38F * (2 + std::fabs(b[k]));
    for (std::int64_t k = 0; k < 70; ++k)
        x[k] *= 3e38F;
    const auto expect = [&](const float* found, double before) {
        for (std::int64_t i = 0; i < 70; ++i) {
            double sum = before;
            for (std::int64_t j = 0; j < 300; ++j)
                sum += double(x[i]) / double(b[j]);
            EXPECT_NEAR(found[i], sum, 1e-5 * std::fabs(sum) + 1e-5);
        }
    };
    const Array out =
        session.reduce("sum_j x_i/b_j", {named("x", x), named("b", b)});
    expect(out.as<float>(), 0);
    std::vector<float> added(70, 3);
    const NamedView arguments[] = {named("x", x), named("b", b)};
    RunOptions options;
    options.accumulate = true;
    session.formula("sum_j x_i/b_j")
        .bind(arguments)
        .run(Output::of(added.data(), DType::F32, {70}), options);
    expect(added.data(), 3);
}

/// Results of `sum_j b_j (1 + x_i²y_j²)^a`, and of a sum of two powers, whose
/// first exponent is no argument of the graph that has it for a number.
TEST_F(SessionTest, ExponentsOfLargeCallsAreNumbers) {
    constexpr std::int64_t n = 2048;
    Values<double> x({n}), y({n}, 2), b({n}, 3);
    const auto sum = [&](std::int64_t i, auto term) {
        double result = 0;
        for (std::int64_t j = 0; j < n; ++j) {
            const double product = x.values[std::size_t(i)] * y[j];
            result += b[j] * term(1 + product * product);
        }
        return result;
    };
    for (double a : {2.0, -0.5, 1.3, 3.0, 2.0}) {
        const Array one = session.reduce(
            "sum_j b_j (1 + x_i²*y_j²)^a",
            {named("x", x), named("y", y), named("b", b), named("a", a)});
        const Array two =
            session.reduce("sum_j b_j*((1 + x_i²*y_j²)^a + (1 + x_i²*y_j²)^c)",
                           {named("x", x), named("y", y), named("b", b),
                            named("a", a), named("c", 0.7)});
        for (std::int64_t i = 0; i < n; i += 100) {
            const auto power = [&](double base) { return std::pow(base, a); };
            const auto both = [&](double base) {
                return std::pow(base, a) + std::pow(base, 0.7);
            };
            EXPECT_NEAR(one.as<double>()[i], sum(i, power), 1e-10) << a;
            EXPECT_NEAR(two.as<double>()[i], sum(i, both), 1e-10) << a;
        }
    }
    EXPECT_EQ(session.statistics().compiles, 2 + 2 * 3); // of 2, -1/2 and 3
}

TEST_F(SessionTest, ExponentsOfBatchesAreTheirOwn) {
    constexpr std::int64_t n = 1024;
    Values<double> x({n}), y({n}, 2);
    for (std::int64_t k = 0; k < n; ++k) {
        x[k] = 2 + x[k];
        y[k] = 2 + y[k];
    }
    Values<double> a({4, 1, 1}, {2.0, 1.5, 3.0, 0.7});
    const Array result = session.reduce(
        "sum_j (x_i y_j)^a", {named("x", x), named("y", y), named("a", a)});
    for (std::int64_t k = 0; k < 4; ++k) {
        double sum = 0;
        for (std::int64_t j = 0; j < n; ++j)
            sum += std::pow(x[0] * y[j], a[k]);
        EXPECT_NEAR(result.as<double>()[k * n] / sum, 1, 1e-12);
    }
}

TEST_F(SessionTest, ShapesOfResultsFollowTheFormula) {
    Values<double> x({5, 3}), y({7, 3}), b({7}), b1({7, 1}), b4({7, 4});
    auto shape = [&](const char* formula,
                     std::initializer_list<NamedView> arguments) {
        return session.reduce(formula, arguments).shape;
    };
    NamedView vx = named("x", x), vy = named("y", y), l = named("l", 2.0);
    const char* sum = gaussian.c_str();
    EXPECT_EQ(shape(sum, {vx, vy, named("b", b), l}), Shape({5}));
    EXPECT_EQ(shape(sum, {vx, vy, named("b", b1), l}), Shape({5, 1}));
    EXPECT_EQ(shape(sum, {vx, vy, named("b", b4), l}), Shape({5, 4}));
    EXPECT_EQ(shape("sum_i x_i·y_j", {vx, vy}), Shape({7}));
    EXPECT_EQ(shape("sum_ij x_i·y_j", {vx, vy}), Shape({}));
    EXPECT_EQ(shape("sum_i x_i", {vx}), Shape({3}));
    EXPECT_EQ(shape("sin(x_i)*2", {vx}), Shape({5, 3}));
    EXPECT_EQ(shape("sum_j b_j", {named("b", b)}), Shape({}));
    EXPECT_EQ(shape("argmin_j |x_i-y_j|", {vx, vy}), Shape({5}));
    EXPECT_EQ(shape("argkmin_j(|x_i-y_j|, 4)", {vx, vy}), Shape({5, 4}));
    EXPECT_EQ(shape("l*2", {l}), Shape({}));
}

TEST_F(SessionTest, ReductionsOverEitherAxisAgree) {
    Values<double> x({90, 2}), y({40, 2}, 2);
    NamedView vx = named("x", x), vy = named("y", y);
    Array over_j = session.reduce("sum_j exp(-|x_i-y_j|²)", {vx, vy});
    Array over_i = session.reduce("sum_i exp(-|x_i-y_j|²)", {vx, vy});
    Array both = session.reduce("sum_ij exp(-|x_i-y_j|²)", {vx, vy});
    double by_rows = 0, by_columns = 0;
    for (int i = 0; i < 90; ++i)
        by_rows += over_j.as<double>()[i];
    for (int j = 0; j < 40; ++j)
        by_columns += over_i.as<double>()[j];
    EXPECT_NEAR(both.as<double>()[0], by_rows, 1e-9);
    EXPECT_NEAR(both.as<double>()[0], by_columns, 1e-9);
    Array one_axis = session.reduce("sum_i sin(x_i[0])", {vx});
    double expected = 0;
    for (int i = 0; i < 90; ++i)
        expected += std::sin(x.at(i, 0));
    EXPECT_NEAR(one_axis.as<double>()[0], expected, 1e-12);
    Array map = session.reduce("x_i[0] + 2*y_i[1]", {vx, named("y", x)});
    for (int i = 0; i < 90; ++i)
        EXPECT_DOUBLE_EQ(map.as<double>()[i], x.at(i, 0) + 2 * x.at(i, 1));
}

TEST_F(SessionTest, OneCompileServesAllSizesAndWidths) {
    for (std::int64_t k = 1; k <= 50; ++k) {
        Values<float> x({k, 3}), y({2 * k, 3}), b({2 * k, 4 * k});
        session.reduce(gaussian, {named("x", x), named("y", y), named("b", b),
                                  named("l", 0.5)});
    }
    EXPECT_EQ(session.statistics().compiles, 1);
    EXPECT_EQ(session.statistics().runs, 50);
}

TEST_F(SessionTest, OneCompileServesAllNumbersInTheText) {
    Values<double> x({4}), y({5});
    for (int k = 0; k < 200; ++k) {
        double c = 0.01 * k + 1.5;
        Array out = session.reduce("sum_j " + std::to_string(c) + "*x_i*y_j",
                                   {named("x", x), named("y", y)});
        double expected = 0;
        for (int j = 0; j < 5; ++j)
            expected += c * x[1] * y[j];
        ASSERT_NEAR(out.as<double>()[1], expected, 1e-6);
    }
    EXPECT_EQ(session.statistics().compiles, 1);
}

TEST_F(SessionTest, TheDiskServesTheNextSession) {
    Values<float> x({4, 3}), b({4});
    auto call = [&](Session& with) {
        return with.reduce("sum_j exp(-|x_i-x_j|²) b_j",
                           {named("x", x), named("b", b)});
    };
    Array first = call(session);
    Session second(options());
    EXPECT_EQ(call(second).bytes, first.bytes);
    EXPECT_EQ(second.statistics().compiles, 0);
    EXPECT_EQ(second.statistics().disk_hits, 1);
    for (auto& entry : std::filesystem::directory_iterator(cache()))
        std::filesystem::resize_file(entry, 100);
    Session third(options());
    EXPECT_EQ(call(third).bytes, first.bytes);
    EXPECT_EQ(third.statistics().compiles, 1);
    auto entries = DiskCache(cache(), 1 << 30).list(true);
    ASSERT_EQ(entries.size(), 1u);
    EXPECT_EQ(entries[0].miss, DiskMiss::None);
}

TEST_F(SessionTest, TheLogSaysWhyACompileWasNeeded) {
    Values<double> x({4}), y({5});
    Options logged = options();
    logged.log = true;
    auto log_of = [&](const std::string& directory) {
        logged.cache_directory = directory;
        Session with(logged);
        testing::internal::CaptureStderr();
        with.reduce("sum_j x_i*y_j", {named("x", x), named("y", y)});
        with.reduce("sum_j x_i*y_j", {named("x", x), named("y", y)});
        std::string text = testing::internal::GetCapturedStderr();
        std::size_t in = text.find(" in "), ms = text.find(" ms ");
        return in == std::string::npos ? text
                                       : text.replace(in, ms - in, " in #");
    };
    std::string line = "tilefold: compiled sum_j x_i*y_j in # ms (not in "
                       "memory; disk: ";
    EXPECT_EQ(log_of(cache()), line + "absent)\n");
    EXPECT_EQ(log_of(cache()), "");
    for (auto& entry : std::filesystem::directory_iterator(cache()))
        std::filesystem::resize_file(entry, 100);
    EXPECT_EQ(log_of(cache()), line + "damaged)\n");
    EXPECT_EQ(log_of("/proc/nowhere"), line + "cache directory unusable)\n");
    EXPECT_EQ(log_of(""), line + "off)\n");
}

TEST_F(SessionTest, ManyThreadsCompileAFormulaOnce) {
    Values<double> x({60}), y({50});
    std::vector<std::thread> threads;
    for (int k = 0; k < 8; ++k)
        threads.emplace_back([&] {
            for (int round = 0; round < 50; ++round)
                session.reduce("sum_j exp(x_i*y_j)",
                               {named("x", x), named("y", y)});
        });
    for (std::thread& thread : threads)
        thread.join();
    EXPECT_EQ(session.statistics().compiles, 1);
    EXPECT_EQ(session.statistics().runs, 400);
}

TEST_F(SessionTest, AFailedCallLeavesTheSessionUsable) {
    Values<double> x({4, 3}), y({5, 2}), z({5, 3});
    for (int k = 0; k < 3; ++k) {
        EXPECT_THROW(
            session.reduce("sum_j x_i·y_j", {named("x", x), named("y", y)}),
            Error);
        EXPECT_NO_THROW(
            session.reduce("sum_j x_i·y_j", {named("x", x), named("y", z)}));
    }
}

TEST_F(SessionTest, BitsDoNotDependOnThreads) {
    Values<float> x({3000, 3}), y({5000, 3}, 2), b({5000, 2}, 3);
    for (const char* formula :
         {"sum_j exp(-|x_i-y_j|²) b_j", "logsumexp_j(-|x_i-y_j|²)",
          "argkmin_j(|x_i-y_j|, 3)", "sum_ij exp(-|x_i-y_j|²)",
          "max_ij |x_i-y_j|", "sum_i exp(-|x_i-y_j|²)"}) {
        std::vector<NamedView> arguments{named("x", x), named("y", y)};
        if (std::string(formula).find("b_j") != std::string::npos)
            arguments.push_back(named("b", b));
        std::vector<std::byte> first;
        for (int threads : {1, 2, 3, 8}) {
            Session with(options(threads));
            Array out = with.formula(formula)(arguments);
            if (first.empty())
                first = out.bytes;
            EXPECT_EQ(out.bytes, first) << formula << " " << threads;
        }
    }
}

TEST_F(SessionTest, EmptyAxesGiveTheIdentityOrNothing) {
    Values<double> none({0, 3}), x({4, 3});
    auto reduce = [&](const char* formula, const Values<double>& on_i,
                      const Values<double>& on_j) {
        return session.reduce(formula, {named("x", on_i), named("y", on_j)});
    };
    EXPECT_EQ(reduce("sum_j x_i·y_j", none, x).shape, Shape({0}));
    Array zeros = reduce("sum_j x_i·y_j", x, none);
    ASSERT_EQ(zeros.shape, Shape({4}));
    EXPECT_EQ(zeros.as<double>()[3], 0);
    EXPECT_EQ(reduce("min_j x_i·y_j", x, none).as<double>()[0], INFINITY);
    EXPECT_EQ(reduce("argmin_j x_i·y_j", x, none).as<std::int64_t>()[0], -1);
    EXPECT_EQ(reduce("sum_ij x_i·y_j", none, none).as<double>()[0], 0);
    Values<double> no_batches({0, 4, 3});
    EXPECT_EQ(reduce("sum_j x_i·y_j", no_batches, x).shape, Shape({0, 4}));
}

TEST_F(SessionTest, ParametersDoNotPromote) {
    Values<float> x({4, 3});
    Values<double> scales({3});
    Array out = session.reduce("sum_j exp(-|(x_i-x_j)/s|²)",
                               {named("x", x), named("s", scales)});
    EXPECT_EQ(out.dtype, DType::F32);
}

TEST_F(SessionTest, ExplainsEveryStage) {
    Values<float> x({4, 3}), b({4});
    auto stages = session.explain("sum_j exp(-|x_i-x_j|²) b_j",
                                  std::array{named("x", x), named("b", b)});
    std::vector<std::string> names;
    for (const ExplainSection& stage : stages) {
        names.push_back(stage.name);
        EXPECT_FALSE(stage.text.empty()) << stage.name;
    }
    ASSERT_GE(names.size(), 2u);
    EXPECT_EQ(names[names.size() - 2], "LLVM IR");
    EXPECT_EQ(names.back(), "assembly");
}

TEST_F(SessionTest, BothAxesAreReadByOneFunction) {
    Values<float> x({4, 3}), y({5, 3});
    const auto stages = session.explain(
        "sum_j |x_i-y_j|²", std::array{named("x", x), named("y", y)});
    const std::string& code = stages[stages.size() - 2].text;
    const auto count = [&](const std::string& wanted) {
        int found = 0;
        for (auto at = code.find(wanted); at != std::string::npos;
             at = code.find(wanted, at + 1))
            ++found;
        return found;
    };
    EXPECT_EQ(count("define hidden void @split_f32_3("), 1);
    EXPECT_EQ(count("call void @split_f32_3("), 2);
}

TEST_F(SessionTest, AResultThatDoesNotFitIsRefused) {
    double one = 1;
    View many = View::of(&one, DType::F64, {std::int64_t(1) << 59});
    many.strides[0] = 0;
    EXPECT_EQ(
        message_of([&] { session.reduce("2*x_i", {named("x", many)}); }),
        "the result needs 4611686018427 MB, which could not be allocated\n"
        "reduce it, or take a part of the rows at a time");
}

TEST_F(SessionTest, AResultOfMoreBytesThanAreCountedIsRefused) {
    double one = 1;
    View many = View::of(&one, DType::F64, {std::int64_t(1) << 60});
    many.strides[0] = 0;
    EXPECT_EQ(message_of([&] { session.reduce("2*x_i", {named("x", many)}); }),
              "a result of shape (1152921504606846976,) needs 8 EiB or more, "
              "which could not be allocated\npass fewer points at a time");
}

/// In a program beside which no compiler library lies.
void use_a_filled_cache(const Options& options) {
    Session own(options);
    Values<double> x({4}), y({5});
    std::array arguments{named("x", x), named("y", y)};
    EXPECT_EQ(own.formula("sum_j x_i*y_j")(arguments).shape, Shape({4}));
    try {
        own.formula("max_j x_i*y_j")(arguments);
        ADD_FAILURE() << "compiled";
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), Code::CompilerMissing);
        std::string text = error.what();
        EXPECT_EQ(text.find("the compiler library /"), 0u) << text;
        EXPECT_NE(text.find("/libtilefold_llvm.so could not be loaded: "),
                  std::string::npos);
        EXPECT_NE(text.find("\nreinstall tilefold, or provide a filled cache"),
                  std::string::npos);
    }
}

TEST_F(SessionTest, WithoutTheCompilerACacheStillServes) {
    const char* variable = "TILEFOLD_TEST_FILLED_CACHE";
    if (const char* filled = std::getenv(variable)) {
        Options with = options();
        with.cache_directory = filled;
        return use_a_filled_cache(with);
    }
    Values<double> x({4}), y({5});
    session.reduce("sum_j x_i*y_j", {named("x", x), named("y", y)});
    auto lonely = temporary_.path() / "lonely";
    std::filesystem::copy_file("/proc/self/exe", lonely);
    std::string log = temporary_.path() / "log";
    std::string command =
        std::string(variable) + "=" + cache() + " " + lonely.string() +
        " --gtest_filter='*WithoutTheCompiler*' > " + log + " 2>&1";
    EXPECT_EQ(std::system(command.c_str()), 0);
    std::ifstream file(log);
    std::string text{std::istreambuf_iterator<char>(file), {}};
    EXPECT_NE(text.find("[  PASSED  ] 1 test"), std::string::npos) << text;
}

TEST_F(SessionTest, SettingsOfACallGoWithTheCall) {
    Values<float> x({70, 3}), y({300, 3}, 2);
    const std::vector<NamedView> arguments{named("x", x), named("y", y)};
    const Formula own = session.formula("sum_j exp(-|x_i - y_j|²)");
    Options options;
    options.isa = std::string(spelling_of(cpu::least_isa()));
    options.threads = 1; // the session's
    const Formula narrow = own.with(options);
    EXPECT_EQ(kernels_of(narrow.bind(arguments))[0].plan.isa, cpu::least_isa());
    EXPECT_EQ(spelling_of(kernels_of(own.bind(arguments))[0].plan.isa),
              *session.options().isa);
    narrow.with(options)(arguments);
    EXPECT_EQ(session.statistics().runs, 1);
    options.tolerance = -1;
    EXPECT_THROW(own.with(options), Error);
}

/// See float_mode.h: kernels are compiled for its mode, and run in it.
TEST_F(SessionTest, SubnormalNumbersAreReadAndFlushedAsTheModeSays) {
    Values<float> x({2}), small({1}), large({1});
    x[0] = 0x1p-100f;
    x[1] = 0x1p-140f; // subnormal
    small[0] = 0x1p-30f;
    large[0] = 0x1p100f;
    const auto products = [&](const Values<float>& y) {
        return session.reduce("sum_j x_i y_j", {named("x", x), named("y", y)});
    };
    EXPECT_EQ(products(small).as<float>()[0],
              cpu::flushes_results() ? 0 : 0x1p-130f);
    EXPECT_EQ(products(large).as<float>()[0], 1);
    EXPECT_EQ(products(large).as<float>()[1], 0x1p-40f);
}

TEST_F(SessionTest, InstructionSetsAgree) {
    Values<float> x({70, 3}), y({300, 3}, 2);
    std::vector<Array> results;
    for (const IsaRow& row : isa_rows()) {
        Options with = options();
        with.isa = std::string(row.spelling);
        try {
            results.push_back(
                Session(with).reduce("sum_j tanh(exp(-|x_i - y_j|²))",
                                     {named("x", x), named("y", y)}));
            EXPECT_TRUE(cpu::runs(row.isa)) << row.spelling;
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), Code::UnsupportedTarget);
            EXPECT_FALSE(cpu::runs(row.isa)) << row.spelling;
        }
    }
    ASSERT_FALSE(results.empty());
    for (const Array& result : results)
        for (std::int64_t i = 0; i < 70; ++i)
            EXPECT_NEAR(results[0].as<float>()[i], result.as<float>()[i], 1e-4);
}

} // namespace
} // namespace tilefold::test
