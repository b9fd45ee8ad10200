// tests/numerics/ulp.h - how far float32 kernels are from the functions of
// ops.def, in units in the last place; and the table where it is recorded.
#pragma once

#include "compiler/backends/cpu/plan.h"
#include "compiler/ir/ir.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace tilefold::test {

/// A function of ops.def and the inputs it is measured on.
struct Domain {
    ir::Op op = ir::Op::Exp;
    double from = 0, to = 0; ///< of x; both ends belong to it
    int every = 1;           ///< of how many bit patterns one is measured
};

/// Every elementwise function of one operand with a real result; a row that
/// is new in ops.def is among them.
std::vector<Domain> unary_domains();
/// pow and atan2, on structured samples.
std::vector<Domain> binary_domains();

/// A row of ulp.csv.
struct Row {
    std::string function, isa, inputs;
    double from = 0, to = 0;
    double ulp = 0;     ///< the largest error, rounded up to hundredths
    float x = 0, y = 0; ///< where
};
std::vector<Row> read_table();
std::string print(const Row& row);
inline constexpr const char* table_heading =
    "function,isa,from,to,inputs,ulp,x,y";

struct Worst {
    double ulp = 0;
    float x = 0, y = 0;
    void add(const Worst& other);
};

/// A compiled kernel of one function, on one thread.
class Measured {
public:
    Measured(ir::Op op, Isa isa);
    ~Measured();
    /// The worst of at most `block` inputs if it exceeds `most`; y for
    /// functions of two operands. Only inputs in the domain count.
    Worst operator()(std::span<const float> x, std::span<const float> y,
                     const Domain& domain, double most = 0);
    static constexpr std::size_t block = 1 << 16;

private:
    struct Kernel;
    std::unique_ptr<Kernel> kernel_;
};

/// Error of `got` in steps of float32 at `wanted`. Results below the smallest
/// normal number are right if they are 0, since kernels flush them.
double ulps(float got, double wanted);

} // namespace tilefold::test
