// tests/cuda/sass.cpp - reads what nvdisasm prints:
//
//   .text.accumulate:
//   .L_x_12:
//           /*0d40*/              @!P0 FFMA R3, R4, R4, RZ ;
//           /*0d50*/                   BRA `(.L_x_12) ;

#include "tests/cuda/sass.h"

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <stdexcept>

namespace tilefold::tests {
namespace {

std::string disassembled(const std::vector<std::byte>& code) {
    std::string tool;
    for (const std::string& folder : package_folders())
        if (const std::string path = folder + "/nvidia/cu13/bin/nvdisasm";
            std::filesystem::exists(path))
            tool = path;
    if (tool.empty())
        throw std::runtime_error("no nvdisasm: scripts/setup installs it");
    std::string file =
        (std::filesystem::temp_directory_path() / "tilefold-XXXXXX").string();
    if (const int made = mkstemp(file.data()); made < 0)
        throw std::runtime_error("no temporary file");
    std::ofstream(file, std::ios::binary)
        .write(reinterpret_cast<const char*>(code.data()),
               std::streamsize(code.size()));
    std::FILE* pipe = popen((tool + " -c '" + file + "'").c_str(), "r");
    std::string text;
    char buffer[4096];
    while (std::size_t read = std::fread(buffer, 1, sizeof buffer, pipe))
        text.append(buffer, read);
    pclose(pipe);
    std::filesystem::remove(file);
    return text;
}

std::string disassembled(const cuda::Image& image) {
    std::string text;
    for (const auto& code : image.codes)
        text += disassembled(code);
    return text;
}

struct Line {
    std::string label;   ///< "…:" of a line that is one
    std::string opcode;  ///< of an instruction
    std::string operand; ///< what follows it
};

Line read_line(const std::string& text) {
    Line line;
    std::istringstream words(text);
    std::string word;
    if (!(words >> word))
        return line;
    if (word.starts_with(".L_x_") && word.ends_with(":"))
        line.label = word.substr(0, word.size() - 1);
    if (!word.starts_with("/*") || !(words >> word) || word.starts_with("/*"))
        return line;
    if (word.starts_with("@"))
        words >> word;
    line.opcode = word;
    std::getline(words, line.operand);
    return line;
}

/// The instructions of one kernel, and where its labels stand.
struct Listing {
    std::vector<Line> lines;
    std::map<std::string, std::size_t> labels;
};

Listing listing_of(const std::string& text, const std::string& kernel) {
    Listing listing;
    std::istringstream raws(text);
    bool inside = false;
    for (std::string raw; std::getline(raws, raw);) {
        if (raw.starts_with(".text."))
            inside = raw == ".text." + kernel + ":";
        if (!inside)
            continue;
        const Line line = read_line(raw);
        if (!line.label.empty())
            listing.labels[line.label] = listing.lines.size();
        if (!line.opcode.empty())
            listing.lines.push_back(line);
    }
    return listing;
}

/// Where the backward branch at `from` leads.
std::optional<std::size_t> start_of_loop(const Listing& listing,
                                         std::size_t from) {
    const Line& line = listing.lines[from];
    const std::size_t label = line.operand.find(".L_x_");
    if (!line.opcode.starts_with("BRA") || label == std::string::npos)
        return std::nullopt;
    const std::size_t end = line.operand.find(')', label);
    const auto place =
        listing.labels.find(line.operand.substr(label, end - label));
    if (place == listing.labels.end() || place->second > from)
        return std::nullopt;
    return place->second;
}

Loop loop_of(const Listing& listing, std::size_t start, std::size_t end) {
    Loop loop;
    for (std::size_t k = start; k <= end; ++k, ++loop.size)
        ++loop.counts[listing.lines[k].opcode];
    return loop;
}

} // namespace

std::vector<std::string> package_folders() {
    std::vector<std::string> folders;
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator(
             TILEFOLD_SOURCE_FOLDER "/.venv/lib", error))
        folders.push_back((entry.path() / "site-packages").string());
    return folders;
}

int Loop::count(const std::string& opcode) const {
    int sum = 0;
    for (const auto& [name, times] : counts)
        sum += name.starts_with(opcode) ? times : 0;
    return sum;
}

int instruction_count(const cuda::Image& image, const std::string& kernel,
                      const std::string& opcode) {
    int count = 0;
    for (const Line& line : listing_of(disassembled(image), kernel).lines)
        count += line.opcode.starts_with(opcode);
    return count;
}

std::vector<Loop> loops(const cuda::Image& image, const std::string& kernel) {
    const Listing listing = listing_of(disassembled(image), kernel);
    std::vector<Loop> all;
    for (std::size_t end = 0; end < listing.lines.size(); ++end)
        if (const auto start = start_of_loop(listing, end))
            all.push_back(loop_of(listing, *start, end));
    return all;
}

Loop smallest_loop(const cuda::Image& image, const std::string& kernel,
                   const std::string& opcode) {
    const Listing listing = listing_of(disassembled(image), kernel);
    Loop smallest;
    for (std::size_t end = 0; end < listing.lines.size(); ++end) {
        const auto start = start_of_loop(listing, end);
        if (!start)
            continue;
        const Loop loop = loop_of(listing, *start, end);
        const bool is_smaller = !smallest.size || loop.size < smallest.size;
        if (loop.count(opcode) && is_smaller)
            smallest = loop;
    }
    if (!smallest.size)
        throw std::runtime_error("no loop of " + kernel + " has " + opcode);
    return smallest;
}

Loop innermost_loop(const cuda::Image& image, const std::string& kernel,
                    const std::string& opcode) {
    const Listing listing = listing_of(disassembled(image), kernel);
    Loop busiest;
    std::size_t last_start = 0;
    bool any = false;
    for (std::size_t end = 0; end < listing.lines.size(); ++end) {
        const auto start = start_of_loop(listing, end);
        const bool holds_another = any && start && *start <= last_start;
        if (!start || holds_another)
            continue;
        last_start = *start;
        any = true;
        const Loop loop = loop_of(listing, *start, end);
        if (loop.count(opcode) > busiest.count(opcode))
            busiest = loop;
    }
    if (!busiest.size)
        throw std::runtime_error("no loop of " + kernel + " has " + opcode);
    return busiest;
}

} // namespace tilefold::tests
