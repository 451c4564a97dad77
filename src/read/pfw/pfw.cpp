#include "read/pfw/pfw.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <set>
#include <utility>

#include "read/kineto/events.h"
#include "read/pfw/hashes.h"
#include "read/rank_numbers.h"

namespace stepscope::read {
namespace {

constexpr EventFormat kDFTracer{"dftracer", "a file of DFTracer's lines, an event in each,"};

std::optional<std::int64_t> whole_number(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end == text.data()) return std::nullopt;
  return number;
}

/// What follows `key` and a quote, if there is one; "" without the key.
std::string_view behind(std::string_view text, std::string_view key) {
  const std::size_t at = text.find(key);
  if (at == std::string_view::npos) return {};
  text.remove_prefix(at + key.size());
  text.remove_prefix(std::min(text.find_first_not_of(" \""), text.size()));
  return text;
}

/// ns of one unit of the file's times. Only the newest generation has other units than microseconds. It does
/// not say which before its end, so that the size of the first time decides: times are since 1970.
std::int64_t unit_of(std::string_view head) {
  constexpr std::int64_t kMicrosecond = 1000;
  const std::string_view phase = behind(head, "\"ph\":"), metric = behind(head, "\"time_metric\":");
  const bool newest = !phase.empty() && phase.front() >= '0' && phase.front() <= '9';
  for (const auto& [name, unit] :
       {std::pair("NS\"", std::int64_t{1}), std::pair("US\"", kMicrosecond),
        std::pair("MS\"", std::int64_t{1'000'000}), std::pair("SEC\"", std::int64_t{1'000'000'000})})
    if (metric.starts_with(name)) return unit;
  const std::int64_t first = whole_number(behind(head, "\"ts\":")).value_or(0);
  if (first >= 100'000'000'000'000'000) return 1;
  if (!newest || first >= 100'000'000'000'000 || first < 1'000'000'000) return kMicrosecond;
  return first >= 100'000'000'000 ? 1'000'000 : 1'000'000'000;
}

/// The only rank that metadata names, -1 if it names none or several: such a file holds several processes.
std::int64_t rank_in(const ParsedFile& file) {
  std::set<std::int64_t> ranks;
  for (const Batch& batch : file.batches) {
    const trace::StringPool& strings = file.words[batch.vocabulary].strings;
    for (const Definition& of : batch.definitions)
      if (of.of == Definition::Of::rank) ranks.insert(whole_number(strings[of.name]).value_or(-1));
    for (const NameEvent& of : batch.names)
      if (strings[of.what] == "process_name") ranks.insert(rank_in_label(strings[of.name]));
  }
  ranks.erase(-1);
  const bool is_one = ranks.size() == 1 && *ranks.begin() >= 0 && *ranks.begin() < kMaxRanks;
  return is_one ? *ranks.begin() : -1;
}

Result<ParsedFile> parse_dftracer(const std::string& path, const Reopen& reopen, const KinetoOptions& options,
                                  EventRules rules) {
  rules.wide = options.wide;
  rules.dftracer = true;
  auto events = parse_events(path, reopen, options, rules, kDFTracer);
  if (!events) return events.error();
  ParsedFile& file = events->file;
  const HashCounts counts = resolve_hashes(file.batches, file.words);
  file.rank.reading.ambiguous_hashes = counts.ambiguous;
  file.rank.reading.unknown_hashes = counts.unknown;
  file.rank.rank = rank_in(file);
  return std::move(file);
}

}  // namespace

std::int64_t rank_in_label(std::string_view label) {
  constexpr std::string_view kRank = "Rank ";
  if (!label.starts_with(kRank)) return -1;
  label.remove_prefix(kRank.size());
  return label.find_first_not_of("0123456789") == std::string_view::npos ? whole_number(label).value_or(-1)
                                                                         : -1;
}

Result<ParsedFile> parse_pfw(const std::string& path, std::string_view head, const Reopen& reopen,
                             const KinetoOptions& options) {
  EventRules rules;
  rules.lines = true;
  rules.unit = unit_of(head);
  return parse_dftracer(path, reopen, options, rules);
}

Result<ParsedFile> parse_pfw_section(const std::string& path, const Reopen& reopen,
                                     const KinetoOptions& options) {
  return parse_dftracer(path, reopen, options, {});
}

bool is_of_dftracer(const trace::Rank& rank) { return rank.reading.format == kDFTracer.name; }

void leave_dftracer(trace::Trace& trace) {
  const auto is_recording = [](const trace::Rank& rank) { return rank.reading.format == "kineto"; };
  if (std::ranges::none_of(trace.ranks, is_recording)) return;
  const std::size_t left = std::erase_if(trace.ranks, is_of_dftracer);
  if (left > 0)
    trace.notes.push_back(fmt::format(
        "{} left out beside the ranks' recordings. Give {} alone to read {}; `stepscope merge` puts "
        "all on one time line.",
        left == 1 ? "A DFTracer file is" : fmt::format("{} DFTracer files are", left),
        left == 1 ? "it" : "them", left == 1 ? "it" : "them"));
}

}  // namespace stepscope::read
