// coll_analysis: kernels of collectives by what their metadata says.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "analyze/tracelens_call.h"
#include "analyze/tracelens_launch.h"
#include "derive/external_id.h"

namespace stepscope::analyze::lens {
namespace {

using report::Role;
using report::Unit;
using trace::Kind;
using trace::Row;

constexpr std::string_view kFields[] = {
    "Process Group Name", "Process Group Ranks", "Collective name", "Group size",    "dtype",
    "In msg nelems",      "Out msg nelems",      "In split size",   "Out split size"};
constexpr const char* kColumns[] = {"process_group", "process_group_ranks", "collective",   "group_size",
                                    "dtype",         "in_elements",         "out_elements", "in_split",
                                    "out_split"};

/// 0 for types that TraceLens does not know.
std::int64_t element_bytes(std::string_view dtype) {
  if (dtype == "Float" || dtype == "Int") return 4;
  if (dtype == "Long" || dtype == "Double") return 8;
  if (dtype == "BFloat16" || dtype == "Half" || dtype == "Short") return 2;
  if (dtype == "Bool" || dtype == "Byte") return 1;
  return 0;
}

/// The metadata of a collective's kernel.
class Metadata {
 public:
  explicit Metadata(const Lens& lens) {
    for (const std::string_view field : kFields) readers_.emplace_back(lens.trace, lens.rank, field);
  }
  bool complete(Row row) const {
    return std::ranges::all_of(readers_, [&](const trace::ArgReader& reader) { return reader.has(row); });
  }
  std::string text(Row row, std::size_t field) const {
    if (const auto number = readers_[field].integer(row)) return std::to_string(*number);
    return std::string(readers_[field].text(row));
  }
  std::int64_t bytes(Row row, std::size_t elements_field) const {
    const auto elements = readers_[elements_field].integer(row);
    const std::int64_t element = element_bytes(readers_[4].text(row));
    std::int64_t bytes = 0;
    if (!elements || element == 0 || __builtin_mul_overflow(*elements, element, &bytes))
      return report::kNoInt;
    return bytes;
  }

 private:
  std::vector<trace::ArgReader> readers_;
};

struct Group {
  Row first;
  std::vector<double> durations;
};

std::vector<Group> groups_of(const Lens& lens, const Metadata& metadata, std::int64_t& left_out) {
  Communication communication(lens.trace);
  const derive::ExternalId external(lens.trace, lens.rank);
  const trace::ArgReader correlation(lens.trace, lens.rank, "correlation");
  std::map<std::string, std::size_t> numbers;
  std::vector<Group> groups;
  for (Row row = 0; row < lens.e.size(); ++row) {
    if (lens.e.kind[row] != Kind::kernel || !communication.includes(lens.e.name[row])) continue;
    if (!metadata.complete(row) || (!correlation.has(row) && external.of(row) == 0)) {
      ++left_out;
      continue;
    }
    std::string key = std::to_string(lens.rank.tracks[lens.e.track[row]].stream);
    for (std::size_t i = 0; i < std::size(kFields); ++i) key.append("\n").append(metadata.text(row, i));
    const auto [found, added] = numbers.try_emplace(key, groups.size());
    if (added) groups.push_back({row, {}});
    groups[found->second].durations.push_back(static_cast<double>(lens.e.duration(row)));
  }
  return groups;
}

}  // namespace

void collective_sheet(const trace::Trace& trace, std::string_view, report::Report& report) {
  report::Table table{"Collectives", report::Shape::table, {}};
  RankColumn rank_column(table, trace);
  std::vector<report::Texts*> fields;
  for (const char* column : kColumns) fields.push_back(&table.texts(column));
  report::Ints& stream = table.ints("stream", Unit::none, Role::key);
  report::Ints& in = table.ints("in_bytes", Unit::bytes);
  report::Ints& out = table.ints("out_bytes", Unit::bytes);
  report::Ints& sum = table.ints("duration_sum", Unit::ns);
  SpreadColumns duration(table, "duration", Unit::ns);
  report::Ints& count = table.ints("count", Unit::count);
  std::int64_t left_out = 0;
  for (const trace::Rank& rank : trace.ranks) {
    const Lens lens(trace, rank);
    const Metadata metadata(lens);
    for (const Group& group : groups_of(lens, metadata, left_out)) {
      rank_column.add(rank);
      for (std::size_t i = 0; i < fields.size(); ++i) fields[i]->push_back(metadata.text(group.first, i));
      stream.push_back(rank.tracks[lens.e.track[group.first]].stream);
      in.push_back(metadata.bytes(group.first, 5));
      out.push_back(metadata.bytes(group.first, 6));
      const Spread spread = spread_of(group.durations);
      sum.push_back(static_cast<std::int64_t>(spread.sum));
      duration.add(spread);
      count.push_back(static_cast<std::int64_t>(group.durations.size()));
    }
  }
  if (left_out > 0)
    report.notes.push_back(
        fmt::format("{} collective kernels have no metadata and no row: they were launched before the host "
                    "was recorded, or the "
                    "recorder is older than torch 2.3.",
                    left_out));
  report.tables.push_back(std::move(table));
}

}  // namespace stepscope::analyze::lens
