// compiler/build/quantile.cpp - the search behind quantile_j(f, q): a bound
// below the element of rank k, found by counting how many values lie below
// thresholds.
//
// 1. A value of rank k is at least a threshold iff at most k values are below
//    it. A sweep counts for seven thresholds a point, and so finds three bits
//    of the value: first of its exponent, then of its mantissa. No values are
//    kept, and nothing is approximate.
// 2. Negative values are searched among their opposites, tiny ones among
//    multiples of them, so that thresholds are powers of two and what lies
//    between them.
// 3. Where no number of f's dtype lies between the bound and the value, the
//    search is over: the body of the row in reduction_sugar.def takes the
//    smallest value that is not below the bound.
//
// Munro and Paterson, Selection and sorting with limited storage, 1980.

#include "compiler/build/graph_build.h"

#include <cmath>
#include <limits>
#include <string>

namespace tilefold {

using ir::ValueId;

namespace {

constexpr int thresholds = 7; ///< of a sweep
constexpr int bits_of_sweep = 3;
constexpr double scale = 0x1p60; ///< of values near the smallest numbers

/// What a dtype's numbers are made of.
struct Range {
    double least, greatest; ///< of the normal numbers
    int exponents;          ///< bits of an exponent
    int mantissa;           ///< bits behind the leading one
};

template <class Float> constexpr Range range_of(int exponents) {
    using Limits = std::numeric_limits<Float>;
    return {double(Limits::min()), double(Limits::max()), exponents,
            Limits::digits - 1};
}

/// A search in progress: names, and the values that the formulas found for
/// them so far.
class Search {
public:
    Search(ir::Builder& builder, const Bindings& bindings)
        : builder_(builder), found_(bindings) {}

    ValueId operator[](const std::string& name) const {
        return found_.values.at(name);
    }

    void run() {
        // Whole numbers, truths and constants become the computing dtype: what
        // a sweep finds of them is left for the next in that.
        const DType real = builder_.graph().real;
        if (builder_.type(found_.values["f"]).dtype != real)
            find("f", "f/1");
        const Range range =
            real == DType::F32 ? range_of<float>(8) : range_of<double>(11);
        found_.values["least"] = builder_.constant(range.least);
        found_.values["greatest"] = builder_.constant(range.greatest);
        find("k", "(q*(n - 1))//1");
        // It is divided by 1 because a quotient is in the computing dtype,
        // which a sweep can leave for the next, where a choice of two
        // constants is in float64.
        find("s", "where((count_j (f < 0)) > k, -1, 1)/1");
        find("g", "s*f");
        find("r", "where(s < 0, n - 1 - k, k)");
        find("lo", "where((count_j (g < least)) <= r, least, 0)/1");
        // Parts of the smallest numbers would be flushed to 0.
        found_.values["small"] = builder_.constant(range.least * scale);
        found_.values["scale"] = builder_.constant(scale);
        find("s", "where((count_j (g < small)) <= r, s, s*scale)/1");
        find("g", "s*f");
        // The factors of thresholds go down from sweep to sweep: 2^(8^m), …,
        // 2^8, 2.
        for (int bits = bits_of_sweep * (range.exponents / bits_of_sweep);
             bits >= 0; bits -= bits_of_sweep)
            multiply(std::ldexp(1.0, 1 << bits));
        find("hi", "min(2*lo, greatest)");
        for (int bits = 0; bits <= range.mantissa; bits += bits_of_sweep)
            divide();
    }

private:
    void find(const std::string& name, std::string_view formula) {
        found_.values[name] =
            expand(builder_, parse(formula, vocabulary()), found_);
    }

    /// Makes lo the bound lo * factor^m, for the largest m for which it is
    /// one.
    void multiply(double factor) {
        // A literal, so that sweeps with other factors are one kernel.
        found_.values["factor"] = builder_.literal(factor);
        found_.values["next"] = found_.values["lo"];
        find("t", "lo");
        for (int m = 0; m < thresholds; ++m) {
            find("t", "t*factor");
            find("next", "next*where((count_j (g < t)) <= r, factor, 1)");
        }
        find("lo", "next");
    }

    /// Moves lo and hi around the same part of [lo, hi), in eighths: each is
    /// rounded as the threshold was. All sweeps of them are one graph, and one
    /// kernel.
    void divide() {
        find("step", "where(lo < hi, (hi - lo)*0.125, 0)");
        find("m", "0");
        for (int m = 1; m <= thresholds; ++m) {
            found_.values["part"] = builder_.constant(m);
            find("m", "m + ((count_j (g < lo + step*part)) <= r)");
        }
        find("hi", "where(m == 7, hi, lo + step*(m + 1))");
        find("lo", "lo + step*m");
    }

    ir::Builder& builder_;
    Bindings found_;
};

} // namespace

/// Adds to the values of a call of quantile, which has f, q and n, what the
/// body of its row in reduction_sugar.def speaks of besides: f in the computing
/// dtype; the rank k = floor(q (n - 1)), from 0; s, a factor that makes the
/// value of rank k positive and not tiny; and lo, such that s times this value
/// is the smallest s*f not below lo.
void GraphBuild::search_rank(Bindings& bindings) {
    orders_rounded_ |= is_rounded(builder_.graph(), bindings.values.at("f"));
    Search search(builder_, bindings);
    search.run();
    for (const char* name : {"f", "k", "s", "lo"})
        bindings.values[name] = search[name];
}

} // namespace tilefold
