// tests/numerics/test_ulp.cpp - ulp.csv, which measure_ulp writes, holds every
// function, is within what is promised, and no sample exceeds it.

#include "tests/numerics/kernel_case.h"
#include "tests/numerics/ulp.h"
#include "tests/numerics/ulp_samples.h"
#include "tests/sample.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

namespace tilefold::test {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

std::vector<Domain> all_domains() {
    std::vector<Domain> all = unary_domains();
    for (const Domain& domain : binary_domains())
        all.push_back(domain);
    return all;
}

const Row* find(const std::vector<Row>& table, const Domain& domain, Isa isa) {
    const auto place = std::ranges::find_if(table, [&](const Row& row) {
        return row.function == ir::row_of(domain.op).spelling &&
               row.isa == spelling_of(isa) && row.to == domain.to;
    });
    return place == table.end() ? nullptr : &*place;
}

class Ulps : public testing::TestWithParam<Isa> {};

TEST_P(Ulps, OfEveryFunctionAreRecorded) {
    const std::vector<Row> table = read_table();
    for (const Domain& domain : all_domains()) {
        const Row* row = find(table, domain, GetParam());
        ASSERT_TRUE(row) << "no row of " << ir::row_of(domain.op).spelling
                         << " in ulp.csv; measure_ulp writes it";
        EXPECT_EQ(row->from, domain.from) << row->function;
    }
}

TEST_P(Ulps, AreWithinWhatIsPromised) {
    const std::map<std::string, double> promised = {
        {"exp", 1.1},  {"exp2", 1.1},  {"log", 1.1},
        {"sqrt", 1.1}, {"rsqrt", 1.1}, {"sin", 1},
        {"cos", 1},    {"tanh", 2},    {"erf", 2}};
    for (const Row& row : read_table()) {
        const auto place = promised.find(row.function);
        EXPECT_LE(row.ulp, place == promised.end() ? 4 : place->second)
            << print(row);
    }
}

TEST_P(Ulps, OfSamplesAreNotLarger) {
    if (!can_run(GetParam()))
        GTEST_SKIP() << "this processor has no " << spelling_of(GetParam());
    const std::vector<Row> table = read_table();
    // An emulator takes minutes for all.
    const double share = GetParam() == Isa::AArch64 ? 0.2 : 1;
    for (const Domain& domain : all_domains()) {
        const Row* row = find(table, domain, GetParam());
        ASSERT_TRUE(row) << ir::row_of(domain.op).spelling;
        if (share < 1 && !tests::in_sample(share, row->function))
            continue;
        Measured measured(domain.op, GetParam());
        Worst worst;
        if (ir::row_of(domain.op).arity == 2) {
            worst = measured({&row->x, 1}, {&row->y, 1}, domain);
            for (std::uint64_t part = 0; part < 16; ++part) {
                const Samples samples =
                    pairs(domain.op, 67 * part, Measured::block);
                worst.add(measured(samples.x, samples.y, domain));
            }
        } else {
            const std::vector<float> x = numbers(row->x);
            for (std::size_t k = 0; k < x.size(); k += Measured::block)
                worst.add(measured(std::span(x).subspan(k, Measured::block), {},
                                   domain));
        }
        EXPECT_LE(worst.ulp, row->ulp)
            << row->function << " of " << worst.x << ", " << worst.y;
        EXPECT_GE(worst.ulp, row->ulp - 0.02)
            << row->function << ": the recorded worst input is no more";
    }
}

INSTANTIATE_TEST_SUITE_P(Isas, Ulps,
                         testing::Values(Isa::X86_64_V3, Isa::X86_64_V4,
                                         Isa::AArch64));

TEST(UlpsOfOneResult, AreStepsAtTheExactOne) {
    EXPECT_EQ(ulps(1, 1), 0);
    EXPECT_EQ(ulps(1 + 0x1p-23f, 1), 1);
    EXPECT_EQ(ulps(1 - 0x1p-24f, 1), 0.5);
    EXPECT_EQ(ulps(-2, 2), 0x1p24);
    EXPECT_EQ(ulps(0, 1e-40), 0);
    EXPECT_EQ(ulps(0x1p-149f, 0), 1);
    EXPECT_EQ(ulps(float(infinity), infinity), 0);
    EXPECT_EQ(ulps(-float(infinity), infinity), infinity);
    EXPECT_EQ(ulps(float(infinity), 0x1.fffffep127), 1);
    EXPECT_EQ(ulps(0x1.fffffep127f, infinity), infinity);
    EXPECT_EQ(ulps(NAN, 1), infinity);
    EXPECT_EQ(ulps(1, NAN), infinity);
    EXPECT_EQ(ulps(NAN, NAN), 0);
}

} // namespace
} // namespace tilefold::test
