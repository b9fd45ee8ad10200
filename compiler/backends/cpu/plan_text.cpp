// compiler/backends/cpu/plan_text.cpp - plans as text.

#include "compiler/backends/cpu/plan.h"

#include "formulas/diagnostic.h"

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>
#include <optional>

namespace tilefold {

namespace {

enum class Shown : std::uint8_t { Always, IfOn };
constexpr std::optional<std::int32_t> None;

/// One `key=value` of a plan's text.
struct Field {
    std::string_view key;
    std::int32_t Plan::* member;
    std::int32_t least, most;
    std::optional<std::int32_t> off;
    Shown shown;

    bool is_shown(const Plan& plan) const {
        return shown == Shown::Always || plan.*member != off;
    }
};
constexpr Field fields[] = {
#define PLAN_FIELD(name, least, most, off, shown)                              \
    {#name, &Plan::name, least, most, off, Shown::shown},
#include "compiler/backends/cpu/plan_fields.def"
#undef PLAN_FIELD
};

[[noreturn]] void bad_plan(std::string_view part, std::string_view why) {
    fail(Code::BadPlan, {std::string(part), std::string(why)});
}

void set_number(Plan& plan, std::string_view key, std::string_view value) {
    const auto* field =
        std::find_if(std::begin(fields), std::end(fields),
                     [&](const Field& f) { return f.key == key; });
    if (field == std::end(fields))
        bad_plan(key, "no such key");
    std::int32_t number = 0;
    const auto [end, error] =
        std::from_chars(value.data(), value.data() + value.size(), number);
    if (error != std::errc() || end != value.data() + value.size() ||
        number < field->least || number > field->most)
        bad_plan(value, std::string("not a number from ") +
                            std::to_string(field->least) + " to " +
                            std::to_string(field->most));
    plan.*(field->member) = number;
}

std::string nest_spellings() {
    std::string all;
    for (Nest nest : nests)
        all += (all.empty() ? "" : ", ") + std::string(spelling_of(nest));
    return all;
}

void set_field(Plan& plan, std::string_view key, std::string_view value) {
    if (key == "isa") {
        if (!parse_isa(value, plan.isa))
            bad_plan(value, "no such instruction set");
    } else if (key == "nest") {
        const auto* nest = std::ranges::find(
            nests, value, [](Nest one) { return spelling_of(one); });
        if (nest == std::end(nests))
            bad_plan(value, "one of " + nest_spellings() + " expected");
        plan.nest = *nest;
    } else {
        set_number(plan, key, value);
    }
}

/// Checks what the backend relies on.
void check_whole(const Plan& plan) {
    const std::int32_t bytes = row_of(plan.isa).vector_bytes;
    if (plan.lanes != bytes / 4 && plan.lanes != bytes / 8)
        bad_plan("lanes", "one vector of f32 or f64 expected");
    if (plan.panel % plan.columns != 0)
        bad_plan("panel", "a multiple of columns expected");
    if (const std::int32_t rows = row_multiple(plan); plan.row_block % rows)
        bad_plan("row_block",
                 "a multiple of " + std::to_string(rows) + " expected");
}

} // namespace

nlohmann::ordered_json document_of(const Plan& plan) {
    nlohmann::ordered_json made = {{"text", print(plan)},
                                   {"isa", row_of(plan.isa).spelling},
                                   {"nest", spelling_of(plan.nest)}};
    for (const Field& field : fields)
        made[std::string(field.key)] = plan.*field.member;
    return made;
}

std::string print(const Plan& plan) {
    // No stream, which ends early and says nothing where memory is missing.
    std::string text = "isa=" + std::string(spelling_of(plan.isa)) +
                       " nest=" + std::string(spelling_of(plan.nest));
    for (const Field& field : fields)
        if (field.is_shown(plan))
            text += ' ' + std::string(field.key) + '=' +
                    std::to_string(plan.*field.member);
    return text;
}

Plan parse_plan(std::string_view text) {
    Plan plan;
    bool has_isa = false; // no default runs on every processor
    constexpr std::string_view spaces = " \t\n\v\f\r";
    for (std::size_t at = text.find_first_not_of(spaces); at < text.size();
         at = text.find_first_not_of(spaces, at)) {
        const std::string_view word =
            text.substr(at, text.find_first_of(spaces, at) - at);
        const std::size_t equals = word.find('=');
        if (equals == std::string_view::npos)
            bad_plan(word, "key=value expected");
        const std::string_view key = word.substr(0, equals);
        set_field(plan, key, word.substr(equals + 1));
        has_isa |= key == "isa";
        at += word.size();
    }
    if (!has_isa)
        bad_plan("isa", "missing: " + isa_spellings());
    check_whole(plan);
    return plan;
}

} // namespace tilefold
