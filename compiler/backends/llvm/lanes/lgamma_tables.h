// compiler/backends/llvm/lanes/lgamma_tables.h - numbers of lgamma by pieces:
// see lgamma_by_pieces.cpp.
#pragma once

#include <array>

namespace tilefold::llvm_backend {

/// Of each piece x0, one of many F32 near its middle, whose lgamma is next to a
/// number of F32 (S. Gal, 1986); 1 and 2 where it is 0. Those of [15/8, 31/8),
/// a quarter wide, come first, then those of [7/8, 15/8), of an eighth.
inline constexpr std::array<double, 16> lgamma_points = {
    0x1p1,        0x1.164d26p1, 0x1.3f0c6cp1, 0x1.5f0e5cp1,
    0x1.7f278cp1, 0x1.9f6494p1, 0x1.bfa57cp1, 0x1.df3272p1,
    0x1p0,        0x1p0,        0x1.2f2b6cp0, 0x1.4f6646p0,
    0x1.6f1b32p0, 0x1.8f0e1ep0, 0x1.af0e1ep0, 0x1.cf1888p0};
/// lgamma(x0)
inline constexpr std::array<double, 16> lgamma_values = {0,
                                                         0x1.546d1ap-4,
                                                         0x1.1e2d46p-2,
                                                         0x1.e072c2p-2,
                                                         0x1.5fc65cp-1,
                                                         0x1.dca9b6p-1,
                                                         0x1.32ab62p0,
                                                         0x1.7aba3p0,
                                                         0,
                                                         0,
                                                         -0x1.4a67e8p-4,
                                                         -0x1.c1e1e2p-4,
                                                         -0x1.f0152ep-4,
                                                         -0x1.df6cep-4,
                                                         -0x1.95d4c4p-4,
                                                         -0x1.1891dcp-4};
/// A slope that is taken out, since products with it are exact, at the zeros.
inline constexpr std::array<double, 16> lgamma_slopes = {
    0x1p-1, 0, 0, 0, 0, 0, 0, 0, -0x1p-1, -0x1p-1, 0, 0, 0, 0, 0, 0};
/// (lgamma(x0 + b) - lgamma(x0))/b less the slope, powers of b from 0 on,
/// minimax.
inline constexpr std::array<double, 96> lgamma_pieces = {
    -0x1.3c467ep-4,  0x1.0f104ap-1,   0x1.662588p-1,   0x1.a19f62p-1,
    0x1.d720cep-1,   0x1.03e994p0,    0x1.1a2ca4p0,    0x1.2e3d2p0,
    -0x1.3c467ep-4,  -0x1.3c467ep-4,  -0x1.3c9944p-2,  -0x1.430a68p-3,
    -0x1.bb93d8p-6,  0x1.70f56cp-4,   0x1.90a3d2p-3,   0x1.2a93dep-2,
    0x1.4a34ccp-2,   0x1.29a1f6p-2,   0x1.f7ee5p-3,    0x1.c1809ap-3,
    0x1.957522p-3,   0x1.710e9ep-3,   0x1.5297aap-3,   0x1.3943ap-3,
    0x1.a51a74p-1,   0x1.a51a5ap-1,   0x1.4a82a4p-1,   0x1.1f48ecp-1,
    0x1.fc4856p-2,   0x1.c6da7ap-2,   0x1.9b341p-2,    0x1.76f0a4p-2,
    -0x1.13e00cp-4,  -0x1.c27accp-5,  -0x1.44d3b2p-5,  -0x1.034fbcp-5,
    -0x1.a6e10ap-6,  -0x1.5ef226p-6,  -0x1.27f24ap-6,  -0x1.fba134p-7,
    -0x1.9a4484p-2,  -0x1.9a4644p-2,  -0x1.052d34p-2,  -0x1.90ddd8p-3,
    -0x1.3d690cp-3,  -0x1.008ad4p-3,  -0x1.a66c4p-4,   -0x1.61448ap-4,
    0x1.514124p-6,   0x1.f6f882p-7,   0x1.3448p-7,     0x1.bb299p-8,
    0x1.4718eap-8,   0x1.ef718cp-9,   0x1.83046ep-9,   0x1.2e7a72p-9,
    0x1.1615eep-2,   0x1.144f28p-2,   0x1.22fbb2p-3,   0x1.8df2aep-4,
    0x1.1c2214p-4,   0x1.a1563p-5,    0x1.3a2d8ep-5,   0x1.e5e504p-6,
    -0x1.e54e12p-8,  -0x1.41e69cp-8,  -0x1.37fd48p-9,  -0x1.9147bap-10,
    -0x1.85d05ep-10, -0x1.6c3b5ep-10, -0x1.82d39ap-11, 0x1.5e3e18p-15,
    -0x1.8e346ep-3,  -0x1.9568a8p-3,  -0x1.801bdap-4,  -0x1.cdeb4ep-5,
    -0x1.283bdap-5,  -0x1.8687e6p-6,  -0x1.f69ff4p-7,  -0x1.5dcc3p-7,
    0x1.5c8384p-9,   0x1.18a24ep-11,  0x1.6325d6p-10,  0x1.b19cdcp-13,
    0x1.75401ap-11,  0x1.40831cp-11,  -0x1.79f7aap-12, 0x1.9b3d14p-12,
    0x1.f73d66p-3,   0x1.d03acap-4,   0x1.36b194p-4,   0x1.3680d2p-5,
    0x1.57e0cap-6,   0x1.56f46cp-7,   0x1.6b7a7p-7,    -0x1.523066p-7};
/// Half of w of Stirling's series by 1/x², from 31/8 on.
inline constexpr std::array<double, 3> lgamma_half_series = {
    0x1.55554cp-5, -0x1.6bb66cp-10, 0x1.7a9fcep-12};
/// log(2 pi)/4
inline constexpr double quarter_log_of_2_pi = 0x1.d67f1cp-2;

} // namespace tilefold::llvm_backend
