// runtime/c/library.cpp - of the C interface: versions, stages of a formula,
// the cache, the language.

#include "compiler/ir/explain_section.h"
#include "compiler/language_tables.h"
#include "runtime/c/arrays.h"
#include "runtime/c/guard.h"
#include "runtime/cache/disk_cache.h"
#include "runtime/cpu/environment.h"

#include <cstdlib>
#include <cstring>
#include <new>
#include <string>
#include <string_view>
#include <vector>

using namespace tilefold;
using namespace tilefold::c;

namespace {

/// "ir" of "ir", and of "sweep 1 of 2: ir".
bool is_called(const ExplainSection& section, std::string_view stage) {
    return section.name == stage || section.title() == stage;
}

std::string stage_of(const std::vector<ExplainSection>& all,
                     const std::string& stage) {
    std::vector<ExplainSection> chosen;
    std::string names;
    for (const ExplainSection& section : all) {
        if (is_called(section, stage))
            chosen.push_back(section);
        names += (names.empty() ? "" : ", ") + section.title();
    }
    if (chosen.empty())
        fail(Code::UnknownStage, {stage, names});
    return chosen.size() == 1 ? chosen.front().text : joined(chosen);
}

std::string explained(const Formula& formula,
                      std::span<const NamedView> arguments, const char* stage) {
    if (!stage)
        return joined(formula.explain(arguments));
    const std::string wanted = stage;
    if (wanted.starts_with("sm_"))
        return joined(formula.explain_for_gpu(arguments, wanted));
    return stage_of(formula.explain(arguments), wanted);
}

/// A copy that tilefold_text_free frees.
char* copied(const std::string& text) {
    char* copy = static_cast<char*>(std::malloc(text.size() + 1));
    if (!copy)
        throw std::bad_alloc();
    std::memcpy(copy, text.c_str(), text.size() + 1);
    return copy;
}

struct Word {
    std::string name, kind, summary;
};

const std::vector<Word>& words() {
    static const std::vector<Word> all = [] {
        std::vector<Word> made;
        for (const LanguageTable& table : language_tables())
            for (const LanguageRow& row : table.rows)
                made.push_back({row.spelling, table.title, row.meaning});
        return made;
    }();
    return all;
}

} // namespace

std::uint32_t tilefold_abi() noexcept {
    return TILEFOLD_ABI;
}

const char* tilefold_version() noexcept {
    return TILEFOLD_VERSION;
}

tilefold_error* tilefold_explain(const tilefold_formula* formula,
                                 const tilefold_argument* arguments,
                                 std::int64_t count, const char* stage,
                                 char** out) noexcept {
    return guarded([&] {
        const Formula& own = handle("formula", formula).formula;
        char*& made = output(out);
        made = copied(explained(own, views_of(arguments, count), stage));
    });
}

tilefold_error* tilefold_explain_json(const tilefold_formula* formula,
                                      const tilefold_argument* arguments,
                                      std::int64_t count,
                                      const char* architecture,
                                      char** out) noexcept {
    return guarded([&] {
        const Formula& own = handle("formula", formula).formula;
        char*& made = output(out);
        const auto views = views_of(arguments, count);
        made = copied(json_of(
            own.text(), architecture ? own.explain_for_gpu(views, architecture)
                                     : own.explain(views)));
    });
}

void tilefold_text_free(char* text) noexcept {
    std::free(text);
}

tilefold_error* tilefold_cache_clear(const char* directory,
                                     std::int64_t* removed) noexcept {
    return guarded([&] {
        Options options;
        if (directory)
            options.cache_directory = directory;
        const std::int64_t count = DiskCache(resolve(options)).clear();
        if (removed)
            *removed = count;
    });
}

std::int64_t tilefold_language_size() noexcept {
    try {
        return std::int64_t(words().size());
    } catch (...) { // no memory
        return 0;
    }
}

const char* tilefold_language_name(std::int64_t index, const char** kind,
                                   const char** summary) noexcept {
    if (index < 0 || index >= tilefold_language_size())
        return nullptr;
    const Word& word = words()[std::size_t(index)];
    if (kind)
        *kind = word.kind.c_str();
    if (summary)
        *summary = word.summary.c_str();
    return word.name.c_str();
}
