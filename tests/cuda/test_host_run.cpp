// tests/cuda/test_host_run.cpp - arrays of the host in pieces: how calls are
// cut, and that every piece arrives where it belongs. The fake driver does
// what is queued as late as it may.

#include "runtime/cuda/cut.h"
#include "runtime/cuda/host_run.h"
#include "tests/compiler/support.h"
#include "tests/cuda/loaded.h"

#include <gtest/gtest.h>

#include <cmath>
#include <deque>
#include <numeric>

namespace tilefold::tests {
namespace {

constexpr std::int64_t many_rows = 200, many_columns = 900;

std::vector<float> coordinates(std::int64_t points, unsigned seed) {
    std::vector<float> all;
    for (std::int64_t k = 0; k < 3 * points; ++k)
        all.push_back(float((unsigned(k) * 37 + seed * 11) % 101) / 101);
    return all;
}

/// A reduction of x and y, whose arrays are the host's.
class HostRunTest : public testing::Test {
protected:
    HostRunTest() {
        fake() = FakeDriver();
        fake().devices = 3;
        driver_.emplace(TILEFOLD_FAKE_DRIVER);
    }
    void TearDown() override {
        EXPECT_EQ(fake().used, 0);
        EXPECT_EQ(fake().pinned, 0);
        EXPECT_EQ(fake().contexts, 0);
    }

    /// In float64.
    template <class Term, class Join>
    std::vector<double> expected(Term term, Join join, double first) const {
        std::vector<double> all;
        for (std::int64_t i = 0; i < many_rows; ++i) {
            double result = first;
            for (std::int64_t j = 0; j < many_columns; ++j) {
                double squared = 0;
                for (std::size_t d = 0; d < 3; ++d) {
                    const double apart = double(x_[std::size_t(3 * i) + d]) -
                                         y_[std::size_t(3 * j) + d];
                    squared += apart * apart;
                }
                result = join(result, term(squared, i, j));
            }
            all.push_back(result);
        }
        return all;
    }

    std::vector<float> run(const Loaded& loaded, std::int64_t budget,
                           int devices, LoopKind loop = LoopKind::Reduce) {
        tilefold::Job job;
        job.loop = loop;
        std::vector<tilefold_kernel_operand> operands;
        const auto add = [&](const std::vector<float>& from) {
            tilefold_kernel_operand operand{};
            operand.base = reinterpret_cast<const char*>(from.data());
            operand.stride = 3 * sizeof(float);
            operand.component = sizeof(float);
            operands.push_back(operand);
        };
        for (const ir::Argument& argument : loaded.graph().arguments)
            add(argument.name == "x" ? x_ : y_);
        const Batches batches;
        const std::vector<Bytes> on_host(operands.size());
        job.operands = operands;
        job.batches = &batches;
        job.literals = loaded.graph().literals.data();
        job.rows = many_rows;
        job.columns = many_columns;
        std::vector<float> out(many_rows, 0.5f);
        job.target.data = reinterpret_cast<char*>(out.data());
        job.target.row = job.target.component = sizeof(float);
        job.target.accumulate = accumulate_;
        const Result result{Axes::I, DType::F32};
        std::deque<cuda::Device> cards;
        std::deque<cuda::Module> modules;
        std::deque<cuda::DeviceContext> stations;
        std::vector<cuda::DeviceShare> sharers;
        for (int k = 0; k < devices; ++k)
            sharers.push_back(
                {&modules.emplace_back(cards.emplace_back(*driver_, k),
                                       loaded.image()),
                 &stations.emplace_back(cards.back())});
        cuda::run_from_host({job, on_host, loaded.graph(), result, budget},
                            sharers, {});
        return out;
    }

    void expect(const std::vector<float>& got,
                const std::vector<double>& wanted) {
        for (std::size_t i = 0; i < wanted.size(); ++i)
            EXPECT_NEAR(got[i], wanted[i], 2e-6 * std::fabs(wanted[i])) << i;
    }

    std::vector<float> x_ = coordinates(many_rows, 1),
                       y_ = coordinates(many_columns, 2);
    bool accumulate_ = false;
    std::optional<cuda::Driver> driver_;
};

/// Budgets for which columns stay, and for which they come in pieces.
constexpr std::int64_t budgets[] = {6'000, 9'000, 14'000, 24'000, 1 << 20};

TEST_F(HostRunTest, SumsInPiecesOfEverySize) {
    const Loaded loaded("sum_j exp(-|x_i - y_j|²) (i + 1)",
                        "x f32[3], y f32[3]");
    const auto term = [](double squared, std::int64_t i, std::int64_t) {
        return std::exp(-squared) * double(i + 1);
    };
    for (const double first : {0.0, 0.5}) {
        accumulate_ = first != 0;
        const auto wanted = expected(term, std::plus<>(), first);
        for (const std::int64_t budget : budgets)
            for (const int devices : {1, 3}) {
                SCOPED_TRACE(budget);
                expect(run(loaded, budget, devices), wanted);
            }
    }
}

TEST_F(HostRunTest, KnowsTheNumbersOfColumns) {
    const Loaded loaded("sum_j where(j < i, |x_i - y_j|², 0)",
                        "x f32[3], y f32[3]");
    const auto wanted =
        expected([](double squared, std::int64_t i,
                    std::int64_t j) { return j < i ? squared : 0; },
                 std::plus<>(), 0);
    for (const std::int64_t budget : budgets)
        expect(run(loaded, budget, 2), wanted);
}

TEST_F(HostRunTest, FoldsRowsOfAllDevices) {
    const Loaded loaded("sum_ij |x_i - y_j|²", "x f32[3], y f32[3]");
    const auto of_rows = expected(
        [](double squared, std::int64_t, std::int64_t) { return squared; },
        std::plus<>(), 0);
    const double wanted = std::accumulate(of_rows.begin(), of_rows.end(), 0.0);
    for (const std::int64_t budget : budgets) {
        const float one = run(loaded, budget, 1, LoopKind::FoldRows)[0];
        EXPECT_NEAR(one, wanted, 2e-6 * wanted);
        EXPECT_EQ(run(loaded, budget, 3, LoopKind::FoldRows)[0], one);
    }
}

cuda::Needs sum_of(std::int64_t n, std::int64_t m) {
    cuda::Needs needs;
    needs.rows = n;
    needs.columns = m;
    needs.row_bytes = 16;
    needs.column_bytes = 16;
    needs.state_bytes = 16;
    return needs;
}

/// What a device holds at a time, at most.
double held(const cuda::Needs& needs, const cuda::Cut& cut) {
    const bool stays = cut.columns >= needs.columns;
    const double all = double(needs.columns) * needs.column_bytes;
    const double row =
        needs.row_bytes + needs.state_bytes * double(cut.segments.count);
    return needs.fixed_bytes +
           (stays ? all : 2 * double(cut.columns) * needs.column_bytes) +
           2 * double(cut.rows) * row;
}

TEST(CudaCut, KeepsToItsBudget) {
    const cuda::Plan plan;
    for (const std::int64_t n : {1ll, 100ll, 70'000ll, 3'000'000'000ll})
        for (const std::int64_t m : {1ll, 5'000ll, 40'000'000ll})
            for (const std::int64_t budget :
                 {std::int64_t(1) << 22, std::int64_t(1) << 28}) {
                const cuda::Needs needs = sum_of(n, m);
                const cuda::Cut cut = cuda::cut(needs, plan, 1, budget, 2);
                EXPECT_LE(held(needs, cut), double(budget)) << n << " " << m;
                EXPECT_EQ(cut.row_pieces, (n + cut.rows - 1) / cut.rows);
                EXPECT_GE(
                    cut.columns % plan.tile_columns == 0 ? m : cut.columns, m);
                if (cut.columns < m) {
                    EXPECT_EQ(cut.columns % cut.segments.columns, 0);
                }
            }
}

TEST(CudaCut, CoversEveryRowOfEveryBatchOnce) {
    cuda::Needs needs = sum_of(1000, 70);
    const cuda::Plan plan;
    for (const Extents& batches :
         {Extents{}, Extents{5}, Extents{3, 4}, Extents{2, 2, 3, 1, 2, 3}})
        for (const std::int64_t budget : {6'000, 200'000, 100'000'000}) {
            needs.batches = batches;
            const cuda::Cut cut = cuda::cut(needs, plan, 1, budget, 1);
            std::int64_t covered = 0, inner = 1, all = needs.rows;
            for (std::size_t d = 0; d < batches.size(); ++d) {
                all *= batches[d];
                inner *= d > cut.outer ? batches[d] : 1;
            }
            EXPECT_LE(batches.size() - cut.outer, 4u);
            for (std::int64_t k = 0; k < cut.pieces(); ++k) {
                const cuda::WorkItem piece = cuda::piece_of(needs, cut, k);
                covered += piece.batches.size() * inner * piece.rows.size();
                EXPECT_EQ(piece.at.size(), cut.outer);
            }
            EXPECT_EQ(covered, all) << budget;
        }
}

TEST(CudaCut, OfFoldedRowsDoesNotDependOnDevices) {
    cuda::Needs needs = sum_of(5'000'000, 1000);
    needs.folds_rows = true;
    const auto pieces = [&](int devices) {
        return cuda::cut(needs, {}, 1, 1 << 28, devices).row_pieces;
    };
    EXPECT_GT(pieces(1), 8);
    EXPECT_EQ(pieces(1), pieces(7));
}

TEST(CudaCut, TellsWhatIsMissing) {
    cuda::Needs needs = sum_of(10, 10);
    needs.row_bytes = 1e6;
    EXPECT_EQ(message_of([&] { cuda::cut(needs, {}, 1, 1 << 20, 1); }),
              "a piece of the call needs 1953 KiB of a device, which could not "
              "be allocated\nraise Options(device_bytes=), which is 1024 KiB");
}

} // namespace
} // namespace tilefold::tests
