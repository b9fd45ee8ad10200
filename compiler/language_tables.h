// compiler/language_tables.h - the tables of the language as lists, for whoever
// shows them.
#pragma once

#include <string>
#include <vector>

namespace tilefold {

struct LanguageRow {
    std::string spelling, meaning;
};
struct LanguageTable {
    std::string title;
    std::vector<LanguageRow> rows;
};
/// In the order in which they are shown.
std::vector<LanguageTable> language_tables();

} // namespace tilefold
