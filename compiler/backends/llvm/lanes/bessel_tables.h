// compiler/backends/llvm/lanes/bessel_tables.h - the numbers of bessel.cpp,
// interpolated at the nodes of Chebyshev's polynomials.
//
// J_n(x)/x^n is near(x² - c): in F32 of x from 0 to 8, c = 32; in F64 on four
// pieces, from 16 k to 16 k + 16 of x², with c in the middle of each, and of a
// coefficient come those of all pieces. From 8 on, P is even(64/x²) and Q is
// odd(64/x²)/x. Errors are 2^-37 in F32, 2^-52 in F64.
#pragma once

#include <array>
#include <span>

namespace tilefold::llvm_backend {

struct BesselTables {
    std::span<const double> near, even, odd;
};

// clang-format off
inline constexpr std::array<double, 13> near_of_j0_f32 = {
    0x1.776fc5f84e28p-5, 0x1.dc5071f15825cp-6, -0x1.4c042a76a634ep-11, -0x1.9dbdd0f87b8f5p-16,
    0x1.09d33c829449ep-20, -0x1.03d2d9d8c7ffp-26, 0x1.2afc33892e6f6p-33, -0x1.d27f51a0caff9p-41,
    0x1.09f3481397a61p-48, -0x1.d10ec8c19dc22p-57, 0x1.42b99ea4d62e6p-65, -0x1.703bd3918e826p-74,
    0x1.5902047bb0563p-83,
};
inline constexpr std::array<double, 6> even_of_j0_f32 = {
    0x1.fffffffff2869p-1, -0x1.1ffff86005a84p-10, 0x1.cb4911149668p-16, -0x1.21dbfc56b89c1p-19,
    0x1.4b999b813a01dp-22, -0x1.57f9251e0d324p-25,
};
inline constexpr std::array<double, 6> odd_of_j0_f32 = {
    -0x1.fffffffddd481p-4, 0x1.2bffd94ac3256p-10, -0x1.d0e3845a0d5d3p-15, 0x1.b1e61e41ac9c5p-18,
    -0x1.3b0e2404d99fep-20, 0x1.708fc6020e10dp-23,
};
inline constexpr BesselTables j0_f32 = {near_of_j0_f32, even_of_j0_f32, odd_of_j0_f32};

inline constexpr std::array<double, 13> near_of_j1_f32 = {
    -0x1.dc5071f1209f4p-5, 0x1.4c042a76b45aep-9, 0x1.364e5cb5ce5f2p-13, -0x1.09d33c82e6d3bp-17,
    0x1.44c7908bbb3d1p-23, -0x1.c07a4d3d43726p-30, 0x1.982f55321d0bcp-37, -0x1.09f34abad5b3p-44,
    0x1.059d33084f65fp-52, -0x1.93668cef2ff19p-61, 0x1.f58bd491f0e32p-70, -0x1.030cfd4e6d86fp-78,
    0x1.bc8d4a8d7859ep-88,
};
inline constexpr std::array<double, 6> even_of_j1_f32 = {
    0x1.00000000076c4p0, 0x1.dffff7998b476p-10, -0x1.27435f4f0d17bp-15, 0x1.56d3a03a49357p-19,
    -0x1.79cc04c16647ep-22, 0x1.81b45f14b0044p-25,
};
inline constexpr std::array<double, 6> odd_of_j1_f32 = {
    0x1.7fffffff6a713p-2, -0x1.a3ffd5a5eb3fbp-10, 0x1.1c1d04a1fa8c8p-14, -0x1.f52a416eda32cp-18,
    0x1.621cea7b8f85bp-20, -0x1.99587861b8c73p-23,
};
inline constexpr BesselTables j1_f32 = {near_of_j1_f32, even_of_j1_f32, odd_of_j1_f32};

inline constexpr std::array<double, 52> near_of_j0_f64 = {
    -0x1.9287ceca38d6bp-3, -0x1.ae339fb5956fbp-3, 0x1.d4ac1166bde6p-3, 0x1.1301d105d9a71p-2,
    -0x1.21c581744c39cp-4, 0x1.06fd532377d85p-5, 0x1.054c0d2a70bf3p-6, -0x1.1efe10cd47d41p-7,
    0x1.eb0968d968a52p-8, 0x1.bde62185a43e5p-12, -0x1.df74dffcc5048p-11, -0x1.114b7ec4c9e9cp-11,
    -0x1.0c5a89dc25e48p-12, -0x1.1b5014bc99392p-14, -0x1.701b8b786a7b8p-20, 0x1.aae2b687abfddp-17,
    0x1.2cb0ce3a76f7cp-18, 0x1.d389775b7fb98p-20, 0x1.0d83a205fe229p-21, 0x1.946125bca082dp-26,
    -0x1.9de9d1840d9e3p-25, -0x1.8902f4862fc9p-26, -0x1.4a40fd02da4f2p-27, -0x1.b4829c9198b13p-29,
    0x1.830ec38373c9ap-32, 0x1.a0d5c372422fep-33, 0x1.a4b4c1605ea1cp-34, 0x1.80ea04d410fe4p-35,
    -0x1.066b29e60d185p-39, -0x1.34883e63b60b7p-40, -0x1.5cbf0d814441p-41, -0x1.7606e7e1e829ap-42,
    0x1.0e1854dc66b68p-47, 0x1.52ecdbefa36fbp-48, 0x1.9e65a5a81b46ep-49, 0x1.ea9e2fa0cbaf6p-50,
    -0x1.b4b4301eec873p-56, -0x1.202bbdd33f7edp-56, -0x1.757ad19f43b34p-57, -0x1.d9c424c62434dp-58,
    0x1.1cbf9b08d15ecp-64, 0x1.8742c04a49b53p-65, 0x1.0946e81729463p-65, 0x1.624ffec01ab04p-66,
    -0x1.3215c225fb146p-73, -0x1.b2b69087ad5ccp-74, -0x1.31a3a438d3d8ep-74, -0x1.a904ce40aafecp-75,
    0x1.139bd8b8a1de3p-82, 0x1.925eeae5b3a77p-83, 0x1.23769cf935119p-83, 0x1.a2b11e30ffff6p-84,
};
inline constexpr std::array<double, 11> even_of_j0_f64 = {
    0x1.fffffffffffffp-1, -0x1.1fffffffd9bb6p-10, 0x1.cb5ffe79388ddp-16, -0x1.251e21cd9efd7p-19,
    0x1.84885142b019p-22, -0x1.b3d3e74bf68f6p-24, 0x1.5f1d057a08796p-25, -0x1.4866e5097128ep-26,
    0x1.156c5d88d5e25p-27, -0x1.48838872a34b1p-29, 0x1.7b99a3d52f7e4p-32,
};
inline constexpr std::array<double, 11> odd_of_j0_f64 = {
    -0x1.fffffffffffb1p-4, 0x1.2bfffffed24bcp-10, -0x1.d11df9f8cb252p-15, 0x1.ba49482356192p-18,
    -0x1.85ad7b532767dp-20, 0x1.0f67f97309fb8p-21, -0x1.00149fd05abd3p-22, 0x1.0905c44eb1abfp-23,
    -0x1.da989108a7c26p-25, 0x1.225c55af66412p-26, -0x1.5604a6c2a9dbap-29,
};
inline constexpr BesselTables j0_f64 = {near_of_j0_f64, even_of_j0_f64, odd_of_j0_f64};

inline constexpr std::array<double, 52> near_of_j1_f64 = {
    0x1.21c581744c39cp-3, -0x1.06fd532377d85p-4, -0x1.054c0d2a70bf3p-5, 0x1.1efe10cd47d41p-6,
    -0x1.eb0968d968a52p-6, -0x1.bde62185a43e5p-10, 0x1.df74dffcc5048p-9, 0x1.114b7ec4c9e9cp-9,
    0x1.9287ceca38d6bp-10, 0x1.a8f81f1ae5d58p-12, 0x1.1414a89a4fd8bp-17, -0x1.402a08e5c0fecp-14,
    -0x1.2cb0ce3a76f7cp-15, -0x1.d389775b7fb98p-17, -0x1.0d83a205fe22ap-18, -0x1.946125bca083ap-23,
    0x1.02b222f2889a5p-21, 0x1.eb43b1a7bc015p-23, 0x1.9cd13c43914bp-24, 0x1.10d1a1db00086p-25,
    -0x1.224b12a296d11p-28, -0x1.38a05295b19a8p-29, -0x1.3b87910846ebp-30, -0x1.20af839f0ca92p-31,
    0x1.cb3b8951b5d3cp-36, 0x1.0df736969717cp-36, 0x1.31272bd021e1cp-37, 0x1.47460ae43a782p-38,
    -0x1.0e1854dc86841p-43, -0x1.52ecdbefd3ee5p-44, -0x1.9e65a5a864dc9p-45, -0x1.ea9e2fa13ac15p-46,
    0x1.eb4abdac22d3fp-52, 0x1.44313b2f582ecp-52, 0x1.a42a3430aca6cp-53, 0x1.0a7e5adb7e174p-53,
    -0x1.63ef80b053c12p-60, -0x1.e9136eadcbbf3p-61, -0x1.4b98a0d5e874fp-61, -0x1.bae3fc827bf4p-62,
    0x1.a4a2f71999a99p-69, 0x1.2ab176151bcdfp-69, 0x1.a3ff92690692cp-70, 0x1.24030651fd7acp-70,
    -0x1.9d70d6557fce5p-78, -0x1.2dcc93948f916p-78, -0x1.b53a188ae4722p-79, -0x1.3a0b025072011p-79,
    0x1.56ff84e48813dp-87, 0x1.004d900307444p-87, 0x1.7cb71a85e7825p-88, 0x1.18e60855a93a5p-88,
};
inline constexpr std::array<double, 11> even_of_j1_f64 = {
    0x1.0000000000001p0, 0x1.dfffffffd7461p-10, -0x1.274fff3014a2p-15, 0x1.5a6985222ab73p-19,
    -0x1.b859e856b8706p-22, 0x1.e1e21b3e048a6p-24, -0x1.7e5a1f3c9e6bcp-25, 0x1.6282053c19769p-26,
    -0x1.2a158a58f2ee5p-27, 0x1.601ad210c87c9p-29, -0x1.964af9331c696p-32,
};
inline constexpr std::array<double, 11> odd_of_j1_f64 = {
    0x1.7ffffffffffebp-2, -0x1.a3fffffebfb92p-10, 0x1.1c3cfcccfaf7ap-14, -0x1.fe54d7093fa79p-18,
    0x1.b38b9f4ac133ap-20, -0x1.2967205a5f71dp-21, 0x1.1529cede9f6f3p-22, -0x1.1cd15f2d850d5p-23,
    0x1.fc1c48cf8dcf3p-25, -0x1.3639e172db606p-26, 0x1.6cfcbc02d99acp-29,
};
inline constexpr BesselTables j1_f64 = {near_of_j1_f64, even_of_j1_f64, odd_of_j1_f64};
// clang-format on

} // namespace tilefold::llvm_backend
