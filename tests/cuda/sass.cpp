// tests/cuda/sass.cpp - reads what nvdisasm prints:
//
//   .text.accumulate:
//   .L_x_12:
//           /*0d40*/              @!P0 FFMA R3, R4, R4, RZ ;
//           /*0d50*/                   BRA `(.L_x_12) ;

#include "tests/cuda/sass.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <optional>
#include <set>
#include <sstream>
#include <stdexcept>
#include <utility>

namespace tilefold::tests {
namespace {

std::string disassembled(const std::vector<std::byte>& code) {
    std::string tool;
    for (const std::string& folder : package_folders())
        if (const std::string path = folder + "/nvidia/cu13/bin/nvdisasm";
            std::filesystem::exists(path))
            tool = path;
    if (tool.empty())
        throw std::runtime_error(
            "no nvdisasm: scripts/setup --tests installs it");
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

struct Line {
    std::string label;           ///< "…:" of a line that is one
    bool is_conditional = false; ///< an instruction that a predicate guards
    std::string opcode;          ///< of an instruction
    std::string operand;         ///< what follows it
};

Line read_line(const std::string& text) {
    Line line;
    std::istringstream words(text);
    std::string word;
    if (!(words >> word))
        return line;
    if (word.ends_with(":") && !word.starts_with(".text"))
        line.label = word.substr(0, word.size() - 1);
    if (!word.starts_with("/*") || !(words >> word) || word.starts_with("/*"))
        return line;
    if (word.starts_with("@")) {
        line.is_conditional = true;
        words >> word;
    }
    line.opcode = word;
    std::getline(words, line.operand);
    return line;
}

/// The instructions of a program, where its labels and functions stand, and
/// which of them are a kernel's own.
struct Listing {
    std::vector<Line> lines;
    std::map<std::string, std::size_t> labels;
    std::size_t first = 0, end = 0;
};

Listing listing_of(const std::string& text, const std::string& kernel) {
    Listing listing;
    std::istringstream raws(text);
    bool inside = false;
    for (std::string raw; std::getline(raws, raw);) {
        if (raw.starts_with(".text.")) {
            inside = raw == ".text." + kernel + ":";
            if (inside)
                listing.first = listing.lines.size();
        }
        const Line line = read_line(raw);
        if (!line.label.empty())
            listing.labels[line.label] = listing.lines.size();
        if (!line.opcode.empty())
            listing.lines.push_back(line);
        if (inside)
            listing.end = listing.lines.size();
    }
    return listing;
}

Listing listing_of(const cuda::Image& image, const std::string& kernel) {
    for (const auto& code : image.codes)
        if (Listing listing = listing_of(disassembled(code), kernel);
            listing.end > 0)
            return listing;
    return {};
}

/// Where the branch or the call at `from` leads: "`(.L_x_12)".
std::optional<std::size_t> target_of(const Listing& listing, std::size_t from) {
    const std::string& operand = listing.lines[from].operand;
    const std::size_t label = operand.find("`(");
    if (label == std::string::npos)
        return std::nullopt;
    const std::size_t end = operand.find(')', label);
    const auto place =
        listing.labels.find(operand.substr(label + 2, end - label - 2));
    if (place == listing.labels.end())
        return std::nullopt;
    return place->second;
}

/// Where the backward branch at `from` leads.
std::optional<std::size_t> start_of_loop(const Listing& listing,
                                         std::size_t from) {
    if (!listing.lines[from].opcode.starts_with("BRA"))
        return std::nullopt;
    const auto start = target_of(listing, from);
    return start && *start <= from ? start : std::nullopt;
}

bool is_wide(const std::string& opcode) {
    return opcode.starts_with("DADD") || opcode.starts_with("DMUL") ||
           opcode.starts_with("DFMA") || opcode.starts_with("DSETP") ||
           opcode.starts_with("DMNMX") ||
           opcode.find(".F64") != std::string::npos;
}

bool is_slow_call(const Line& line) {
    return line.opcode.starts_with("CALL") &&
           line.operand.find("slowpath") != std::string::npos;
}

/// The shortest or the longest way through code that goes forwards only: around
/// the loops within, and without a call of what the compiler says is slow.
class Way {
public:
    Way(const Listing& listing, bool is_longest)
        : listing_(listing), is_longest_(is_longest) {}

    /// From `start` until a branch back to it.
    std::optional<Slots> around(std::size_t start, std::size_t end) {
        std::set<std::size_t> within;
        for (std::size_t at = start; at < end; ++at)
            if (const auto first = start_of_loop(listing_, at);
                first && *first > start)
                for (std::size_t k = *first; k <= at; ++k)
                    within.insert(k);
        return find(start, within, [&](std::size_t at) {
            return start_of_loop(listing_, at) == start;
        });
    }

private:
    using Found = std::map<std::size_t, std::optional<Slots>>;

    template <class End>
    std::optional<Slots> find(std::size_t start,
                              const std::set<std::size_t>& avoided,
                              const End& is_end) {
        Found found;
        const std::function<std::optional<Slots>(std::size_t)> from =
            [&](std::size_t at) -> std::optional<Slots> {
            if (const auto known = found.find(at); known != found.end())
                return known->second;
            std::optional<Slots> best;
            if (is_end(at))
                best = Slots();
            else
                for (const std::size_t next : next_of(at))
                    if (const auto rest = from(next);
                        rest && (!best || is_better(*rest, *best)))
                        best = rest;
            if (avoided.count(at) || is_slow_call(listing_.lines[at]))
                best.reset();
            if (best)
                add(*best, at);
            return found[at] = best;
        };
        return from(start);
    }

    bool is_better(const Slots& a, const Slots& b) const {
        return is_longest_ ? a.issued > b.issued : a.issued < b.issued;
    }

    void add(Slots& slots, std::size_t at) {
        const Line& line = listing_.lines[at];
        ++slots.issued;
        slots.special += line.opcode.starts_with("MUFU");
        slots.wide += is_wide(line.opcode);
        if (!line.opcode.starts_with("CALL"))
            return;
        const Slots inside = of_function(target_of(listing_, at).value());
        slots.issued += inside.issued;
        slots.special += inside.special;
        slots.wide += inside.wide;
    }

    Slots of_function(std::size_t start) {
        if (const auto known = functions_.find(start);
            known != functions_.end())
            return known->second;
        const auto slots = find(start, {}, [&](std::size_t at) {
            return listing_.lines[at].opcode.starts_with("RET");
        });
        return functions_[start] = slots.value();
    }

    std::vector<std::size_t> next_of(std::size_t at) const {
        const Line& line = listing_.lines[at];
        const bool is_branch = line.opcode.starts_with("BRA");
        const bool leaves =
            line.opcode.starts_with("EXIT") || line.opcode.starts_with("RET");
        std::vector<std::size_t> next;
        if (is_branch)
            if (const auto target = target_of(listing_, at);
                target && *target > at)
                next.push_back(*target);
        // "BRA.U UP0, `(.L_x_3)" is conditional, too.
        const bool is_guarded =
            line.is_conditional ||
            (is_branch && line.operand.find(',') != std::string::npos);
        const bool goes_on = is_guarded || !(is_branch || leaves);
        if (goes_on && at + 1 < listing_.lines.size())
            next.push_back(at + 1);
        return next;
    }

    const Listing& listing_;
    bool is_longest_;
    std::map<std::size_t, Slots> functions_;
};

/// Where the smallest loop that has the opcode so often begins and ends.
std::optional<std::pair<std::size_t, std::size_t>>
smallest_with(const Listing& listing, const std::string& opcode,
              std::ptrdiff_t least = 1) {
    std::optional<std::pair<std::size_t, std::size_t>> smallest;
    for (std::size_t end = listing.first; end < listing.end; ++end) {
        const auto start = start_of_loop(listing, end);
        if (!start)
            continue;
        const auto first = listing.lines.begin();
        const std::ptrdiff_t times = std::count_if(
            first + std::ptrdiff_t(*start), first + std::ptrdiff_t(end),
            [&](const Line& line) { return line.opcode.starts_with(opcode); });
        const bool is_smaller =
            !smallest || end - *start < smallest->second - smallest->first;
        if (times >= least && is_smaller)
            smallest = {*start, end};
    }
    return smallest;
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
    const Listing listing = listing_of(image, kernel);
    int count = 0;
    for (std::size_t k = listing.first; k < listing.end; ++k)
        count += listing.lines[k].opcode.starts_with(opcode);
    return count;
}

std::vector<Loop> loops(const cuda::Image& image, const std::string& kernel) {
    const Listing listing = listing_of(image, kernel);
    std::vector<Loop> all;
    for (std::size_t end = listing.first; end < listing.end; ++end)
        if (const auto start = start_of_loop(listing, end))
            all.push_back(loop_of(listing, *start, end));
    return all;
}

Loop smallest_loop(const cuda::Image& image, const std::string& kernel,
                   const std::string& opcode) {
    const Listing listing = listing_of(image, kernel);
    const auto place = smallest_with(listing, opcode);
    if (!place)
        throw std::runtime_error("no loop of " + kernel + " has " + opcode);
    return loop_of(listing, place->first, place->second);
}

Turn turn_of(const cuda::Image& image, const std::string& kernel,
             const std::string& opcode, int least) {
    const Listing listing = listing_of(image, kernel);
    const auto place = smallest_with(listing, opcode, least);
    if (!place)
        throw std::runtime_error("no loop of " + kernel + " has " + opcode);
    const auto [start, end] = *place;
    const auto shortest = Way(listing, false).around(start, end);
    const auto longest = Way(listing, true).around(start, end);
    if (!shortest || !longest)
        throw std::runtime_error("no way around a loop of " + kernel);
    return {*shortest, *longest};
}

Loop innermost_loop(const cuda::Image& image, const std::string& kernel,
                    const std::string& opcode) {
    const Listing listing = listing_of(image, kernel);
    Loop busiest;
    std::size_t last_start = 0;
    bool any = false;
    for (std::size_t end = listing.first; end < listing.end; ++end) {
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
