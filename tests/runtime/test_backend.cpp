// tests/runtime/test_backend.cpp - an image does not depend on who helped to
// compile it, nor on what was compiled before.

#include "runtime/cache/backend.h"

#include "compiler/language/vocabulary.h"
#include "compiler/pipeline.h"
#include "formulas/parser.h"

#include <array>
#include <gtest/gtest.h>

namespace tilefold::test {
namespace {

CompileRequest request_for(std::string_view formula, DType dtype) {
    const std::array types{
        ArgumentType{"x", std::nullopt, dtype, 1, 3, 1},
        ArgumentType{"y", std::nullopt, dtype, 1, 3, 1},
    };
    return request_of(
        plan_for_cpu(compile(parse(formula, vocabulary()), types, Mode::Reduce),
                     {.isa = Isa::X86_64_V3}));
}

TEST(Backend, MakesTheSameImageOnAnyNumberOfThreads) {
    Backend backend;
    for (DType dtype : {DType::F32, DType::F64})
        for (const char* formula :
             {"sum_j exp(-|x_i - y_j|²)", "sum_j sin(|x_i - y_j|)"}) {
            const CompileRequest request = request_for(formula, dtype);
            ThreadPool alone(1);
            const Artifact first = backend.compile(request, alone);
            EXPECT_GT(first.code.size(), 500u);
            for (int threads : {1, 2, 8}) {
                ThreadPool pool(threads);
                const Artifact again = backend.compile(request, pool);
                EXPECT_EQ(again.code, first.code) << formula << threads;
                EXPECT_EQ(again.layout.uses_functions,
                          first.layout.uses_functions);
            }
        }
}

} // namespace
} // namespace tilefold::test
