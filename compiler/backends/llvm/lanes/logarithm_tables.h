// compiler/backends/llvm/lanes/logarithm_tables.h - numbers of logarithms by
// tables: see logarithm_by_table.cpp.
#pragma once

#include <array>
#include <span>

namespace tilefold::llvm_backend {

/// Of one base and dtype: of each interval a number T next to the inverse of
/// its middle, the logarithm of 1/T, a multiple of 2^-17 (F64: 2^-42), and what
/// that lacks; the numbers of log(1 + r) = r slope + r² rest(r); and the
/// logarithm of 2. All in two parts but where the second is nothing.
///
/// Of F32 and of natural logarithms T is chosen, of all next to the inverse,
/// for a logarithm that lacks nothing (S. Gal, 1986), and even where m is above
/// 1, so that T/2 - 1 is exact. `rest` is minimax.
struct LogarithmTable {
    std::span<const double> inverses, logarithms, low_logarithms;
    std::span<const double> rest;
    double slope, slope_low, of_2, of_2_low;
};

inline constexpr std::array<double, 16> inverses_e_f32 = {
    0x1p0,        0x1.dc87d8p-1, 0x1.b9b7f4p-1, 0x1.a49908p-1,
    0x1.91d95p-1, 0x1.7deacp-1,  0x1.6deb14p-1, 0x1.5b7348p-1,
    0x1.4cc34ep0, 0x1.40e486p0,  0x1.369e7cp0,  0x1.292e36p0,
    0x1.1e1064p0, 0x1.174568p0,  0x1.0c4b3cp0,  0x1p0};
inline constexpr std::array<double, 16> logarithms_e_f32 = {0,
                                                            0x1.261p-4,
                                                            0x1.2e64p-3,
                                                            0x1.92bcp-3,
                                                            0x1.f02p-3,
                                                            0x1.2c28p-2,
                                                            0x1.57fap-2,
                                                            0x1.8d02p-2,
                                                            -0x1.0c8cp-2,
                                                            -0x1.ceb4p-3,
                                                            -0x1.8c1p-3,
                                                            -0x1.317cp-3,
                                                            -0x1.c6dp-4,
                                                            -0x1.646p-4,
                                                            -0x1.804p-5,
                                                            0};
inline constexpr std::array<double, 4> rest_e_f32 = {
    -0x1p-1, 0x1.55584ap-2, -0x1.00134ap-2, 0x1.82347ap-3};
inline constexpr std::array<double, 16> inverses_2_f32 = {
    0x1p0,         0x1.da5526p-1, 0x1.ba6bc8p-1, 0x1.a6793cp-1,
    0x1.91d762p-1, 0x1.7e5476p-1, 0x1.6de94ep-1, 0x1.5c9904p-1,
    0x1.4ed802p0,  0x1.41109ep0,  0x1.3356cap0,  0x1.2a9512p0,
    0x1.2086dep0,  0x1.1420b2p0,  0x1.0929b8p0,  0x1p0};
inline constexpr std::array<double, 16> logarithms_2_f32 = {0,
                                                            0x1.c39p-4,
                                                            0x1.af9p-3,
                                                            0x1.1bfp-2,
                                                            0x1.65e8p-2,
                                                            0x1.af7p-2,
                                                            0x1.f048p-2,
                                                            0x1.1bf2p-1,
                                                            -0x1.8ca4p-2,
                                                            -0x1.4e9p-2,
                                                            -0x1.0e04p-2,
                                                            -0x1.c6ap-3,
                                                            -0x1.6168p-3,
                                                            -0x1.bf4p-4,
                                                            -0x1.9fap-5,
                                                            0};
inline constexpr std::array<double, 4> rest_2_f32 = {
    -0x1.715476p-1, 0x1.ec74ecp-2, -0x1.717af8p-2, 0x1.1734d6p-2};
inline constexpr std::array<double, 16> inverses_10_f32 = {
    0x1p0,         0x1.dacd7cp-1, 0x1.bce52ap-1, 0x1.a1bc9p-1,
    0x1.903d96p-1, 0x1.7f163ap-1, 0x1.6a5622p-1, 0x1.5b9cc4p-1,
    0x1.50115cp0,  0x1.42c9bep0,  0x1.34bd5p0,   0x1.28c784p0,
    0x1.1f614cp0,  0x1.14ecd8p0,  0x1.0f43e4p0,  0x1p0};
inline constexpr std::array<double, 16> logarithms_10_f32 = {0,
                                                             0x1.0c58p-5,
                                                             0x1.f3dp-5,
                                                             0x1.69f4p-4,
                                                             0x1.b61p-4,
                                                             0x1.01fep-3,
                                                             0x1.3386p-3,
                                                             0x1.586cp-3,
                                                             -0x1.e418p-4,
                                                             -0x1.9c6p-4,
                                                             -0x1.4d38p-4,
                                                             -0x1.06fp-4,
                                                             -0x1.9b6p-5,
                                                             -0x1.1788p-5,
                                                             -0x1.9c2p-6,
                                                             0};
inline constexpr std::array<double, 4> rest_10_f32 = {
    -0x1.bcb7b2p-3, 0x1.287d06p-3, -0x1.bcd42ep-4, 0x1.4f3db4p-4};
inline constexpr std::array<double, 16> inverses_f64 = {0x1p0,
                                                        0x1.daf989f687dbp-1,
                                                        0x1.ba96978d5f538p-1,
                                                        0x1.a36d0d8935cf4p-1,
                                                        0x1.8fe0cf991b3bep-1,
                                                        0x1.7caca1ef4c0e8p-1,
                                                        0x1.6cc6755eb69aap-1,
                                                        0x1.5cd5f85343d4p-1,
                                                        0x1.4de625325daf1p0,
                                                        0x1.40a71c1cd30b5p0,
                                                        0x1.34fc00e391fdep0,
                                                        0x1.29c647e721093p0,
                                                        0x1.1f43166253a72p0,
                                                        0x1.1578548eef5e1p0,
                                                        0x1.0c733f165eabbp0,
                                                        0x1p0};
inline constexpr std::array<double, 16> logarithms_e_f64 = {0,
                                                            0x1.337536e83p-4,
                                                            0x1.2a5cc38984p-3,
                                                            0x1.9872b61206p-3,
                                                            0x1.fa317d289ep-3,
                                                            0x1.2f7e54a25cp-2,
                                                            0x1.5b2e28f1a1p-2,
                                                            0x1.88eebedfd1p-2,
                                                            -0x1.1009782857p-2,
                                                            -0x1.cd2be65172p-3,
                                                            -0x1.81418ce656p-3,
                                                            -0x1.3592ef17cp-3,
                                                            -0x1.d7ee428b74p-4,
                                                            -0x1.49df9cfe54p-4,
                                                            -0x1.85055c83fp-5,
                                                            0};
inline constexpr std::array<double, 9> rest_e_f64 = {
    -0x1.0000000000002p-1, 0x1.5555555555fb4p-2,  -0x1.fffffffff71dfp-3,
    0x1.9999998050986p-3,  -0x1.555554819ae6fp-3, 0x1.2492d65603189p-3,
    -0x1.000a331a2ea75p-3, 0x1.c58c80920973p-4,   -0x1.6690a01433258p-4};
inline constexpr std::array<double, 16> logarithms_2_f64 = {0,
                                                            0x1.bb9164b61p-4,
                                                            0x1.ae7226308ap-3,
                                                            0x1.26a20d6e4ap-2,
                                                            0x1.6d242bcd7ep-2,
                                                            0x1.b5d939b818p-2,
                                                            0x1.f4e014a12ep-2,
                                                            0x1.1b70e28a208p-1,
                                                            -0x1.88776709d7p-2,
                                                            -0x1.4caa37451cp-2,
                                                            -0x1.15e74bd578p-2,
                                                            -0x1.be9eeded72p-3,
                                                            -0x1.546d111c94p-3,
                                                            -0x1.dbe82721c4p-4,
                                                            -0x1.189e89f55cp-4,
                                                            0};
inline constexpr std::array<double, 16> low_logarithms_2_f64 = {
    0,
    0x1.701d43e888f61p-44,
    0x1.cb9e6bddf5935p-44,
    -0x1.cd1f9cdb8d313p-44,
    0x1.9dcd669d10f13p-44,
    -0x1.21351b998aeb8p-44,
    -0x1.9c8dbcf4d775cp-45,
    -0x1.28371063d5d55p-45,
    0x1.bd7a4ffbc5c33p-45,
    -0x1.28761f548871p-47,
    -0x1.556196d38c14p-44,
    0x1.cfd5ba9f31c25p-45,
    -0x1.fcb1b602f64bp-46,
    0x1.24038122dc79ap-47,
    0x1.c21800fd888cap-44,
    0};
inline constexpr std::array<double, 9> rest_2_f64 = {
    -0x1.71547652b8301p-1, 0x1.ec709dc3a12f3p-2,  -0x1.71547652b1c78p-2,
    0x1.2776c4fcbc76bp-2,  -0x1.ec709c922aabbp-3, 0x1.a6182e5a8704p-3,
    -0x1.71632d58f0e02p-3, 0x1.472a948700101p-3,  -0x1.02a661f61538bp-3};
inline constexpr std::array<double, 16> logarithms_10_f64 = {0,
                                                             0x1.0b0df47ep-5,
                                                             0x1.03277d0e4p-4,
                                                             0x1.62c604592p-4,
                                                             0x1.b7ac86891p-4,
                                                             0x1.079c702814p-3,
                                                             0x1.2d8e96be86p-3,
                                                             0x1.554c02f11cp-3,
                                                             -0x1.d8939f99p-4,
                                                             -0x1.909186a36p-4,
                                                             -0x1.4ea1108accp-4,
                                                             -0x1.0ce47c923p-4,
                                                             -0x1.99e9eecf9p-5,
                                                             -0x1.1e8643d01p-5,
                                                             -0x1.51e6385ffp-6,
                                                             0};
inline constexpr std::array<double, 16> low_logarithms_10_f64 = {
    0,
    -0x1.c60d64f963d28p-46,
    -0x1.23e5faa8f21fcp-44,
    -0x1.094ac723e6aacp-44,
    -0x1.aab54d6df9ae7p-47,
    0x1.634ec23a1b7fdp-44,
    0x1.53999d4da20cap-45,
    0x1.f83bf330408b2p-47,
    -0x1.0980dc1a11e83p-48,
    0x1.06d8347546b18p-45,
    0x1.611f13f6c192bp-44,
    -0x1.826964f5d73d1p-46,
    -0x1.224b92f28fd68p-47,
    -0x1.b41f62eee58c9p-44,
    -0x1.dc547abe254eep-44,
    0};
inline constexpr std::array<double, 9> rest_10_f64 = {
    -0x1.bcb7b1526e512p-3, 0x1.287a7636f4c61p-3,  -0x1.bcb7b1526699bp-4,
    0x1.63c6275f2eac2p-4,  -0x1.287a757f0c93cp-4, 0x1.fc409b5c20288p-5,
    -0x1.bcc969456f905p-5, 0x1.89f2904ab01p-5,    -0x1.37720fb175552p-5};

inline constexpr LogarithmTable table_e_f32 = {
    inverses_e_f32, logarithms_e_f32, {}, rest_e_f32, 1, 0,
    0x1.62e4p-1,    0x1.7f7d1cp-20};
inline constexpr LogarithmTable table_2_f32 = {
    inverses_2_f32, logarithms_2_f32, {}, rest_2_f32,
    0x1.715476p0,   0x1.4ae0cp-26,    1,  0};
inline constexpr LogarithmTable table_10_f32 = {
    inverses_10_f32, logarithms_10_f32, {},          rest_10_f32,
    0x1.bcb7b2p-2,   -0x1.5b235ep-27,   0x1.3441p-2, 0x1.a84fbcp-21};
inline constexpr LogarithmTable table_e_f64 = {
    inverses_f64,       logarithms_e_f64,    {}, rest_e_f64, 1, 0,
    0x1.62e42fefa38p-1, 0x1.ef35793c7673p-45};
inline constexpr LogarithmTable table_2_f64 = {inverses_f64,
                                               logarithms_2_f64,
                                               low_logarithms_2_f64,
                                               rest_2_f64,
                                               0x1.71547652b82fep0,
                                               0x1.777d0ffda0d24p-56,
                                               1,
                                               0};
inline constexpr LogarithmTable table_10_f64 = {
    inverses_f64,      logarithms_10_f64,    low_logarithms_10_f64,
    rest_10_f64,       0x1.bcb7b1526e50ep-2, 0x1.95355baaafad3p-57,
    0x1.34413509f7p-2, 0x1.3fde623e2566bp-43};

} // namespace tilefold::llvm_backend
