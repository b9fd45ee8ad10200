// runtime/solve/symmetry.cpp - see symmetry.h.

#include "runtime/solve/symmetry.h"

#include <Eigen/Core>

#include <algorithm>
#include <cmath>
#include <random>

namespace tilefold {
namespace {

using Block =
    Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// A part of |v| |A w|: roundings of products stay far below. Random vectors
/// meet all of A alike, so that |A w| is no smaller than A is large.
constexpr double tolerance = 1e-8;

/// A · vectors, two columns.
Block product_of(const LinearOperator& matrix, const Block& vectors,
                 Eigen::Index columns) {
    Block given = Block::Zero(vectors.rows(), columns), found = given;
    if (columns > 1) {
        given.leftCols(2) = vectors;
        matrix.product(given.data(), found.data());
        return found.leftCols(2);
    }
    Block both(vectors.rows(), 2);
    for (Eigen::Index c = 0; c < 2; ++c) {
        given = vectors.col(c);
        matrix.product(given.data(), found.data());
        both.col(c) = found;
    }
    return both;
}

} // namespace

bool is_symmetric(const LinearOperator& matrix, std::int64_t columns) {
    std::mt19937_64 bits(0);
    Block random(matrix.size, 2); // in [-1, 1)
    for (Eigen::Index k = 0; k < random.size(); ++k)
        random.data()[k] = double(bits() >> 11) * 0x1p-52 - 1;
    const Block images = product_of(matrix, random, columns);
    const double size = random.col(0).norm() * images.col(1).norm() +
                        random.col(1).norm() * images.col(0).norm();
    const double difference = std::abs(random.col(0).dot(images.col(1)) -
                                       random.col(1).dot(images.col(0)));
    return !(difference > tolerance * size);
}

} // namespace tilefold
