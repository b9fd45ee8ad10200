// formulas/utf8.cpp - the few questions about Unicode, put to utf8proc.
#include "formulas/utf8.h"

#include <cstdlib>
#include <memory>
#include <new>
#include <utf8proc.h>

namespace tilefold::utf8 {

namespace {

constexpr char32_t increment = 0x2206; // ∆, a symbol used as the letter Δ

utf8proc_category_t category(char32_t code) {
    return utf8proc_category(static_cast<utf8proc_int32_t>(code));
}

bool is_letter(char32_t code) {
    const auto found = category(code);
    return (found >= UTF8PROC_CATEGORY_LU && found <= UTF8PROC_CATEGORY_LO) ||
           found == UTF8PROC_CATEGORY_NL || code == '_' || code == increment;
}

bool is_variation_selector(char32_t code) {
    return code >= 0xFE00 && code <= 0xFE0F;
}

} // namespace

Character decode(std::string_view text, std::size_t at) {
    const auto first = static_cast<unsigned char>(text[at]);
    if (first < 0x80)
        return {first, 1};
    utf8proc_int32_t code = 0;
    const auto length = utf8proc_iterate(
        reinterpret_cast<const utf8proc_uint8_t*>(text.data() + at),
        static_cast<utf8proc_ssize_t>(text.size() - at), &code);
    if (length <= 0)
        return {};
    return {static_cast<char32_t>(code), static_cast<std::uint32_t>(length)};
}

std::string encode(char32_t code) {
    utf8proc_uint8_t bytes[4];
    const auto length =
        utf8proc_encode_char(static_cast<utf8proc_int32_t>(code), bytes);
    return {reinterpret_cast<const char*>(bytes),
            static_cast<std::size_t>(length)};
}

std::size_t first_invalid(std::string_view text) {
    std::size_t at = 0;
    while (at < text.size()) {
        const Character character = decode(text, at);
        if (character.length == 0)
            return at;
        at += character.length;
    }
    return at;
}

std::string nfkc(std::string_view text) {
    utf8proc_uint8_t* mapped = nullptr;
    const auto length =
        utf8proc_map(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                     static_cast<utf8proc_ssize_t>(text.size()), &mapped,
                     static_cast<utf8proc_option_t>(
                         UTF8PROC_STABLE | UTF8PROC_COMPOSE | UTF8PROC_COMPAT));
    const std::unique_ptr<utf8proc_uint8_t, decltype(&std::free)> owner(
        mapped, &std::free);
    if (length == UTF8PROC_ERROR_NOMEM)
        throw std::bad_alloc();
    if (length < 0)
        return std::string(text);
    return {reinterpret_cast<const char*>(mapped),
            static_cast<std::size_t>(length)};
}

int width(char32_t code) {
    return utf8proc_charwidth(static_cast<utf8proc_int32_t>(code));
}

bool is_space(char32_t code) {
    if (code == ' ' || (code >= '\t' && code <= '\r') || code == 0x85)
        return true;
    const auto found = category(code);
    return (found >= UTF8PROC_CATEGORY_ZS && found <= UTF8PROC_CATEGORY_ZP) ||
           found == UTF8PROC_CATEGORY_CF || is_variation_selector(code);
}

bool is_control(char32_t code) {
    const auto found = category(code);
    return found == UTF8PROC_CATEGORY_CC || found == UTF8PROC_CATEGORY_CF ||
           found == UTF8PROC_CATEGORY_ZL || found == UTF8PROC_CATEGORY_ZP;
}

bool starts_name(char32_t code) {
    return is_letter(code) && position(code) == Position::Line;
}

bool continues_name(char32_t code) {
    if (position(code) != Position::Line || is_variation_selector(code))
        return false;
    const auto found = category(code);
    return is_letter(code) || found == UTF8PROC_CATEGORY_MN ||
           found == UTF8PROC_CATEGORY_MC || found == UTF8PROC_CATEGORY_ND;
}

Position position(char32_t code) {
    if (code < 0x80)
        return Position::Line;
    const auto* property =
        utf8proc_get_property(static_cast<utf8proc_int32_t>(code));
    if (property->decomp_type == UTF8PROC_DECOMP_TYPE_SUB)
        return Position::Subscript;
    if (property->decomp_type == UTF8PROC_DECOMP_TYPE_SUPER)
        return Position::Superscript;
    return Position::Line;
}

std::string plain(char32_t code) {
    const std::string folded = nfkc(encode(code));
    return folded == "−" ? "-" : folded;
}

} // namespace tilefold::utf8
