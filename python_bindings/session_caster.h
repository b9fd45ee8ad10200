// python_bindings/session_caster.h - a tilefold.Session to a shared pointer,
// and back, where memory may run out.
//
// nanobind's own caster makes a new pointer of every argument, where nothing
// may be thrown, which ends the process. A session that Python makes lies in
// its object, which the pointer keeps.
#pragma once

#include "python_bindings/session_handle.h"

#include <nanobind/stl/shared_ptr.h>

#include <cstdint>
#include <exception>
#include <memory>

namespace nanobind::detail {

template <>
struct type_caster<std::shared_ptr<tilefold::python::SessionHandle>> {
    using Session = tilefold::python::SessionHandle;
    using Value = std::shared_ptr<Session>;
    static constexpr bool IsClass = true;
    static constexpr auto Name = make_caster<Session>::Name;
    template <class> using Cast = Value;
    template <class> static constexpr bool can_cast() { return true; }

    bool from_python(handle source, std::uint32_t flags,
                     cleanup_list* cleanup) noexcept {
        make_caster<Session> caster;
        if (!caster.from_python(source, flags & ~cast_flags::convert, cleanup))
            return false;
        session_ = caster.operator Session*();
        source_ = source;
        return true;
    }

    static handle from_cpp(const Value& value, rv_policy,
                           cleanup_list* cleanup) noexcept {
        bool is_new = false;
        object result = steal(NB_CALL(nb_type_put)(
            NB_CTX_C(cleanup), &typeid(Session), nullptr, value.get(),
            rv_policy::reference, cleanup, &is_new));
        if (!is_new)
            return result.release();
        try {
            auto owner = std::make_unique<Value>(value);
            NB_CALL(keep_alive_ptr)(
                NB_CTX, result.ptr(), owner.get(),
                [](void* kept) noexcept { delete static_cast<Value*>(kept); });
            static_cast<void>(owner.release());
        } catch (const std::exception&) {
            PyErr_NoMemory();
            return {};
        }
        return result.release();
    }

    /// The pointer there is; else one that keeps the Python object.
    explicit operator Value() const {
        if (!session_)
            return nullptr;
        if (Value known = session_->weak_from_this().lock())
            return known;
        return Value(session_, py_deleter{source_.inc_ref().ptr()});
    }

private:
    Session* session_ = nullptr;
    handle source_;
};

} // namespace nanobind::detail
