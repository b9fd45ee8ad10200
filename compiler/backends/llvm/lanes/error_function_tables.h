// compiler/backends/llvm/lanes/error_function_tables.h - the numbers of
// error_function.cpp: of each coefficient, those of all pieces.
#pragma once

#include "compiler/backends/llvm/lanes/piece_choice.h"

#include <array>
#include <span>

namespace tilefold::llvm_backend {

// clang-format off
/// erf(k w + b) = c0 + c1 b + c2 b² + … + low for w = 109/64; of the first piece
/// without b. Minimax, 2^-56.
inline constexpr std::array<double, 92> of_erf_f64 = {
    0, 0x1.f7cceef15d631p-1, 0x1.ffffcf23ff5fcp-1, 0x1.fffffffffee77p-1,
    0x1.06eba8214db68p-3, 0x1.fc4b5e32d6259p-5, 0x1.5a2adfa0b4bdep-17, 0x1.6cfa9bcc9fa52p-38,
    0, -0x1.b0d82e374a5c1p-4, -0x1.26c8826ed9e89p-15, -0x1.d2341d026cf4cp-36,
    -0x1.812746b037996p-2, 0x1.96be3a1ba3683p-4, 0x1.40473571d4f63p-14, 0x1.8565d2caf1321p-34,
    0, -0x1.942bdc278b57p-5, -0x1.f057dbf3656e6p-14, -0x1.ddf839b589012p-33,
    0x1.ce2f21a03e6a5p-4, 0x1.f4bbe50c16fc6p-9, 0x1.2217929ff779dp-13, 0x1.cb386b22fb122p-32,
    0, 0x1.680c621f91507p-7, -0x1.0732401636fa7p-13, -0x1.6730b215d6754p-31,
    -0x1.b82ce3111760cp-6, -0x1.9a03f19e788f9p-8, 0x1.7627587027693p-14, 0x1.d5af3a8a1657bp-31,
    0, 0x1.4453aaf587f9cp-12, -0x1.9ba2396937de6p-15, -0x1.057d568c3f676p-30,
    0x1.565bcccf179f1p-8, 0x1.2036b4d501a7cp-10, 0x1.4c28c41cd7506p-16, 0x1.f678c293f16d8p-31,
    0, -0x1.c25969f03ff32p-12, -0x1.3fb308849f43ap-18, -0x1.a47d413f0587ep-31,
    -0x1.c02da74c5aed4p-11, -0x1.898dbc7b647adp-15, -0x1.36af3e29a66bap-22, 0x1.346712fe902fap-31,
    0, 0x1.48cb88b8e1549p-14, 0x1.dbb4007c27755p-21, -0x1.8dd39538d8dddp-32,
    0x1.f9a18efb5ea2ap-14, -0x1.d333affea0d15p-17, -0x1.c6c0f8bacca93p-22, 0x1.c37423827889cp-33,
    0, -0x1.d2633e0b702b9p-18, 0x1.7f5073723a23ap-24, -0x1.c1359fd71d21fp-34,
    -0x1.f4b1583178a03p-17, 0x1.bb35aef7698b3p-19, 0x1.988e08e6ccd82p-27, 0x1.848523f361ff9p-35,
    0, 0x1.d077333b2a1c7p-24, -0x1.09f0af67617e5p-26, -0x1.1e8cbd4225749p-36,
    0x1.b82c721f76484p-20, -0x1.9e8b7fe233912p-22, 0x1.519467a8d0e4ep-28, 0x1.5984eb26f06eap-38,
    0, 0x1.07036a4a32312p-24, -0x1.008b56534a652p-32, -0x1.33599f943deeap-40,
    -0x1.50e577f8c111fp-23, 0x1.da4d67ab31992p-26, -0x1.d43f6dfd87189p-32, 0x1.e966d4358b3fcp-44,
    0, -0x1.584d5b7b6f278p-27, 0x1.612611fd3d945p-33, 0x1.f091fb541af4bp-45,
    0x1.6ded097cbc792p-27, -0x1.10dbaefe7bf4dp-30, -0x1.69eba5986324ap-40, -0x1.7c246d9a7b371p-45,
    0, 0x1.a2c2eef101046p-31, -0x1.60f35dce8f958p-37, 0x1.8cf218adac325p-47,
};
inline constexpr std::array<double, 4> low_of_erf_f64 = {
    0, 0x1.04499553ea611p-55, -0x1.b18a8b1c01178p-55, 0x1.dd4e791d69b94p-56,
};

/// e^(u²) erfc(u) = c0 (1 + c[0] b + c[1] b² + …) with b = u - x0: x0 is one of
/// the numbers at which c0 has next to no error. Minimax, 2^-28 and 2^-58.
struct ErfcPieces {
    std::span<const double> x0, c0, c;
};

inline constexpr std::array<double, 8> x0_of_erfc_f32 = {
    0x1.0a818p0, 0x1.af68a6p0, 0x1.4aadaep1, 0x1.f5f4aep1, 0x1.7e977cp2, 0x1.094ddp3, 0x1.55b5f6p-3, 0x1.fe7964p-2,
};
inline constexpr std::array<double, 8> c0_of_erfc_f32 = {
    0x1.aaap-2, 0x1.2ccp-2, 0x1.a36p-3, 0x1.1dep-3, 0x1.7d6p-4, 0x1.14cp-4, 0x1.ac4p-1, 0x1.3bap-1,
};
inline constexpr std::array<double, 64> c_of_erfc_f32 = {
    -0x1.40aa1p-1, -0x1.e2dd8ep-2, -0x1.5fc942p-2, -0x1.ecc7f2p-3, -0x1.4d9cc2p-3, -0x1.e71afap-4, -0x1.03edc6p0, -0x1.aab502p-1,
    0x1.645a28p-2, 0x1.a48f34p-3, 0x1.ccbf54p-4, 0x1.ce2dc6p-5, 0x1.ad5536p-6, 0x1.cc40e8p-7, 0x1.a942e2p-1, 0x1.2b4842p-1,
    -0x1.68785ap-3, -0x1.56ad6ep-4, -0x1.211efcp-5, -0x1.a723bap-7, -0x1.10f10ap-8, -0x1.aff898p-10, -0x1.2b44b4p-1, -0x1.720436p-2,
    0x1.517488p-4, 0x1.07a68ap-5, 0x1.5d1abep-7, 0x1.7aaedap-9, 0x1.56f794p-11, 0x1.92d3c2p-13, 0x1.7754aap-2, 0x1.9e20a2p-3,
    -0x1.27a2e2p-5, -0x1.81ade4p-7, -0x1.96c1c6p-9, -0x1.4bb6cep-11, -0x1.a8e5b6p-14, -0x1.74cbaep-16, -0x1.acabbap-3, -0x1.aaacecp-4,
    0x1.e75724p-7, 0x1.0cb74ap-8, 0x1.cf4c5p-11, 0x1.1f31d6p-13, 0x1.05b378p-16, 0x1.528188p-19, 0x1.c4222cp-4, 0x1.95fbdap-5,
    -0x1.8aed52p-8, -0x1.704008p-10, -0x1.08c6f8p-12, -0x1.eec52p-16, -0x1.5c0a4ap-19, -0x1.47e252p-22, -0x1.c713dcp-5, -0x1.86896p-6,
    0x1.536a4cp-9, 0x1.12e428p-11, 0x1.d6c2aep-15, 0x1.40d632p-18, 0x1.95ab3p-22, 0x1.876f1ap-25, 0x1.cdcb9cp-6, 0x1.350ea4p-6,
};
inline constexpr ErfcPieces of_erfc_f32 = {x0_of_erfc_f32, c0_of_erfc_f32, c_of_erfc_f32};

inline constexpr std::array<double, 4> x0_of_erfc_f64 = {
    0x1.c71c71c71c71cp1, 0x1.1c71c71c71c71p3, 0x1.385b05b05b05bp4, 0x1.c71c71c71c71dp-1,
};
inline constexpr std::array<double, 4> c0_of_erfc_f64 = {
    0x1.3967fa672c478p-3, 0x1.025d196bdc6e4p-4, 0x1.d8e06a337754bp-6, 0x1.d70003844a434p-2,
};
inline constexpr std::array<double, 96> c_of_erfc_f64 = {
    -0x1.0cc08d41b3db7p-2, -0x1.c724f5a9d7d66p-4, -0x1.a287cd38e2b04p-5, -0x1.59d1c226d4a78p-1,
    0x1.11bf437602087p-4, 0x1.922d89b5d2abdp-7, 0x1.55ae4fbf51c8bp-9, 0x1.9935c349309d5p-2,
    -0x1.0f2950250c6d4p-6, -0x1.614854b5d96bp-10, -0x1.1694fbb8bfb33p-13, -0x1.b53201d7ea7f8p-3,
    0x1.05b7e1c50d71dp-8, 0x1.34890106d29f2p-13, 0x1.c5afcfdb2645cp-18, 0x1.adcd4c0b57e56p-4,
    -0x1.ed17d6f604642p-11, -0x1.0bebe99ab0708p-16, -0x1.70f4376b5ecd1p-22, -0x1.89e027e54f63fp-5,
    0x1.c608fb5b8b3b8p-13, 0x1.ceb3b9cef8e3ap-20, 0x1.2ba9c4862ab0ep-26, 0x1.53a9573b62b34p-6,
    -0x1.992c0a10e126dp-15, -0x1.8d57b474cc19dp-23, -0x1.e626ccc14a732p-31, -0x1.159df928f00cap-7,
    0x1.694e745a28ebbp-17, 0x1.535d4e9614296p-26, 0x1.89d93d11dfd2fp-35, 0x1.b08d5f35e6c22p-9,
    -0x1.38ed517a8b60fp-19, -0x1.204c46e0a8903p-29, -0x1.3eaaf5d80c156p-39, -0x1.42a81a127117bp-10,
    0x1.0a13be2c2431fp-21, 0x1.e7412e6790b25p-33, 0x1.018389189c821p-43, 0x1.cea38b7dfc603p-12,
    -0x1.bc97578234e1p-24, -0x1.999faedce7cf8p-36, -0x1.9fabb9186c244p-48, -0x1.3fc768508a772p-13,
    0x1.6d3bbaa30cadp-26, 0x1.5699d8ab8857cp-39, 0x1.4f0fc251afb3ap-52, 0x1.ab5a690f8ece6p-15,
    -0x1.273a42b77375bp-28, -0x1.1d13ebcd4cffap-42, -0x1.0dba92e5978a4p-56, -0x1.14b0e6116b3c1p-16,
    0x1.d5f32efa24846p-31, 0x1.d81e537d02b63p-46, 0x1.b1c3e826c6fbep-61, 0x1.5bdcb6a89a58dp-18,
    -0x1.70a4fab365a52p-33, -0x1.858e30922f2d5p-49, -0x1.5cc9cbe6c9deap-65, -0x1.a95e484b5a97dp-20,
    0x1.1cdfae312d0d7p-35, 0x1.3f60ff419067ep-52, 0x1.17bf984f5350ep-69, 0x1.faac6b9819fbcp-22,
    -0x1.aff87706d719bp-38, -0x1.00a56d474c6e4p-55, -0x1.b99ba0404e5a8p-74, -0x1.2646c38a10491p-23,
    0x1.456f8c849875fp-40, 0x1.a196fe4fb9dc8p-59, 0x1.617b277398e02p-78, 0x1.4e1107eaa6066p-25,
    -0x1.fa4f6d9c5dc4p-43, -0x1.797ad23508a64p-62, -0x1.3bb0c53b41171p-82, -0x1.74981c3ece531p-27,
    0x1.6f47936632e88p-45, 0x1.2d7f001a55659p-65, 0x1.f6fdb50a325b4p-87, 0x1.9380ee36eed14p-29,
    -0x1.7ff80d507b5b2p-48, -0x1.c9f9464905ba6p-70, -0x1.772f9b6cb7332p-92, -0x1.9558dcb0f4d5p-31,
    0x1.2217990776304p-50, 0x1.7f9fde0f3c64fp-73, 0x1.2eaf88932631dp-96, 0x1.b08bc4ac7bb9ap-33,
    -0x1.def4617065587p-52, -0x1.366c19c15cc5bp-74, -0x1.028bdb8aebcddp-98, -0x1.370a8c29ebc59p-34,
    0x1.41de68e063107p-54, 0x1.e2d7911da5c06p-78, 0x1.9902a4d3a86d8p-103, 0x1.287b104ae6be8p-36,
};
inline constexpr ErfcPieces of_erfc_f64 = {x0_of_erfc_f64, c0_of_erfc_f64, c_of_erfc_f64};

/// The same on eight pieces, two to an octave.
inline constexpr std::array<double, 8> x0_of_erfc_f64_on_8 = {
    0x1.54cb8b3ef2271p1, 0x1.1daf9588858c8p2, 0x1.c601a1e834006p2, 0x1.55c0bf873475dp3,
    0x1.fe26848b8be63p3, 0x1.714eb0359568cp4, 0x1.c8f3a610e1345p-2, 0x1.560337a2774fcp0,
};
inline constexpr std::array<double, 8> c0_of_erfc_f64_on_8 = {
    0x1.98468bf5da908p-3, 0x1.f9947c7948154p-4, 0x1.429e83ff78e67p-4, 0x1.aee4951ff4cc9p-5,
    0x1.2158674fd1f44p-5, 0x1.901a076d094b1p-6, 0x1.49e5097c10312p-1, 0x1.670a78c36ddbdp-2,
};
inline constexpr std::array<double, 144> c_of_erfc_f64_on_8 = {
    -0x1.575235ee5dcd3p-2, -0x1.b639a6f9e7d75p-3, -0x1.1b3ac9c454c9p-3, -0x1.7c3cc3fa9583ap-4,
    -0x1.ffdaa0e0fa519p-5, -0x1.623ffd9a22196p-5, -0x1.b7b104c3f270fp-1, -0x1.17a926fb6b9dep-1,
    0x1.b7aebb84cbac9p-4, 0x1.6f53fb962a322p-5, 0x1.367dfa4505739p-6, 0x1.19313984ae371p-7,
    0x1.feb80416c58abp-9, 0x1.e9c03ed712bc5p-10, 0x1.3bca8d506acd1p-1, 0x1.14c10453ad0efp-2,
    -0x1.0e320aef27535p-5, -0x1.2de249ca65b53p-7, -0x1.51593c73aa9ffp-9, -0x1.9e2905d32643p-11,
    -0x1.fc9b4a3c32cd6p-13, -0x1.5239f6f48c9f9p-14, -0x1.8e5ce868bf5d6p-2, -0x1.f98d3f67baabbp-4,
    0x1.3ff5c16390132p-7, 0x1.e700169b319cfp-10, 0x1.6b58ca0912c9bp-12, 0x1.2fbf34ec886b5p-14,
    0x1.f988f9d20e80bp-17, 0x1.d2bb68b05b068p-19, 0x1.c5d0f1fb689aep-3, 0x1.af9b041432a08p-5,
    -0x1.6e3dbd2872af6p-9, -0x1.81e2ec187e16ep-12, -0x1.8408df80a8ba4p-15, -0x1.bbb9ef430d3aap-18,
    -0x1.f586f0ee005a3p-21, -0x1.41bbdc308238ep-23, -0x1.db5f081a9cc43p-4, -0x1.5b96623290d9ap-6,
    0x1.9650d9082df47p-11, 0x1.2c9ee14709b13p-14, 0x1.9af942c06bcd3p-18, 0x1.42cde499a0b21p-21,
    0x1.f09c53ee938c7p-25, 0x1.bb27bde2bf78cp-28, 0x1.cfaaf9a42ff98p-5, 0x1.09e481c82d6c9p-7,
    -0x1.b5e6f465770a8p-13, -0x1.ccda1c1ae4ab8p-17, -0x1.afc0b44429891p-21, -0x1.d3cdf9ae458cp-25,
    -0x1.ead1795804898p-29, -0x1.30eb93ebf107p-32, -0x1.a90c5802bdb84p-6, -0x1.8482765985c62p-9,
    0x1.cb5d91f71eaa5p-15, 0x1.5bcb6d7422202p-19, 0x1.c20025186269dp-24, 0x1.51a332cc973d7p-28,
    0x1.e42fd42be7992p-33, 0x1.a33a04b439848p-37, 0x1.70d4a8ad1833ap-7, 0x1.10436d45836c7p-10,
    -0x1.d5d611ba7bb15p-17, -0x1.0295b7ed6c772p-21, -0x1.d1659f3f5d615p-27, -0x1.e57c8b7b1839ep-32,
    -0x1.dcc1e820a6c68p-37, -0x1.1fedb7e5acc28p-41, -0x1.30aba8762663ep-8, -0x1.6f5bee3d5f1bep-12,
    0x1.d53bb9e5b7f7fp-19, 0x1.7b082f45839f6p-24, 0x1.ddae5b74eea64p-30, 0x1.5bb2886fc3c02p-35,
    0x1.d492e4456cf7cp-41, 0x1.8b23dfa5e0e49p-46, 0x1.e15d23036684ap-10, 0x1.de9d423cddc19p-14,
    -0x1.ca324a4f86101p-21, -0x1.11f96dfad78a4p-26, -0x1.e6a4b8c2fd437p-33, -0x1.f023bd91ab5fbp-39,
    -0x1.cbabdec8b8b2fp-45, -0x1.0ee5170cd4465p-50, -0x1.6d0bc62da2efep-11, -0x1.2dd2fe138a894p-15,
    0x1.b5fba92897374p-23, 0x1.871116ad1b68p-29, 0x1.ec31beff62694p-36, 0x1.60b9d0a809b8fp-42,
    0x1.c223a2d825ad1p-49, 0x1.735922895ecb1p-55, 0x1.0a9afcba2736bp-12, 0x1.714424229b76ep-17,
    -0x1.9a7cc7095297p-25, -0x1.138d0a3d4cd3ep-31, -0x1.eed2e67127464p-39, -0x1.f39789b1abe0cp-46,
    -0x1.b86e7cf99d61ep-53, -0x1.fbecac3c8cb93p-60, -0x1.78197df49ae85p-14, -0x1.b746138f850ddp-19,
    0x1.7924727cd371dp-27, 0x1.759a5d12b9351p-34, 0x1.ed65af9971ef3p-42, 0x1.5d66937a05605p-49,
    0x1.ad65185da7a2p-57, 0x1.50e95635697e3p-64, 0x1.00eaf793aca55p-15, 0x1.00f19673fdf46p-20,
    -0x1.4f97d29cb8adp-29, -0x1.fbbcb1bda37c2p-37, -0x1.dd98d8c7303a9p-45, -0x1.eb15b142d3d15p-53,
    -0x1.9958bbc97a231p-61, -0x1.d8d10eb40b548p-69, -0x1.52ffc5d247b5cp-17, -0x1.1ffd1a64bc746p-22,
    0x1.298b5b8d480aep-31, 0x1.165d543f2bf26p-38, 0x1.d6e947f169732p-48, 0x1.9ab506556653fp-56,
    0x1.92357132c2729p-65, 0x1.12e60a7cbb3f6p-72, 0x1.ada9d027292f6p-19, 0x1.9d68c2fe3d499p-25,
    -0x1.349c3bcdc16fep-33, -0x1.592d0a710342ep-41, -0x1.21b01d1311436p-50, -0x1.16a63f62a153fp-59,
    -0x1.e645702d02eeap-69, -0x1.e2b94521f6b3cp-78, -0x1.28c57f36a3eedp-20, -0x1.537bdb5611253p-26,
    0x1.073555d6cd881p-35, -0x1.73cb7658a82dep-42, 0x1.1597e66a24c26p-53, -0x1.ad18563007d59p-64,
    0x1.c0bde9f970e9ep-73, -0x1.b472828ad3676p-80, 0x1.a6417db2d6349p-22, 0x1.26de48470f139p-25,
};
inline constexpr ErfcPieces of_erfc_f64_on_8 = {x0_of_erfc_f64_on_8, c0_of_erfc_f64_on_8, c_of_erfc_f64_on_8};

/// 2^(k/8) in twelve bits, and what its logarithm is above k log(2)/8.
inline constexpr std::array<double, 8> eighths_of_power = {
    0x1p0, 0x1.172p0, 0x1.306p0, 0x1.4cp0, 0x1.6ap0, 0x1.8acp0, 0x1.ae8p0, 0x1.d58p0,
};
inline constexpr std::array<double, 8> above_eighths = {
    0, -0x1.51eb06p-13, -0x1.ab493p-13, 0x1.ca8cep-16, -0x1.c00c4p-14, -0x1.29552p-13, -0x1.7b9c1cp-14, -0x1.b1d1bap-17,
};
// clang-format on

} // namespace tilefold::llvm_backend
