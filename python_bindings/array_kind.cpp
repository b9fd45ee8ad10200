// python_bindings/array_kind.cpp - see array_kind.h.
#include "python_bindings/array_kind.h"

#include "python_bindings/errors.h"
#include "python_bindings/python_state.h"

#include <memory>
#include <mutex>
#include <unordered_map>

namespace tilefold::python {

namespace {

/// Types by address; a type that is listed is kept alive, so that its address
/// means it for ever.
struct Registry {
    std::mutex mutex;
    std::unordered_map<PyTypeObject*, std::unique_ptr<ArrayKind>> kinds;
};

Registry& registry() {
    static Registry* instance = new Registry;
    return *instance;
}

bool is_subtype(PyTypeObject* type, PyObject* base) {
    return PyType_IsSubtype(type, reinterpret_cast<PyTypeObject*>(base));
}

/// The first part of the type's module: "torch" of "torch.nn.parameter".
std::string library_of(nb::handle type) {
    nb::object name = nb::getattr(type, "__module__", nb::str(""));
    if (!nb::isinstance<nb::str>(name))
        return "";
    std::string text = text_of(name);
    return text.substr(0, text.find('.'));
}

/// The class of torch's tensors that a type is or derives from; none otherwise.
nb::object base_of_torch(nb::handle type) {
    for (nb::handle base : nb::tuple(type.attr("__mro__")))
        if (text_of(base.attr("__name__")) == "Tensor" &&
            library_of(base) == "torch")
            return nb::borrow(base);
    return {};
}

/// Whether an attribute of a class is not that of its base.
bool overrides(nb::handle type, nb::handle base, const char* name) {
    const auto function = [name](nb::handle of) {
        nb::object found = nb::getattr(of, name, nb::none());
        return nb::getattr(found, "__func__", found);
    };
    return !function(type).is(function(base));
}

/// Sparse matrices of SciPy, PyData and CuPy, by their common attributes.
bool looks_sparse(nb::handle type) {
    return nb::hasattr(type, "nnz") &&
           (nb::hasattr(type, "tocoo") || nb::hasattr(type, "todense"));
}

/// Whether a type, or one it derives from, stands for arrays while a function
/// is traced.
bool is_tracer(nb::handle type) {
    struct Row {
        const char *library, *name;
    };
    constexpr Row rows[] = {{"jax", "Tracer"}, {"torch", "Proxy"}};
    for (nb::handle base : nb::tuple(type.attr("__mro__"))) {
        const std::string library = library_of(base),
                          name = text_of(base.attr("__name__"));
        for (const Row& row : rows)
            if (library == row.library && name == row.name)
                return true;
    }
    return false;
}

/// `name` of a module of torch's that is loaded; null where there is none.
PyObject* find_in_torch(const char* module, const char* name) {
    nb::object from = nb::steal(PyImport_ImportModule(module));
    if (!from) {
        forget_error();
        return nullptr;
    }
    nb::object found = nb::getattr(from, name, nb::none());
    return found.is_none() ? nullptr : found.release().ptr();
}

/// Arrays of truth values of PyArrow's, which are bits, and lend no memory
/// though they say that they do.
bool holds_bits(nb::handle type) {
    return library_of(type) == "pyarrow" &&
           text_of(type.attr("__name__")) == "BooleanArray";
}

/// What torch must be asked and told of a tensor.
void find_torch(nb::handle type, ArrayKind& kind) {
    const nb::object base = base_of_torch(type);
    if (!base.is_valid())
        return;
    kind.library = "torch";
    // A Parameter has no function of its own, but one that does nothing.
    kind.is_subclass =
        overrides(type, base, "__torch_dispatch__") ||
        (overrides(type, base, "__torch_function__") &&
         text_of(type.attr("__module__")) != "torch.nn.parameter");
    // torch.func's, functionalize's included: such a tensor has no memory, and
    // its type is torch.Tensor.
    kind.is_tracer =
        find_in_torch("torch._C._functorch", "is_functorch_wrapped_tensor");
    kind.is_batched =
        find_in_torch("torch._C._functorch", "is_legacy_batchedtensor");
    kind.tracing_state = find_in_torch("torch._C", "_get_tracing_state");
    kind.dispatch_modes =
        find_in_torch("torch._C", "_len_torch_dispatch_stack");
    kind.is_grad_enabled = find_in_torch("torch._C", "is_grad_enabled");
    kind.is_forward_enabled = find_in_torch("torch._C", "_is_fwd_grad_enabled");
    kind.forward_mode = find_in_torch("torch.autograd", "forward_ad");
    kind.increment_version =
        find_in_torch("torch.autograd.graph", "increment_version");
}

/// A library by the module of its arrays' types.
struct Library {
    std::string name;   ///< as users know it
    std::string module; ///< which has from_dlpack
    bool is_immutable = false;
};

/// One of the array API standard has its types and functions in one module.
Library library_named(const std::string& module) {
    if (module == "jaxlib")
        return {"jax", "jax.numpy", true};
    return {module, module};
}

/// The table makes arrays that are written, which not every library has.
const DLPackExchangeAPI* exchange_of(nb::handle type) {
    if (library_named(library_of(type)).is_immutable)
        return nullptr;
    if (!nb::hasattr(type, "__dlpack_c_exchange_api__"))
        return nullptr;
    nb::object capsule = type.attr("__dlpack_c_exchange_api__");
    if (!PyCapsule_IsValid(capsule.ptr(), "dlpack_exchange_api"))
        return nullptr;
    auto* exchange = static_cast<const DLPackExchangeAPI*>(
        PyCapsule_GetPointer(capsule.ptr(), "dlpack_exchange_api"));
    return exchange->header.version.major == DLPACK_MAJOR_VERSION ? exchange
                                                                  : nullptr;
}

/// Leaves the library empty where results stay NumPy's.
void find_library(nb::handle type, ArrayKind& kind) {
    const Library library = library_named(library_of(type));
    nb::object from_dlpack = nb::none();
    if (nb::object module =
            nb::steal(PyImport_ImportModule(library.module.c_str())))
        from_dlpack = nb::getattr(module, "from_dlpack", nb::none());
    else
        forget_error();
    if (from_dlpack.is_none())
        return;
    kind.library = library.name;
    kind.is_immutable = library.is_immutable;
    kind.from_dlpack = from_dlpack.release().ptr();
}

/// torch.cuda.current_stream or cupy.cuda.get_current_stream.
void find_current_stream(ArrayKind& kind) {
    if (kind.library.empty())
        return;
    nb::object module = nb::steal(PyImport_ImportModule(kind.library.c_str()));
    if (!module)
        return forget_error();
    nb::object cuda = nb::getattr(module, "cuda", nb::none());
    for (const char* name : {"current_stream", "get_current_stream"})
        if (nb::hasattr(cuda, name)) {
            kind.current_stream = nb::object(cuda.attr(name)).release().ptr();
            return;
        }
}

/// Whether tilefold.frameworks says so of the type. Python's own are not asked
/// for, so that plain calls import nothing.
bool is_called(nb::handle type) {
    if (text_of(type.attr("__module__")) == "builtins")
        return false;
    const nb::module_ frameworks = nb::module_::import_("tilefold.frameworks");
    return nb::cast<bool>(frameworks.attr("computes_calls")(type));
}

ArrayKind describe(PyTypeObject* pointer) {
    const PythonState& state = python_state();
    nb::handle type(reinterpret_cast<PyObject*>(pointer));
    ArrayKind kind;
    if (type.ptr() == state.role) {
        kind.access = Access::Role;
    } else if (is_tracer(type)) {
        kind.access = Access::Tracer;
    } else if (nb::hasattr(type, "per_step")) {
        kind.access = Access::Quantized;
    } else if (is_subtype(pointer, state.ndarray)) {
        kind.access =
            nb::hasattr(type, "mask") ? Access::Masked : Access::Buffer;
    } else if (is_subtype(pointer, state.generic)) {
        kind.access = Access::Buffer;
    } else if (looks_sparse(type)) {
        kind.access = Access::Sparse;
    } else if (const auto* exchange = exchange_of(type)) {
        kind.access = Access::Exchange;
        kind.exchange = exchange;
        kind.library = library_of(type);
    } else if (nb::hasattr(type, "__dlpack__") && !holds_bits(type)) {
        kind.access = Access::Dlpack;
        find_library(type, kind);
    } else if (!nb::hasattr(type, "__array__") &&
               PyType_GetSlot(pointer, Py_bf_getbuffer)) {
        kind.access = Access::Buffer;
    }
    if (kind.access != Access::Role && kind.access != Access::Buffer)
        kind.is_called = is_called(type);
    find_torch(type, kind);
    find_current_stream(kind);
    return kind;
}

} // namespace

const ArrayKind& array_kind(PyTypeObject* type) {
    Registry& known = registry();
    {
        std::lock_guard lock(known.mutex);
        auto found = known.kinds.find(type);
        if (found != known.kinds.end())
            return *found->second;
    }
    // describe() runs Python code: never under the lock.
    auto kind = std::make_unique<ArrayKind>(describe(type));
    std::lock_guard lock(known.mutex);
    auto [place, added] = known.kinds.try_emplace(type, std::move(kind));
    if (added)
        Py_INCREF(reinterpret_cast<PyObject*>(type));
    return *place->second;
}

} // namespace tilefold::python
