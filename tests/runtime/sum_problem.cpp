// tests/runtime/sum_problem.cpp - see sum_problem.h.

#include "tests/runtime/sum_problem.h"

#include <random>

namespace tilefold::test {
namespace {

std::vector<double> random_values(std::int64_t count, unsigned seed) {
    std::mt19937 generator(seed);
    std::uniform_real_distribution<double> uniform(-1, 1);
    std::vector<double> values(static_cast<std::size_t>(count));
    for (double& value : values)
        value = uniform(generator);
    return values;
}

const char* bytes_of(const double* values) {
    return reinterpret_cast<const char*>(values);
}

} // namespace

SumProblem::SumProblem(Kernel kernel, std::int64_t rows, std::int64_t columns,
                       std::int64_t width)
    : kernel(kernel), rows(rows), columns(columns), width(width),
      x(random_values(rows, 1)), y(random_values(columns, 2)),
      b(random_values(columns * width, 3)), out(std::size_t(rows * width), -7) {
    operands = {{bytes_of(x.data()), 8, 0, 0},
                {bytes_of(y.data()), 8, 0, 0},
                {bytes_of(b.data()), 8 * width, 8, 0},
                {bytes_of(&p), 0, 0, 0}};
}

Job SumProblem::job() {
    Job job;
    job.kernel = &kernel;
    job.loop = loop;
    job.operands = operands;
    job.batches = &batches;
    job.rows = rows;
    job.columns = columns;
    job.width = width;
    job.target.data = reinterpret_cast<char*>(out.data());
    job.target.row = 8 * width;
    job.target.component = 8;
    return job;
}

void SumProblem::run(int threads, const Poll& poll) {
    operands[operand_p].base = bytes_of(&p);
    ThreadPool pool(threads);
    launch(job(), pool, poll);
}

double SumProblem::expected(std::int64_t i, std::int64_t e) const {
    long double sum = 0;
    for (std::int64_t j = 0; j < columns; ++j)
        sum +=
            (long double)(p)*pair_term(x[std::size_t(i)], y[std::size_t(j)]) *
            b[std::size_t(j * width + e)];
    return double(sum);
}

} // namespace tilefold::test
