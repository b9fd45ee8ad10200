// tests/c/test_errors.cpp - errors of the C interface are those of the session:
// the same codes, families, messages and places.
#include "tests/c/arrays.h"
#include "tests/formulas/golden.h"

#include <map>

namespace tilefold::test {

namespace {

struct Block {
    std::string code, formula, message;
};

/// Returns the blocks of messages.txt that are in the language itself.
std::vector<Block> blocks() {
    std::vector<Block> all;
    std::string* into = nullptr;
    for (const std::string& line :
         tests::lines_of(tests::read_golden("messages.txt"))) {
        if (line.starts_with("=== ")) {
            all.push_back({line.substr(4), "", ""});
            into = &all.back().formula;
        } else if (line == "---") {
            into = &all.back().message;
        } else if (into) {
            *into += (into->empty() ? "" : "\n") + line;
        }
    }
    std::erase_if(all, [](const Block& block) {
        return block.code.find(" | ") != std::string::npos; // KeOps
    });
    for (Block& block : all)
        while (block.message.ends_with('\n'))
            block.message.pop_back();
    return all;
}

enum FamilyName {
    Formula = TILEFOLD_ERROR_FORMULA,
    Shape = TILEFOLD_ERROR_SHAPE,
    DType = TILEFOLD_ERROR_DTYPE,
    Argument = TILEFOLD_ERROR_ARGUMENT,
    OutOfMemory = TILEFOLD_ERROR_MEMORY,
    Device = TILEFOLD_ERROR_DEVICE,
    Cancelled = TILEFOLD_ERROR_CANCELLED,
    Internal = TILEFOLD_ERROR_INTERNAL,
    Warning = 0, // never an error
};

const std::map<std::string, std::int32_t> families = {
#define DIAGNOSTIC(code, family, found, cure) {#code, family},
#include "formulas/diagnostics.def"
#undef DIAGNOSTIC
};

class CErrors : public SessionTest {};

} // namespace

TEST_F(CErrors, OfFormulasAreTheSessions) {
    std::size_t met = 0;
    for (const Block& block : blocks()) {
        const std::string text = tests::expand(block.formula);
        if (text.find('\0') != std::string::npos)
            continue; // a text of C ends there
        tilefold_formula* formula = nullptr;
        const Owned<tilefold_error> error(
            tilefold_formula_parse(session.get(), text.c_str(), &formula));
        ASSERT_NE(error, nullptr) << text;
        EXPECT_EQ(formula, nullptr);
        EXPECT_EQ(tilefold_error_code(error.get()), block.code);
        EXPECT_EQ(tilefold_error_family(error.get()), families.at(block.code));
        EXPECT_EQ(tilefold_error_message(error.get()),
                  tests::expand(block.message))
            << text;
        if (block.code != "EmptyFormula") {
            EXPECT_EQ(tilefold_error_formula(error.get()), text);
        }
        std::int64_t begin = -1, end = -1;
        tilefold_error_span(error.get(), &begin, &end);
        EXPECT_LE(0, begin);
        EXPECT_LE(begin, end);
        EXPECT_LE(end, std::int64_t(text.size()));
        ++met;
    }
    EXPECT_GT(met, 100u);
}

TEST_F(CErrors, OfCallsHaveAFamilyAndAPlace) {
    Array<double> x{{5, 3}}, y{{7, 2}};
    const auto error_of = [&](const char* text,
                              const std::vector<tilefold_argument>& given) {
        DLManagedTensorVersioned* result = nullptr;
        Owned<tilefold_error> error(
            tilefold_reduce(session.get(), text, given.data(),
                            std::int64_t(given.size()), nullptr, &result));
        EXPECT_NE(error, nullptr) << text;
        EXPECT_EQ(families.at(tilefold_error_code(error.get())),
                  tilefold_error_family(error.get()));
        return error;
    };
    const std::vector<tilefold_argument> both = {
        TILEFOLD_ARRAY("x", &x.tensor), TILEFOLD_ARRAY("y", &y.tensor)};
    const auto shape = error_of("sum_j |x_i - y_j|^2", both);
    EXPECT_EQ(tilefold_error_family(shape.get()), TILEFOLD_ERROR_SHAPE);
    std::int64_t begin = 0, end = 0;
    tilefold_error_span(shape.get(), &begin, &end);
    EXPECT_EQ(std::string(tilefold_error_formula(shape.get()))
                  .substr(std::size_t(begin), std::size_t(end - begin)),
              "x_i - y_j");
    const auto missing = error_of("sum_j x_i·z_j", both);
    EXPECT_EQ(tilefold_error_family(missing.get()), TILEFOLD_ERROR_ARGUMENT);
    const auto dtype = error_of("sum_j x_i mod 0.5·y_j", both);
    EXPECT_EQ(tilefold_error_family(dtype.get()), TILEFOLD_ERROR_FORMULA);
}

TEST_F(CErrors, OfTheCompilersLibraryNameAllThatWasTried) {
    ASSERT_EQ(setenv("TILEFOLD_LLVM", "/nowhere/libtilefold_llvm.so", 1), 0);
    Array<double> x{{5}};
    const tilefold_argument given = TILEFOLD_ARRAY("x", &x.tensor);
    tilefold_options options = TILEFOLD_OPTIONS_INIT;
    options.cache_directory = "";
    tilefold_session* made = nullptr;
    expect_success(tilefold_session_create(&options, &made));
    const Owned<tilefold_session> own(made);
    DLManagedTensorVersioned* result = nullptr;
    const auto reduce = [&] {
        return Owned<tilefold_error>(
            tilefold_reduce(made, "sum_i 17 x_i", &given, 1, nullptr, &result));
    };
    const auto error = reduce();
    unsetenv("TILEFOLD_LLVM");
    ASSERT_NE(error, nullptr);
    EXPECT_STREQ(tilefold_error_code(error.get()), "CompilerMissing");
    EXPECT_EQ(tilefold_error_family(error.get()), TILEFOLD_ERROR_DEVICE);
    EXPECT_EQ(std::string(tilefold_error_message(error.get()))
                  .find("the compiler library /nowhere/libtilefold_llvm.so "
                        "could not be loaded: it is not there"),
              0u)
        << tilefold_error_message(error.get());
    EXPECT_EQ(reduce(), nullptr); // looked for again
    tilefold_tensor_free(result);
}

} // namespace tilefold::test
