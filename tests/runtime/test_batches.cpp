// tests/runtime/test_batches.cpp - leading dimensions broadcast as in NumPy
// for every argument, with any strides.

#include "tests/runtime/sum_problem.h"

#include "formulas/diagnostic.h"
#include "runtime/bind/bind_shapes.h"

#include <algorithm>
#include <chrono>
#include <gtest/gtest.h>
#include <iterator>
#include <random>

namespace tilefold::test {
namespace {

/// An array of doubles with strides of its own: any axis may be reversed or,
/// where it is `broadcastable`, have stride 0.
struct Strided {
    std::vector<double> values;
    View view;

    double at(const Extents& index) const {
        auto* from = static_cast<const char*>(view.data);
        for (std::size_t d = 0; d < index.size(); ++d)
            from += index[d] * view.strides[d];
        return *reinterpret_cast<const double*>(from);
    }
};

class Generator {
public:
    explicit Generator(unsigned seed) : engine_(seed) {}

    std::int64_t number(std::int64_t least, std::int64_t most) {
        return std::uniform_int_distribution<std::int64_t>(least,
                                                           most)(engine_);
    }

    Strided array(const Extents& shape) {
        Strided made;
        made.view = View::of(nullptr, DType::F64, shape);
        made.values.resize(
            std::size_t(std::max<std::int64_t>(made.view.elements(), 1)));
        for (double& value : made.values)
            value = double(number(-1000, 1000)) / 1000;
        auto* base = reinterpret_cast<const char*>(made.values.data());
        for (std::size_t d = 0; d < shape.size(); ++d)
            base += restride(made.view.strides[d], shape[d]);
        made.view.data = base;
        return made;
    }

    /// `shape` with some dimensions 1 and some leading ones missing.
    Extents broadcastable(const Extents& shape) {
        Extents part(shape.begin() + number(0, std::int64_t(shape.size())),
                     shape.end());
        for (std::int64_t& extent : part)
            if (number(0, 2) == 0)
                extent = 1;
        return part;
    }

private:
    /// Bytes that element 0 moves.
    std::int64_t restride(std::int64_t& stride, std::int64_t extent) {
        std::int64_t choice = number(0, 5);
        if (choice == 0)
            stride = 0;
        if (choice != 1 || extent == 0)
            return 0;
        stride = -stride;
        return -stride * (extent - 1);
    }

    std::mt19937 engine_;
};

/// The index of `view` that result index `batch` and `tail` broadcast to.
Extents broadcast_index(const Strided& array, const Extents& batch,
                        std::initializer_list<std::int64_t> tail) {
    std::size_t own = array.view.shape.size() - tail.size();
    Extents index(batch.end() - std::ptrdiff_t(own), batch.end());
    for (std::size_t d = 0; d < own; ++d)
        if (array.view.shape[d] == 1)
            index[d] = 0;
    std::ranges::copy(tail, std::back_inserter(index));
    return index;
}

/// All indices of `shape`, the last dimension fastest.
std::vector<Extents> indices_of(const Extents& shape) {
    std::vector<Extents> indices{Extents()};
    for (std::int64_t extent : shape) {
        std::vector<Extents> longer;
        for (const Extents& index : indices)
            for (std::int64_t k = 0; k < extent; ++k) {
                longer.push_back(index);
                longer.back().push_back(k);
            }
        indices = std::move(longer);
    }
    return indices;
}

Extents appended(Extents shape, std::initializer_list<std::int64_t> tail) {
    std::ranges::copy(tail, std::back_inserter(shape));
    return shape;
}

/// Four arrays with batch dimensions, as bind() would read them.
struct BatchedProblem {
    BatchedProblem(Generator& random, const Extents& batch, std::int64_t n,
                   std::int64_t m)
        : x(random.array(appended(random.broadcastable(batch), {n, 1}))),
          y(random.array(appended(random.broadcastable(batch), {m, 1}))),
          b(random.array(appended(random.broadcastable(batch), {m, 1}))),
          p(random.array(appended(random.broadcastable(batch), {1, 1}))) {
        readings = {read_shape("x", x.view, {Axes::I}),
                    read_shape("y", y.view, {Axes::J}),
                    read_shape("b", b.view, {Axes::J}),
                    read_shape("p", p.view, {Axes::None})};
        for (const BoundArgument& reading : readings)
            operands.push_back(reading.operand);
        shape = batch_shape(readings);
    }

    Batches batches() const {
        Batches made;
        for (std::size_t d = 0; d < shape.size(); ++d) {
            made.extents.push_back(shape[d]);
            for (const BoundArgument& reading : readings)
                made.strides.push_back(batch_stride(reading, shape, d));
        }
        made.moves_parameters = true;
        return made;
    }

    double expected(const Extents& at, std::int64_t i, std::int64_t m) const {
        double sum = 0;
        for (std::int64_t j = 0; j < m; ++j)
            sum += p.at(broadcast_index(p, at, {0, 0})) *
                   pair_term(x.at(broadcast_index(x, at, {i, 0})),
                             y.at(broadcast_index(y, at, {j, 0}))) *
                   b.at(broadcast_index(b, at, {j, 0}));
        return sum;
    }

    Strided x, y, b, p;
    BoundArguments readings;
    std::vector<tilefold_kernel_operand> operands;
    Extents shape;
};

void run(const BatchedProblem& problem, std::int64_t n, std::int64_t m,
         int threads, std::vector<double>& out) {
    Kernel kernel = sum_kernel(threads > 1 ? 2000 : 0.5);
    Batches batches = problem.batches();
    Extents out_shape = appended(problem.shape, {n});
    View out_view = View::of(nullptr, DType::F64, out_shape);
    out.assign(std::size_t(out_view.elements()), -7);
    Job job;
    job.kernel = &kernel;
    job.operands = problem.operands;
    job.batches = &batches;
    job.rows = n;
    job.columns = m;
    job.target.data = reinterpret_cast<char*>(out.data());
    job.target.row = 8;
    job.target.component = 8;
    job.target.batch.assign(out_view.strides.begin(),
                            out_view.strides.end() - 1);
    ThreadPool pool(threads);
    launch(job, pool, {});
}

TEST(Batches, BroadcastLikeANaiveLoop) {
    witness().reset();
    Generator random(7);
    for (int trial = 0; trial < 300; ++trial) {
        Extents batch;
        for (std::int64_t d = random.number(0, 3); d > 0; --d)
            batch.push_back(random.number(trial % 10 == 0 ? 0 : 1, 4));
        std::int64_t n = random.number(0, 5), m = random.number(0, 40);
        BatchedProblem problem(random, batch, n, m);
        std::vector<double> out;
        run(problem, n, m, trial % 3 + 1, out);
        std::size_t at = 0;
        for (const Extents& index : indices_of(problem.shape))
            for (std::int64_t i = 0; i < n; ++i)
                ASSERT_NEAR(out[at++], problem.expected(index, i, m), 1e-9)
                    << "trial " << trial;
        ASSERT_EQ(at, out.size());
    }
    EXPECT_EQ(witness().complaints, std::set<std::string>());
}

TEST(Batches, DimensionsThatDoNotBroadcastAreRefused) {
    Generator random(1);
    Strided x = random.array({2, 3, 5, 1}), y = random.array({4, 7, 1});
    BoundArguments readings{read_shape("x", x.view, {Axes::I}),
                            read_shape("y", y.view, {Axes::J})};
    try {
        batch_shape(readings);
        ADD_FAILURE();
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), Code::BatchMismatch);
        EXPECT_STREQ(error.what(),
                     "the batch dimensions (2, 3) of 'x' and (4,) of 'y' do "
                     "not broadcast\nbatch dimensions agree, or are 1, as in "
                     "NumPy");
    }
}

TEST(Batches, ParametersArePreparedOnceUnlessTheyVary) {
    witness().reset();
    Generator random(3);
    BatchedProblem problem(random, {50}, 3, 4);
    std::vector<double> out;
    run(problem, 3, 4, 1, out);
    std::int64_t each = witness().prepared;
    EXPECT_GE(each, problem.shape.empty() ? 1 : problem.shape[0]);
    SumProblem plain(sum_kernel(), 100, 100);
    witness().reset();
    plain.run(2);
    EXPECT_EQ(witness().prepared, 1);
}

} // namespace
} // namespace tilefold::test
