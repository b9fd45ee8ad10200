// examples/c/gaussian.cpp - a sum of Gaussians at points, from C++17.
//
//     c++ -std=c++17 gaussian.cpp $(pkg-config --cflags --libs tilefold)

#include <tilefold/tilefold.hpp>

#include <cstdio>
#include <vector>

int main() {
    constexpr std::int64_t N = 4, M = 5, D = 2;
    std::vector<double> x(N * D), y(M * D), b(M);
    for (std::int64_t i = 0; i < N; ++i)
        for (std::int64_t d = 0; d < D; ++d)
            x[i * D + d] = double(i + 2 * d) / 4;
    for (std::int64_t j = 0; j < M; ++j) {
        b[j] = double(1 + j);
        for (std::int64_t d = 0; d < D; ++d)
            y[j * D + d] = double(2 * j - d) / 5;
    }

    const tilefold::Session session;
    const tilefold::Arguments points{{"x", {x.data(), {N, D}}},
                                     {"y", {y.data(), {M, D}}}};
    tilefold::Arguments arguments = points;
    arguments.insert(arguments.end(), {{"b", b}, {"l", 0.5}});
    const tilefold::Tensor a =
        session.reduce("sum_j exp(-|x_i - y_j|^2 / (2 l^2)) b_j", arguments);
    for (std::int64_t i = 0; i < a.size(); ++i)
        std::printf("a[%d] = %.6f\n", int(i), a.at<double>(i));

    // A mistake is an exception, whose code does not change with versions.
    try {
        session.reduce("sum_j expp(x_i - y_j)", points);
    } catch (const tilefold::Error& error) {
        std::printf("error: %s\n", error.code().c_str());
    }
}
