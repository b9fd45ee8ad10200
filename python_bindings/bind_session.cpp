// python_bindings/bind_session.cpp - tilefold.Session, its counters, and the
// disk cache's list for the command line.
#include "python_bindings/call.h"
#include "python_bindings/session_caster.h"
#include "python_bindings/text_caster.h"
#include "python_bindings/traverse.h"
#include "runtime/cache/disk_cache.h"
#include "runtime/cpu/environment.h"
#include "runtime/cpu/thread_limit.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/vector.h>

#include <cstdio>
#include <nlohmann/json.hpp>

namespace tilefold::python {

namespace {

using Shared = std::shared_ptr<SessionHandle>;

Shared or_default(const Shared& session) {
    return session ? session : default_session();
}

void make_session(SessionHandle* self, const OptionsHandle* options) {
    new (self) SessionHandle(options ? *options : OptionsHandle{});
}

/// The options as resolved: nothing is unset but a plan.
OptionsHandle resolved_options(const SessionHandle& self) {
    return {self.session().options(), nb::borrow(self.progress()), {}};
}

/// The default one, or its settings: a process that reads several with the
/// same ones shares one session.
nb::tuple reduce_to_options(const Shared& self) {
    const nb::module_ core = nb::module_::import_("tilefold._core");
    if (self == default_session())
        return nb::make_tuple(core.attr("default_session"), nb::tuple());
    return nb::make_tuple(core.attr("_session_with"),
                          nb::make_tuple(self->settings()));
}

std::string statistics_repr(const Statistics& s) {
    char text[200];
    std::snprintf(text, sizeof text,
                  "Statistics(compiles=%lld, memory_hits=%lld, "
                  "disk_hits=%lld, runs=%lld, compile_milliseconds=%.1f)",
                  static_cast<long long>(s.compiles),
                  static_cast<long long>(s.memory_hits),
                  static_cast<long long>(s.disk_hits),
                  static_cast<long long>(s.runs), s.compile_milliseconds);
    return text;
}

/// By the schema documents.schema.json of the package.
std::string statistics_json(const Statistics& s) {
    const nlohmann::ordered_json made = {
        {"document", "tilefold statistics"},
        {"version", 1},
        {"statistics",
         {{"compiles", s.compiles},
          {"memory_hits", s.memory_hits},
          {"disk_hits", s.disk_hits},
          {"runs", s.runs},
          {"tiles_visited", s.tiles_visited},
          {"tiles_skipped", s.tiles_skipped},
          {"compile_milliseconds", s.compile_milliseconds}}}};
    return made.dump(2);
}

constexpr const char* statistics_doc =
    R"(Counters of a session, as they were when they were asked for.

From ``tilefold.stats()`` or ``Session.stats``; they count from when the
session began.

See Also
--------
stats, Session.stats

Examples
--------
>>> session = tilefold.Session(tilefold.Options(cache_directory=""))
>>> session.stats().runs
0
>>> x = tilefold.reduce("sum_j x_j", x=np.ones(3), session=session)
>>> session.stats().compiles, session.stats().runs
(1, 1))";

constexpr const char* session_doc =
    R"(Threads, options and compiled kernels that calls share.

Calls that name no session share one, made when it is first needed. A session
may be used from several threads. Pickled are its settings: sessions of the
same settings that a process reads are one.

Parameters
----------
options : Options, optional
    Its settings; those of the environment, and defaults.

Raises
------
ArgumentError
    For options that do not fit this machine.

See Also
--------
Options : what a session is set to.
stats : what a session has done.

Examples
--------
>>> session = tilefold.Session(tilefold.Options(threads=2))
>>> session.threads
2
>>> tilefold.reduce("sum_j x_i x_j", x=np.ones(2), session=session)
array([2., 2.]))";

void bind_statistics(nb::module_& module) {
    nb::class_<Statistics>(module, "Statistics", statistics_doc)
        .def_ro("compiles", &Statistics::compiles,
                "How many kernels were compiled: an int.")
        .def_ro("memory_hits", &Statistics::memory_hits,
                "How many kernels were found in memory: an int.")
        .def_ro("disk_hits", &Statistics::disk_hits,
                "How many kernels were read from the cache's folder: an int.")
        .def_ro("runs", &Statistics::runs, "How many kernels were run: an int.")
        .def_ro("tiles_visited", &Statistics::tiles_visited,
                "Tiles of pairs met by kernels with index masks: an int.")
        .def_ro("tiles_skipped", &Statistics::tiles_skipped,
                "Tiles that index masks proved to count for nothing: an int.")
        .def_ro("compile_milliseconds", &Statistics::compile_milliseconds,
                "The time that all compiles took, in ms: a float.")
        .def("to_json", &statistics_json, "Shown as that of methods.py.")
        .def("__repr__", &statistics_repr);
}

void bind_cache(nb::module_& module) {
    nb::class_<CacheEntry>(module, "CacheEntry", "A kernel on disk.")
        .def_ro("key", &CacheEntry::key)
        .def_ro("bytes", &CacheEntry::bytes)
        .def_ro("compiler", &CacheEntry::compiler)
        .def_ro("isa", &CacheEntry::isa)
        .def_ro("summary", &CacheEntry::summary)
        .def_prop_ro(
            "fault",
            [](const CacheEntry& entry) {
                return entry.miss == DiskMiss::None
                           ? std::string()
                           : std::string(spelling_of(entry.miss));
            },
            "What is wrong with it; \"\" where nothing is.");
    module.def(
        "list_cache",
        [](const OptionsHandle& options, bool verify) {
            return DiskCache(resolve(options.options)).list(verify);
        },
        nb::arg("options"), nb::arg("verify"));
    module.def(
        "clear_cache",
        [](const OptionsHandle& options) {
            return DiskCache(resolve(options.options)).clear();
        },
        nb::arg("options"));
}

} // namespace

void bind_session(nb::module_& module) {
    bind_statistics(module);
    bind_cache(module);
    nb::class_<SessionHandle>(module, "Session",
                              nb::type_slots(collected_slots<SessionHandle>),
                              nb::is_weak_referenceable(), session_doc)
        .def("__init__", &make_session, nb::arg("options").none() = nb::none())
        .def_prop_ro("options", &resolved_options,
                     "The ``Options`` as resolved: none but a plan is None.")
        .def_prop_ro(
            "threads",
            [](const SessionHandle& self) { return self.session().threads(); },
            "How many threads its calls take: an int.")
        .def("_describe_gpus",
             [](const SessionHandle& self) {
                 return self.session().describe_gpus();
             })
        .def("stats",
             [](const SessionHandle& self) {
                 return self.session().statistics();
             })
        .def("__reduce__", &reduce_to_options,
             nb::sig("def __reduce__(self) -> tuple[typing.Any, ...]"));
    module.def(
        "stats",
        [](const Shared& session) {
            return or_default(session)->session().statistics();
        },
        nb::arg("session").none() = nb::none(), "See tilefold.stats.");
    module.def("default_session", &default_session);
    module.def("_get_num_threads", &usual_threads);
    module.def("_set_num_threads", &set_thread_limit, nb::arg("threads"));
    module.def("_session_with", &session_with, nb::arg("options"));
}

} // namespace tilefold::python
