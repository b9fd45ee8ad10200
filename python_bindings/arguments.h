// python_bindings/arguments.h - Python values as the views of one call.
#pragma once

#include "python_bindings/array_kind.h"
#include "python_bindings/pin.h"
#include "python_bindings/streams.h"
#include "runtime/core/view.h"

#include <nanobind/nanobind.h>

#include <optional>

#include <boost/container/small_vector.hpp>

#include <span>
#include <string_view>

namespace tilefold::python {

namespace nb = nanobind;

/// The view of the imaginary parts, given that of the real ones.
View imaginary_of(const View& real);

/// A view of `value` for the argument `name`, `pin` keeping it alive. Throws
/// Error (DType, Device, Argument family).
View view_of(std::string_view name, PyObject* value, Pin& pin,
             const ArrayRequest& wanted = {});

/// The arguments of one call, in the order given. Holds the GIL's objects:
/// made, used and destroyed under the GIL.
class Arguments {
public:
    Arguments() = default;
    ~Arguments();
    Arguments(const Arguments&) = delete;
    Arguments& operator=(const Arguments&) = delete;

    /// Takes the stream of Options(stream=…), for what is added later.
    void use_stream(nb::handle stream) { wanted_.stream = stream; }
    /// Arrays of which their library records what is computed, which are
    /// refused else.
    void allow_recorded() { wanted_.allows_recorded = true; }
    /// Of arrays that later calls read: copies, which would not change as what
    /// they were made of, are refused.
    void read_again() { wanted_.is_read_again = true; }
    /// Whether one of those is among them: it has lent no memory.
    bool is_recorded() const { return is_recorded_; }
    const ArrayRequest& wanted() const { return wanted_; }
    /// The stream on which work on the arrays added so far is queued; arrays of
    /// the host have none.
    CallStream stream() const;

    /// `name` and `value` live as long as the Arguments.
    void add(std::string_view name, PyObject* value);
    /// Says of those added so far that `rank` leading dimensions are a batch's.
    void say_batch(std::size_t rank) {
        for (NamedView& view : views_)
            view.batch = rank;
    }
    std::span<const NamedView> views() const {
        return {views_.data(), views_.size()};
    }
    /// Whose arrays the result becomes; null: NumPy's.
    const ArrayKind* kind() const { return kind_; }
    /// Calls visit(name, tensor) for each tensor that lent its memory.
    template <class Visit> void each_tensor(Visit visit) const {
        for (std::size_t k = 0; k < pins_used_; ++k)
            if (pins_[k].owner)
                visit(pins_[k].name, pins_[k].owner);
        for (const Pin* pin : more_pins_)
            if (pin->owner)
                visit(pin->name, pin->owner);
    }

    /// Calls visit(object) for each reference that is held.
    template <class Visit> void each_reference(Visit visit) const {
        for (std::size_t k = 0; k < pins_used_; ++k)
            pins_[k].each_reference(visit);
        for (const Pin* pin : more_pins_)
            pin->each_reference(visit);
    }

private:
    static constexpr std::size_t inline_pins = 6;

    Pin& next_pin();
    void add_quantized(std::string_view name, PyObject* value,
                       std::optional<Axes> declared);
    void add_complex_number(std::string_view name, PyObject* value);
    void add_imaginary();
    void join(std::string_view name, const ArrayKind& kind);
    void meet(const View& view, const ArrayKind& kind);

    boost::container::small_vector<NamedView, 6> views_;
    Pin pins_[inline_pins];
    std::size_t pins_used_ = 0;
    boost::container::small_vector<Pin*, 1> more_pins_;
    const ArrayKind* kind_ = nullptr;
    ArrayRequest wanted_;
    bool is_recorded_ = false;
    Location device_; ///< of the first array on one; the host: there is none
    const ArrayKind* device_kind_ = nullptr; ///< of that array
};

} // namespace tilefold::python
