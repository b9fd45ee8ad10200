// python_bindings/bind_arguments.cpp - the arguments of a call by name, for
// what looks at them before a formula does.
#include "formulas/diagnostic.h"
#include "formulas/names.h"
#include "python_bindings/call.h"
#include "python_bindings/errors.h"
#include "python_bindings/text_caster.h"

#include <algorithm>
#include <string>
#include <string_view>

namespace tilefold::python {

namespace {

/// Most names are as formulas have them: no letter of Greek or of another
/// width, nor the underscore of `lambda_`.
bool is_normal(std::string_view name) {
    const auto is_ascii = [](char byte) { return (byte & '\x80') == 0; };
    return !name.ends_with('_') &&
           std::all_of(name.begin(), name.end(), is_ascii);
}

nb::object normal_key(nb::handle key) {
    const std::string_view typed = key_text(key.ptr());
    if (is_normal(typed))
        return nb::borrow(key);
    const std::string name = normalise_name(typed);
    return nb::str(name.data(), name.size());
}

nb::dict merged(nb::handle mapping, nb::dict keywords) {
    nb::dict all, typed;
    const auto add = [&](nb::dict given) {
        for (const auto [key, value] : given) {
            const nb::object name = normal_key(key);
            if (all.contains(name)) {
                const nb::object other = typed[name];
                fail(Code::DuplicateArgument,
                     {std::string(key_text(name.ptr())),
                      std::string(key_text(other.ptr())),
                      std::string(key_text(key.ptr()))});
            }
            all[name] = value;
            typed[name] = key;
        }
    };
    if (!mapping.is_none())
        add(nb::cast<nb::dict>(copy_of(mapping.ptr())));
    add(std::move(keywords));
    return all;
}

} // namespace

void bind_arguments(nb::module_& module) {
    module.def("arguments", &merged, nb::arg("mapping").none(),
               nb::arg("keywords"),
               nb::sig("def arguments(mapping: typing.Mapping[str, "
                       "typing.Any] | None, keywords: dict[str, typing.Any]) "
                       "-> dict[str, typing.Any]"),
               "Arguments of a call, by the names that formulas have: `λ`, "
               "`lambda_` and `lambda` are one.");
}

} // namespace tilefold::python
