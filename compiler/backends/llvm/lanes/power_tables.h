// compiler/backends/llvm/lanes/power_tables.h - what powers of F32 are made of.
#pragma once

#include <array>
#include <span>

namespace tilefold::llvm_backend {

/// Of a number m from 3/4 to 3/2 its first `bits` places choose T next to 1/m,
/// of so few bits that r = m T - 1 is exact; the pieces of m below 1 come last.
struct PowerTable {
    int bits;
    std::span<const double> inverses; ///< T
    /// -log2 T: on a grid, so that its sum with an exponent is exact, and what
    /// is left.
    std::span<const double> logarithms, logarithms_low;
    /// (log2(1 + r) - c (r - r²/2))/r³ with c = 1/log 2, of all r.
    std::span<const double> of_cube;
    /// 2^(k/2^bits), and what F32 leaves of it.
    std::span<const double> powers, powers_low;
    /// (2^f - 1)/f of what is left then.
    std::span<const double> of_rest;
};

/// Of 8 pieces, r from -1/16 to 1/8: fitted at the nodes of Chebyshev's
/// polynomial, r³ times the error 2^-37; f times the error of the last is 8e-10
/// on [-1/16, 1/8].
namespace by_eighths {
inline constexpr std::array<double, 8> inverses = {
    1, 0x1.bp-1, 0x1.8p-1, 0x1.6p-1, 1.25, 0x1.3p+0, 1.125, 1};
inline constexpr std::array<double, 8> logarithms = {
    0,           0x1.f6p-3,   0x1.a9p-2,  0x1.14c8p-1,
    -0x1.49ap-2, -0x1.fbcp-3, -0x1.5cp-3, 0};
inline constexpr std::array<double, 8> logarithms_low = {0,
                                                         -0x1.3ab7cep-18,
                                                         -0x1.a39fbep-20,
                                                         -0x1.4f80ccp-16,
                                                         -0x1.e12f34p-16,
                                                         -0x1.6b9026p-19,
                                                         -0x1.a39fbep-19,
                                                         0};
inline constexpr std::array<double, 6> of_cube = {
    0x1.ec709ep-2,  -0x1.71546ap-2, 0x1.277678p-2,
    -0x1.ecb7b4p-3, 0x1.a72c22p-3,  -0x1.4421fcp-3};
inline constexpr std::array<double, 8> powers = {1,
                                                 0x1.172b84p+0,
                                                 0x1.306fep+0,
                                                 0x1.4bfdaep+0,
                                                 0x1.6a09e6p+0,
                                                 0x1.8ace54p+0,
                                                 0x1.ae89fap+0,
                                                 0x1.d5818ep+0};
inline constexpr std::array<double, 8> powers_low = {0,
                                                     -0x1.c15742p-27,
                                                     0x1.4636e2p-25,
                                                     -0x1.593abcp-25,
                                                     0x1.9fcef4p-26,
                                                     0x1.15506ep-27,
                                                     -0x1.a94b14p-26,
                                                     -0x1.822dbcp-27};
inline constexpr std::array<double, 4> of_rest = {0x1.62e43p-1, 0x1.ebfb7ap-3,
                                                  0x1.c6b464p-5, 0x1.41ac72p-7};
inline constexpr PowerTable table = {
    3,       inverses, logarithms, logarithms_low,
    of_cube, powers,   powers_low, of_rest};
} // namespace by_eighths

/// Of 16 pieces, r from -0.038 to 1/16 and |f| <= 1/32; each T is one of
/// thousands, whose logarithm is next to the grid.
namespace by_sixteenths {
inline constexpr std::array<double, 16> inverses = {
    0x1p0,    0x1.dp-1, 0x1.cp-1, 0x1.ap-1, 0x1.9p-1, 0x1.8p-1,
    0x1.7p-1, 0x1.6p-1, 0x1.5p0,  0x1.4p0,  0x1.38p0, 0x1.28p0,
    0x1.2p0,  0x1.18p0, 0x1.1p0,  0x1p0};
inline constexpr std::array<double, 16> logarithms = {
    0,           0x1.22ep-3,  0x1.8a8p-3,  0x1.32cp-2,
    0x1.6cbp-2,  0x1.a9p-2,   0x1.e7ep-2,  0x1.14c8p-1,
    -0x1.91cp-2, -0x1.49ap-2, -0x1.244p-2, -0x1.adp-3,
    -0x1.5cp-3,  -0x1.08cp-3, -0x1.664p-4, 0};
inline constexpr std::array<double, 16> logarithms_low = {0,
                                                          -0x1.48f554p-17,
                                                          0x1.30158p-16,
                                                          -0x1.1c8f12p-22,
                                                          0x1.ed0cbap-19,
                                                          -0x1.a39fbep-20,
                                                          -0x1.40358ep-19,
                                                          -0x1.4f80ccp-16,
                                                          0x1.15db84p-16,
                                                          -0x1.e12f34p-16,
                                                          -0x1.eac382p-20,
                                                          0x1.43a496p-16,
                                                          -0x1.a39fbep-19,
                                                          -0x1.62336ap-17,
                                                          0x1.20a6dep-21,
                                                          0};
inline constexpr std::array<double, 5> of_cube = {0x1.ec709cp-2, -0x1.715478p-2,
                                                  0x1.277e9ep-2, -0x1.ecddc4p-3,
                                                  0x1.8987e8p-3};
inline constexpr std::array<double, 16> powers = {1,
                                                  0x1.0b5586p+0,
                                                  0x1.172b84p+0,
                                                  0x1.2387a6p+0,
                                                  0x1.306fep+0,
                                                  0x1.3dea64p+0,
                                                  0x1.4bfdaep+0,
                                                  0x1.5ab07ep+0,
                                                  0x1.6a09e6p+0,
                                                  0x1.7a1148p+0,
                                                  0x1.8ace54p+0,
                                                  0x1.9c4918p+0,
                                                  0x1.ae89fap+0,
                                                  0x1.c199bep+0,
                                                  0x1.d5818ep+0,
                                                  0x1.ea4afap+0};
inline constexpr std::array<double, 16> powers_low = {0,
                                                      0x1.9f3122p-25,
                                                      -0x1.c15742p-27,
                                                      0x1.ceac48p-25,
                                                      0x1.4636e2p-25,
                                                      0x1.824684p-25,
                                                      -0x1.593abcp-25,
                                                      -0x1.5bd5ecp-27,
                                                      0x1.9fcef4p-26,
                                                      -0x1.829fdp-25,
                                                      0x1.15506ep-27,
                                                      0x1.51f848p-27,
                                                      -0x1.a94b14p-26,
                                                      -0x1.3d56b2p-27,
                                                      -0x1.822dbcp-27,
                                                      0x1.52486cp-27};
inline constexpr std::array<double, 3> of_rest = {0x1.62e43p-1, 0x1.ec000ep-3,
                                                  0x1.c6a8aap-5};
inline constexpr PowerTable table = {
    4,       inverses, logarithms, logarithms_low,
    of_cube, powers,   powers_low, of_rest};
} // namespace by_sixteenths

} // namespace tilefold::llvm_backend
