// bench/roofline/exp2_check.h - the worst error of the kernels' exp2.
#pragma once

namespace roofline {

/// The largest error found, in units in the last place of the exact result.
struct Exp2Error {
    double normal, subnormal; ///< by the range of the result
    bool limits;              ///< -inf, NaN, 0 and huge arguments are right
};

/// Compares with a wider type from -0 down past the last argument that gives a
/// subnormal: for float every stride-th representation, all of them with
/// stride 1; for double points 2^-17 stride apart.
template <class T> Exp2Error check_exp2(unsigned stride);

extern template Exp2Error check_exp2<float>(unsigned);
extern template Exp2Error check_exp2<double>(unsigned);

} // namespace roofline
