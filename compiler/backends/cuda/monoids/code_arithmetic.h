// compiler/backends/cuda/monoids/code_arithmetic.h - the algebra of reductions
// as text: values are expressions, places what statements assign to. The order
// of values, and of those that are NaN, is that of device/math.cuh.
#pragma once

#include "compiler/backends/cuda/text/writer.h"
#include "compiler/monoids/algebra.h"

#include <functional>
#include <string_view>

namespace tilefold::cuda {

class CodeArithmetic {
public:
    explicit CodeArithmetic(Writer& writer) : writer_(writer) {}

    Code get(const Code& place) const { return place; }
    void set(const Code& place, const Code& x) const { writer_.set(place, x); }
    void add(const Code& place, const Code& x) const {
        if (place.kind() == Kind::Long)
            return set(place, call(place.kind(), "wrapped_sum", {place, x}));
        writer_.add(place, x);
    }
    void multiply(const Code& place, const Code& x) const {
        writer_.multiply(place, x);
    }
    void set_where(const Code& holds, const auto&... places_and_values) const {
        writer_.when(holds, [&] { set_each(places_and_values...); });
    }

    Code extreme(bool largest, const Code& x, const Code& y) const {
        const bool whole = x.kind() == Kind::Long;
        return call(x.kind(),
                    largest ? (whole ? "max" : "larger")
                            : (whole ? "min" : "smaller"),
                    {x, y});
    }
    Code larger(const Code& x, const Code& y) const {
        return extreme(true, x, y);
    }
    Code beats(bool largest, const Code& x, const Code& best) const {
        return call(Kind::Truth, largest ? "exceeds" : "undercuts", {x, best});
    }
    Code same(const Code& x, const Code& y) const {
        return call(Kind::Truth, "same", {x, y});
    }
    Code comes_before(const Code& i, const Code& j) const {
        return call(Kind::Truth, "comes_before", {i, j});
    }
    Code is_nowhere(const Code& index) const {
        return less(index, like(index, 0));
    }
    Code are_some(const Code& terms) const {
        return less(like(terms, 0), terms);
    }
    Code both(const Code& p, const Code& q) const { return cuda::both(p, q); }
    Code either(const Code& p, const Code& q) const {
        return cuda::either(p, q);
    }
    Code choice(const Code& p, const Code& x, const Code& y) const {
        return cuda::choice(p, x, y);
    }
    Code like(const Code& x, double value) const {
        return number(x.kind(), value);
    }
    Code let(std::string_view name, const Code& x) const {
        return writer_.let(name, x);
    }
    Code average(const Code& sum, const Code& terms) const {
        return sum / as(Kind::Double, terms);
    }
    Code converted(DType dtype, const Code& x) const {
        if (dtype == DType::I64 && is_real(x.kind()))
            return call(Kind::Long, "saturated", {x});
        return as(kind_of_value(dtype), x);
    }

    Code weight(const Code& x, const Code& maximum) const {
        return call(x.kind(), "relative_weight", {x, maximum});
    }
    void when_above(const Code& x, const Code& maximum,
                    const std::function<void()>& body) const {
        writer_.when(negated(less_equal(x, maximum)), body);
    }

private:
    void set_each(const Code& place, const Code& x, const auto&... more) const {
        set(place, x);
        if constexpr (sizeof...(more) > 0)
            set_each(more...);
    }

    Writer& writer_;
};

} // namespace tilefold::cuda
