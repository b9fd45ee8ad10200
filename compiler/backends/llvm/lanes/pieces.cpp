// compiler/backends/llvm/lanes/pieces.cpp - tanh and erf of F32, by pieces.
//
// The bits of y = s |x| + C are a piece's number, with 2 or 4 pieces an octave
// of y, so that pieces grow with |x|. A piece is a polynomial of degree 7 about
// a point x0 at which the function is a float32 within a thousandth of an ulp
// (S. Gal's tables, 1986), so that c0 has no error of its own. Coefficients are
// taken from eight by a permutation of one register. The first piece is u + u
// q(u), where the function is nearly x or proportional to it.

#include "compiler/backends/llvm/lanes/math.h"
#include "compiler/backends/llvm/lanes/piece_choice.h"

#include <array>
#include <cstddef>
#include <span>

namespace tilefold::llvm_backend {
namespace {

using llvm::Value;

constexpr std::size_t degree = 7, pieces = pieces_of(DType::F32);
using Pieces = std::array<double, pieces>;

/// By the number of a piece. Minimax in the relative error: 0.44 ulp of tanh,
/// 0.02 of erf.
struct OfFunction {
    double s, C;
    int shift;    ///< of y's bits: their lowest three are the number then
    double first; ///< y below is of the first piece
    double last;  ///< |x| is held here, where the result is 1
    bool grows;   ///< the result may be above |x|
    Pieces x0;
    std::array<double, (degree + 1) * pieces> c; ///< c0 of all pieces first
};

// clang-format off
constexpr OfFunction tanh_pieces = {
    0x1.a3d70ap0,
    1,
    22,
    1.5,
    9.05,
    false,
    {0x1.eaafeep-1, 0x1.91a546p0, 0x1.4404dap1, 0x1.dfc42ap1, 0x1.6a1418p2,
     0x1.03ad1ep3, 0, 0x1.eeb64ap-2},
    {
        0x1.7cb2a6p-1, 0x1.d56e08p-1, 0x1.f98fap-1, 0x1.ff6e9p-1,
        0x1.fffccep-1, 0x1.fffffap-1, 0, 0x1.cb819ep-2,
        0x1.c9dd18p-2, 0x1.466752p-3, 0x1.998144p-6, 0x1.22b5fcp-9,
        0x1.9845bcp-15, 0x1.7f84b4p-22, 0x1.64b294p-31, 0x1.98e6bep-1,
        -0x1.5471eap-2, -0x1.2b43c4p-3, -0x1.945a3p-6, -0x1.22640ep-9,
        -0x1.990452p-15, -0x1.813fa6p-22, -0x1.9c0efap-23, -0x1.6efa6p-2,
        0x1.922898p-4, 0x1.4b273cp-4, 0x1.06b27cp-6, 0x1.8278d6p-10,
        0x1.157ebcp-15, 0x1.03cc7cp-22, -0x1.5552c2p-2, -0x1.afb15ap-4,
        0x1.361934p-5, -0x1.a084cep-6, -0x1.f2c7f2p-8, -0x1.8084d8p-11,
        -0x1.0f193ep-16, -0x1.f18dcp-24, -0x1.8b2518p-13, 0x1.5585acp-3,
        -0x1.a5fd04p-5, -0x1.760002p-15, 0x1.690442p-9, 0x1.2d0cf2p-12,
        0x1.7126e8p-18, 0x1.6afd44p-25, 0x1.148676p-3, -0x1.67966cp-6,
        0x1.17627p-6, 0x1.63b918p-8, -0x1.693552p-11, -0x1.9956d2p-14,
        -0x1.441314p-19, -0x1.4f0efcp-26, -0x1.e4b7ap-8, -0x1.b9bb92p-5,
        0x1.3ec7aep-7, -0x1.f6849ep-9, 0x1.0fd624p-16, 0x1.1a621ap-15,
        0x1.3556acp-20, 0x1.f0a2d6p-28, -0x1.4a6cfcp-5, 0x1.865b8p-6,
    },
};

constexpr OfFunction erf_pieces = {
    0x1.2p0,
    1.5,
    21,
    1.75,
    3.99,
    true,
    {0x1.666f3ap-1, 0x1.24491cp0, 0x1.977c98p0, 0x1.044ad8p1, 0x1.5d414ap1,
     0x1.cfd4eep1, 0, 0x1.64f522p-2},
    {
        0x1.5b0edcp-1, 0x1.c98822p-1, 0x1.f3844cp-1, 0x1.fdefdcp-1,
        0x1.fff11p-1, 0x1.fffff6p-1, 0, 0x1.830beap-2,
        0x1.61e63cp-1, 0x1.39c6e8p-2, 0x1.6ed44ap-4, 0x1.27c52p-6,
        0x1.59b326p-11, 0x1.2b6306p-19, 0x1.06eba8p-3, 0x1.ff9fdep-1,
        -0x1.ef81bcp-2, -0x1.66408p-2, -0x1.23f304p-3, -0x1.2cba9ep-5,
        -0x1.d7a474p-10, -0x1.10494ap-17, 0x1.1a957ap-22, -0x1.64b21ap-2,
        -0x1.2b227cp-8, 0x1.503214p-3, 0x1.f1571ap-4, 0x1.66654ep-5,
        0x1.901de4p-9, 0x1.41e18ap-16, -0x1.812abep-2, -0x1.022f68p-2,
        0x1.4d9bf6p-3, 0x1.77739p-6, -0x1.925de8p-5, -0x1.082fdp-5,
        -0x1.d30cf6p-9, -0x1.04d1c2p-15, 0x1.0360aep-12, 0x1.47c91ap-3,
        -0x1.69f1ep-5, -0x1.ea2c5ep-5, -0x1.54f5f8p-8, 0x1.ae409ep-7,
        0x1.86952ep-9, 0x1.274104p-15, 0x1.c59ae4p-4, 0x1.b12d06p-5,
        -0x1.0e1b44p-5, 0x1.091672p-6, 0x1.028924p-6, -0x1.6d7b88p-13,
        -0x1.d18ed6p-10, -0x1.765ffap-15, 0x1.09305ap-7, -0x1.8dff4ep-5,
        0x1.f96bc6p-7, 0x1.5676cap-7, -0x1.5b93a4p-8, -0x1.b34806p-9,
        0x1.48348p-11, 0x1.af467ep-15, -0x1.39133ep-5, 0x1.929bc4p-8,
    },
};
// clang-format on

class ByPieces {
public:
    ByPieces(Lanes& lanes, const OfFunction& of) : lanes_(lanes), of_(of) {}

    /// Emits f(u) for u >= 0, or NaN.
    Value* of_magnitude(Value* u) {
        u = lanes_.smaller(number(of_.last), u);
        Value* y = lanes_.fma(u, number(of_.s), number(of_.C));
        const PieceChoice choice(
            lanes_,
            b().CreateLShr(b().CreateBitCast(y, lanes_.type(DType::I32)),
                           std::uint64_t(of_.shift)));
        // By y, not by u: y is rounded.
        Value* is_later = b().CreateFCmpOGE(y, number(of_.first));
        Value* apart = b().CreateFSub(u, choice.of(of_.x0));
        if (of_.grows) // u - 0 is flushed, where f(u) may be no more
            apart = lanes_.select(is_later, apart, u);
        const auto coefficients = std::span(of_.c);
        Value* first =
            lanes_.select(is_later, choice.of(coefficients.first(pieces)), u);
        Value* slope = choice.polynomial(coefficients.subspan(pieces), apart);
        return lanes_.fma(slope, apart, first);
    }

private:
    llvm::IRBuilder<>& b() { return lanes_.b; }
    Value* number(double value) { return lanes_.number(DType::F32, value); }

    Lanes& lanes_;
    const OfFunction& of_;
};

} // namespace

Value* emit_by_pieces(Lanes& lanes, ir::Op op, Value* x) {
    const OfFunction& of = op == ir::Op::Tanh ? tanh_pieces : erf_pieces;
    return lanes.with_sign_of(
        x, ByPieces(lanes, of).of_magnitude(lanes.absolute(x)));
}

} // namespace tilefold::llvm_backend
