// formulas/lexer.cpp - text to tokens, driven by tokens.def.
#include "formulas/lexer.h"

#include "formulas/excerpt.h"
#include "formulas/names.h"
#include "formulas/notations.h"
#include "formulas/symbols.h"
#include "formulas/utf8.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

namespace tilefold {

namespace {

constexpr int shown_columns = 40; // of a token quoted in a message

bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

/// Returns the value of a fraction: `½` is 1/2.
std::optional<double> fraction(std::string_view folded) {
    constexpr std::string_view slash = "⁄";
    const std::size_t at = folded.find(slash);
    if (at == std::string_view::npos || at == 0)
        return std::nullopt;
    const auto number = [](std::string_view digits) {
        double value = 0;
        std::from_chars(digits.data(), digits.data() + digits.size(), value);
        return value;
    };
    const double below = number(folded.substr(at + slash.size()));
    return below == 0 ? std::nullopt
                      : std::optional(number(folded.substr(0, at)) / below);
}

class Lexer {
public:
    explicit Lexer(std::string_view text) : text_(text) {}

    std::vector<Token> run();

private:
    void token();
    void number();
    bool is_pi_before_a_name() const;
    void name();
    void name_symbol(const Letter& letter);
    void superscript();
    void lowered();
    bool symbol();
    void check_brace() const;
    void check_brace_below(std::string_view reduction) const;
    void compatible_symbol();

    Token& push(TokenKind kind, std::size_t begin);
    utf8::Character character(std::size_t at) const;
    char byte(std::size_t at) const {
        return at < text_.size() ? text_[at] : 0;
    }
    std::size_t digits(std::size_t at) const;
    std::size_t subscripts(std::size_t at) const;
    void check_number_end(std::size_t begin);
    double value_of(std::string_view digits, std::size_t begin) const;
    [[noreturn]] void
    refuse(Code code, std::size_t begin, std::size_t end,
           std::initializer_list<std::string> arguments) const;

    std::string_view text_;
    std::size_t at_ = 0;
    bool space_ = false;
    std::vector<Token> tokens_;
};

Span span_of(std::size_t begin, std::size_t end) {
    return {static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(end)};
}

void Lexer::refuse(Code code, std::size_t begin, std::size_t end,
                   std::initializer_list<std::string> arguments) const {
    fail(code, Place{text_, span_of(begin, end)}, arguments);
}

utf8::Character Lexer::character(std::size_t at) const {
    return at < text_.size() ? utf8::decode(text_, at) : utf8::Character{};
}

Token& Lexer::push(TokenKind kind, std::size_t begin) {
    Token token;
    token.kind = kind;
    token.space_before = space_;
    token.span = span_of(begin, at_);
    tokens_.push_back(std::move(token));
    space_ = false;
    return tokens_.back();
}

std::vector<Token> Lexer::run() {
    if (text_.size() > longest_formula)
        refuse(Code::FormulaTooLong, 0, 0,
               {std::to_string(text_.size()), std::to_string(longest_formula)});
    const std::size_t bad = utf8::first_invalid(text_);
    if (bad < text_.size())
        refuse(Code::InvalidUtf8, bad, bad + 1, {std::to_string(bad)});
    while (at_ < text_.size()) {
        const auto [code, length] = character(at_);
        if (utf8::is_space(code)) {
            space_ = true;
            at_ += length;
        } else {
            token();
        }
    }
    push(TokenKind::End, at_);
    return std::move(tokens_);
}

void Lexer::token() {
    const char32_t code = character(at_).code;
    if (is_digit(byte(at_)) || (byte(at_) == '.' && is_digit(byte(at_ + 1))))
        return number();
    if (utf8::starts_name(code))
        return name();
    if (symbol())
        return;
    if (const Letter* letter = find_letter(text_.substr(at_)))
        return name_symbol(*letter);
    switch (utf8::position(code)) {
    case utf8::Position::Superscript:
        return superscript();
    case utf8::Position::Subscript:
        return lowered();
    case utf8::Position::Line:
        return compatible_symbol();
    }
}

std::size_t Lexer::digits(std::size_t at) const {
    while (is_digit(byte(at)))
        ++at;
    return at;
}

void Lexer::number() {
    const std::size_t begin = at_;
    at_ = digits(at_);
    bool integer = true;
    if (byte(at_) == '.') {
        integer = false;
        at_ = digits(at_ + 1);
    }
    if (byte(at_) == 'e' || byte(at_) == 'E') {
        const bool sign = byte(at_ + 1) == '+' || byte(at_ + 1) == '-';
        const std::size_t exponent = at_ + (sign ? 2 : 1);
        if (is_digit(byte(exponent))) {
            integer = false;
            at_ = digits(exponent);
        }
    }
    check_number_end(begin);
    const double value = value_of(text_.substr(begin, at_ - begin), begin);
    Token& token = push(TokenKind::Number, begin);
    token.value = value;
    token.is_integer = integer;
}

/// Refuses `1.2.3`, `1_000`, `0x1F` and `2j`.
void Lexer::check_number_end(std::size_t begin) {
    const char next = byte(at_);
    const bool based = text_.substr(begin, at_ - begin) == "0" &&
                       (next == 'x' || next == 'X' || next == 'b') &&
                       is_digit(byte(at_ + 1));
    if (text_.substr(begin, at_ + 2 - begin) == "1_{")
        refuse(Code::Indicator, begin, at_ + 2, {"1{"});
    if (next == '.' || next == '_' || based) {
        std::size_t end = at_ + 1;
        while (is_digit(byte(end)) || byte(end) == '.' || byte(end) == '_' ||
               (byte(end) >= 'A' && byte(end) <= 'F'))
            ++end;
        refuse(Code::BadNumber, begin, end,
               {shorten(text_.substr(begin, end - begin), shown_columns)});
    }
    if (next != 'i' && next != 'j')
        return;
    const auto after = character(at_ + 1);
    if (after.length != 0 &&
        (utf8::continues_name(after.code) ||
         utf8::position(after.code) == utf8::Position::Subscript))
        return;
    refuse(Code::ImaginarySuffix, begin, at_ + 1,
           {shorten(text_.substr(begin, at_ - begin), shown_columns),
            std::string(1, next)});
}

double Lexer::value_of(std::string_view digits, std::size_t begin) const {
    double value = 0;
    const auto result =
        std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (result.ec != std::errc::result_out_of_range)
        return value;
    const std::size_t exponent = digits.find_first_of("eE");
    const bool tiny = exponent != std::string_view::npos
                          ? digits[exponent + 1] == '-'
                          : digits.find_first_not_of("0.") > digits.find('.');
    if (!tiny)
        refuse(Code::NumberTooLarge, begin, begin + digits.size(),
               {shorten(digits, shown_columns)});
    return 0;
}

/// The end of a run of lowered characters.
std::size_t Lexer::subscripts(std::size_t at) const {
    for (;;) {
        const auto [code, length] = character(at);
        if (length == 0 || utf8::position(code) != utf8::Position::Subscript)
            return at;
        at += length;
    }
}

/// Whether π stands before another name, as in `2πσ²`, and is a factor of its
/// own. `πi` is left to the parser, which asks what i is.
bool Lexer::is_pi_before_a_name() const {
    constexpr std::string_view pi = "π";
    if (!text_.substr(at_).starts_with(pi))
        return false;
    std::size_t end = at_ + pi.size();
    if (!utf8::starts_name(character(end).code) || byte(end) == '_')
        return false;
    const std::size_t begin = end;
    while (utf8::continues_name(character(end).code))
        end += character(end).length;
    const std::string_view rest = text_.substr(begin, end - begin);
    return rest != "i" && rest != "j";
}

void Lexer::name() {
    const std::size_t begin = at_;
    if (is_pi_before_a_name()) {
        at_ += std::string_view("π").size();
        push(TokenKind::Name, begin).name = "pi";
        return;
    }
    for (;;) {
        const auto [code, length] = character(at_);
        if (length != 0 && utf8::continues_name(code)) {
            at_ += length;
            continue;
        }
        const std::size_t lowered = subscripts(at_);
        if (lowered == at_)
            break;
        at_ = lowered;
        if (byte(at_) != '_')
            break;
    }
    const std::string_view typed = text_.substr(begin, at_ - begin);
    if (const auto word = find_word(typed)) {
        push(*word, begin);
        return;
    }
    SubscriptedName split = split_subscript(fold_name(typed));
    const bool big_sigma = split.stem == "Σ" && split.axes != ast::Axes::None;
    Token& token = push(TokenKind::Name, begin);
    token.axes = split.axes;
    token.name = big_sigma ? "sum" : normalise_name(split.stem);
    token.symbolic = !big_sigma && token.name != split.stem;
}

/// Takes a symbol that is read as a name: `∑ⱼ` is `sum_j`, `∞` is `inf`.
void Lexer::name_symbol(const Letter& letter) {
    const std::size_t begin = at_;
    at_ = subscripts(at_ + letter.text.size());
    if (byte(at_) == '_')
        while (utf8::continues_name(character(at_).code))
            at_ += character(at_).length;
    const std::string below(text_.substr(begin + letter.text.size(),
                                         at_ - begin - letter.text.size()));
    const SubscriptedName split =
        split_subscript(fold_name(std::string(letter.name) + below));
    Token& token = push(TokenKind::Name, begin);
    token.name = split.stem;
    token.axes = split.axes;
}

void Lexer::superscript() {
    const std::size_t begin = at_;
    std::string raised;
    for (auto [code, length] = character(at_);
         length != 0 && utf8::position(code) == utf8::Position::Superscript;
         at_ += length, length = character(at_).length,
                     code = character(at_).code)
        raised += utf8::plain(code);
    const bool sign = raised[0] == '-' || raised[0] == '+';
    const std::string_view digits = std::string_view(raised).substr(sign);
    const bool number =
        !digits.empty() && std::ranges::all_of(digits, is_digit);
    const bool name = !sign && std::ranges::none_of(raised, is_digit) &&
                      utf8::starts_name(utf8::decode(raised, 0).code) &&
                      std::ranges::none_of(
                          raised, [](char c) { return c == '-' || c == '+'; });
    if (!number && !name)
        refuse(Code::BadSuperscript, begin, at_,
               {shorten(text_.substr(begin, at_ - begin), shown_columns)});
    const double value = number ? value_of(digits, begin) : 0;
    Token& token = push(TokenKind::Superscript, begin);
    token.value = raised[0] == '-' ? -value : value;
    token.name = name ? normalise_name(raised) : "";
}

/// Takes a lowered character. After a name it is read with it; after a bar or
/// a bracket it is a notation that the parser has an answer to.
void Lexer::lowered() {
    const std::size_t begin = at_;
    at_ = subscripts(at_);
    const std::string_view typed = text_.substr(begin, at_ - begin);
    const TokenKind before =
        tokens_.empty() || space_ ? TokenKind::End : tokens_.back().kind;
    if (before != TokenKind::Bar && before != TokenKind::DoubleBar &&
        before != TokenKind::RightParen && before != TokenKind::RightBracket)
        refuse(Code::StraySubscript, begin, at_, {std::string(typed)});
    push(TokenKind::Lowered, begin).name = fold_name(typed).substr(1);
}

/// Explains a brace, since `1{i≠j}` and `sum_{j≠i}` are met often.
void Lexer::check_brace() const {
    if (tokens_.empty() || space_ || byte(at_) != '{')
        return;
    const Token& before = tokens_.back();
    if (before.kind == TokenKind::Number && before.value == 1)
        refuse(Code::Indicator, before.span.begin, at_ + 1, {"1{"});
    if (before.kind == TokenKind::Name && before.name.ends_with('_'))
        check_brace_below(before.name.starts_with("Sigma")
                              ? "sum"
                              : before.name.substr(0, before.name.size() - 1));
}

void Lexer::check_brace_below(std::string_view reduction) const {
    const std::size_t end = std::min(text_.find('}', at_), text_.size());
    const auto meant =
        meant_below(reduction, text_.substr(at_ + 1, end - at_ - 1));
    if (!meant)
        return;
    const std::size_t begin = tokens_.back().span.begin;
    const std::size_t after = std::min(end + 1, text_.size());
    refuse(meant->code, begin, after,
           {shorten(text_.substr(begin, after - begin), shown_columns),
            meant->text});
}

/// Takes a symbol of tokens.def; throws for a refused one, and returns false
/// where none is here.
bool Lexer::symbol() {
    const std::string_view rest = text_.substr(at_);
    const Spelling* found = find_symbol(rest);
    const Refused* bad = find_refused(rest);
    if (bad != nullptr &&
        (found == nullptr || bad->text.size() > found->text.size())) {
        check_brace();
        std::size_t end = at_ + bad->text.size();
        if (bad->text == "\\")
            while (end < text_.size() && utf8::starts_name(character(end).code))
                end += character(end).length;
        refuse(bad->code, at_, end,
               {shorten(text_.substr(at_, end - at_), shown_columns)});
    }
    if (found == nullptr)
        return false;
    const std::size_t begin = at_;
    at_ += found->text.size();
    push(found->kind, begin);
    return true;
}

/// Takes a character that NFKC turns into a symbol or a fraction.
void Lexer::compatible_symbol() {
    const std::size_t begin = at_;
    const auto [code, length] = character(at_);
    const std::string folded = utf8::nfkc(utf8::encode(code));
    at_ += length;
    if (const auto value = fraction(folded)) {
        push(TokenKind::Number, begin).value = *value;
        return;
    }
    const Spelling* found = find_symbol(folded);
    if (found == nullptr || found->text.size() != folded.size()) {
        constexpr char hex[] = "0123456789ABCDEF";
        std::string number;
        for (int shift = code > 0xFFFF ? 20 : 12; shift >= 0; shift -= 4)
            number += hex[(code >> shift) & 15];
        const std::string shown = shorten(utf8::encode(code), 4);
        refuse(Code::UnknownCharacter, begin, at_,
               {"'" + shown + "' (U+" + number + ")"});
    }
    push(found->kind, begin);
}

} // namespace

std::vector<Token> tokenise(std::string_view text) {
    return Lexer(text).run();
}

} // namespace tilefold
