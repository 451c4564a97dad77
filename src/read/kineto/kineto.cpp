#include "read/kineto/kineto.h"

#include <simdjson.h>

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "read/drawn.h"
#include "read/json_members.h"
#include "read/kineto/events.h"
#include "read/merged/source.h"
#include "trace/trace.h"

namespace stepscope::read {
namespace {

using simdjson::dom::element;

std::int64_t integer(const element& object, std::string_view key) {
  std::int64_t value = 0;
  if (object[key].get_int64().get(value) != simdjson::SUCCESS) {
    double real = 0;
    if (object[key].get_double().get(real) == simdjson::SUCCESS && real > -9e18 && real < 9e18)
      value = static_cast<std::int64_t>(real);
  }
  return value;
}

std::string text(const element& object, std::string_view key) {
  std::string_view value;
  return object[key].get_string().get(value) == simdjson::SUCCESS ? std::string(value) : std::string();
}

std::int64_t first_of(const element& object, std::string_view key, std::string_view old_key) {
  const std::int64_t value = integer(object, key);
  return value != 0 ? value : integer(object, old_key);
}

void read_devices(trace::Rank& rank, const element& list) {
  simdjson::dom::array array;
  if (list.get_array().get(array) != simdjson::SUCCESS) return;
  for (const element entry : array) {
    trace::Device device;
    device.id = integer(entry, "id");
    device.name = text(entry, "name");
    device.total_memory = integer(entry, "totalGlobalMem");
    device.compute_major = static_cast<int>(first_of(entry, "computeMajor", "major"));
    device.compute_minor = static_cast<int>(first_of(entry, "computeMinor", "minor"));
    device.sm_count = first_of(entry, "numSms", "multiProcessorCount");
    device.warp_size = integer(entry, "warpSize");
    device.max_threads_per_sm = first_of(entry, "maxThreadsPerMultiprocessor", "maxThreadsPerMultiProcessor");
    rank.devices.push_back(std::move(device));
  }
}

void read_distributed(trace::Rank& rank, const element& info) {
  std::int64_t value = 0;
  if (info["rank"].get_int64().get(value) == simdjson::SUCCESS) rank.rank = value;
  if (info["world_size"].get_int64().get(value) == simdjson::SUCCESS) rank.world_size = value;
  rank.backend = text(info, "backend");
}

trace::Machine machine_of(const element& info) {
  const auto count = [&](const char* key) {
    std::int64_t value = -1;
    return info[key].get_int64().get(value) == simdjson::SUCCESS && value >= 0 ? value : -1;
  };
  return {count("accelerators"), count("cores"), count("threads")};
}

trace::Training training_of(const element& info) {
  trace::Training of;
  const auto count = [](const auto& value) {
    std::int64_t number = 0;
    return value.get_int64().get(number) == simdjson::SUCCESS && number > 0 ? number : 0;
  };
  const auto is_on = [&](const char* key) {
    bool value = false;
    return info[key].get_bool().get(value) == simdjson::SUCCESS && value;
  };
  of.seen = true;
  of.anomaly = is_on("anomaly");
  of.deterministic = is_on("deterministic");
  of.gradients = count(info["gradients"]);
  of.unread_parameters = count(info["unread"]["parameters"]);
  of.unread_elements = count(info["unread"]["elements"]);
  if (element inputs; info["inputs"].get(inputs) == simdjson::SUCCESS) {
    of.input_tensors = count(inputs["tensors"]);
    of.input_elements = count(inputs["elements"]);
    of.input_shape = text(inputs, "shape");
  }
  of.groups = count(info["groups"]["all"]);
  of.different_groups = std::min(of.groups, count(info["groups"]["different"]));
  simdjson::dom::array list;
  if (info["unread"]["names"].get_array().get(list) == simdjson::SUCCESS)
    for (const element name : list)
      if (std::string_view text; name.get_string().get(text) == simdjson::SUCCESS)
        of.unread_names.append(of.unread_names.empty() ? "" : ", ").append(text);
  if (info["embeddings"].get_array().get(list) != simdjson::SUCCESS) return of;
  for (const element embedding : list)
    of.embeddings.push_back({text(embedding, "name"), count(embedding["rows"]), count(embedding["touched"]),
                             count(embedding["elements"]), count(embedding["bytes"])});
  return of;
}

trace::TokenPadding padding_of(const element& info) {
  const auto count = [&](const char* key) {
    std::int64_t number = 0;
    return info[key].get_int64().get(number) == simdjson::SUCCESS && number > 0 ? number : 0;
  };
  trace::TokenPadding of{count("elements"), count("padding"), count("shared"),
                         std::string(text(info, "largest"))};
  of.padding = std::min(of.padding, of.elements);
  of.shared = std::min(of.shared, of.padding);
  return of;
}

trace::Full full_of(const element& info) {
  trace::Full of;
  if (info["dropped"].get_int64().get(of.dropped) != simdjson::SUCCESS || of.dropped < 0 ||
      info["after_ns"].get_int64().get(of.after) != simdjson::SUCCESS || of.after < 0)
    return {};
  if (bool disk = false; info["disk"].get_bool().get(disk) == simdjson::SUCCESS && disk)
    of.limit = trace::Full::Limit::disk;
  if (std::uint64_t limit = 0; info["limit"].get_uint64().get(limit) == simdjson::SUCCESS &&
                               limit <= static_cast<std::uint64_t>(trace::Full::Limit::access))
    of.limit = static_cast<trace::Full::Limit>(limit);
  if (info["recordings"].get_int64().get(of.recordings) != simdjson::SUCCESS || of.recordings < 1)
    of.recordings = 1;
  return of;
}

/// In ns; 0 if it is none.
std::int64_t duration_of(const element& value) {
  std::int64_t ns = 0;
  return value.get_int64().get(ns) == simdjson::SUCCESS && ns > 0 ? ns : 0;
}

/// 0 if it is none.
double share_of(const element& value) {
  double share = 0;
  return value.get_double().get(share) == simdjson::SUCCESS && share > 0 && share <= 1 ? share : 0;
}

std::map<std::string, std::string> lines_of(const element& value) {
  std::map<std::string, std::string> lines;
  simdjson::dom::object texts;
  if (value.get_object().get(texts) != simdjson::SUCCESS) return lines;
  for (const auto& [place, text] : texts)
    if (std::string_view line; text.get_string().get(line) == simdjson::SUCCESS) lines.emplace(place, line);
  return lines;
}

/// Row times added to a larger base would overflow; no real clock is beyond it.
constexpr std::int64_t kMaxBase = 4'000'000'000'000'000'000;

std::int64_t base_time(const element& value) {
  std::int64_t base = 0;
  if (value.get_int64().get(base) != simdjson::SUCCESS) return 0;
  return base > -kMaxBase && base < kMaxBase ? base : 0;
}

/// Reads the marks of a copy that an overlay wrote: what it lacks.
void read_overlay(trace::Reading& reading, std::string_view json) {
  const auto members = members_of(json);
  const MergedTotal recording = total_of(member(members, "recording"));
  reading.only_critical = member(members, "only_critical") == "true";
  add_damage(reading, recording.damage,
             "; already damaged in " + recording.name + ", of which this is a copy");
}

/// The program's lines; "sourceLines of 4711" are those of a loader's worker.
constexpr std::string_view kSourceLines = "sourceLines";

/// Fills rank.devices, rank, world_size, backend, base_ns and reading from (key, JSON text) pairs, and keeps
/// all pairs as rank.metadata.
void read_head(trace::Rank& rank, std::vector<std::pair<std::string, std::string>> top_level) {
  std::stable_sort(top_level.begin(), top_level.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  simdjson::dom::parser parser;
  for (const auto& [key, json] : top_level) {
    if (key == kOverlayMark) read_overlay(rank.reading, json);
    element value;
    const bool known = key == "deviceProperties" || key == "computeProperties" || key == "distributedInfo" ||
                       key == "machineInfo" || key == "training" || key == "padding" ||
                       key == "stepscope.full" || key == "stepscope.kept_from_ns" || key == "wholeProgram" ||
                       key == "command" || key == "shapesCost" || key.starts_with(kSourceLines) ||
                       key == "baseTimeNanoseconds";
    if (!known || parser.parse(json).get(value) != simdjson::SUCCESS) continue;
    if (key == "distributedInfo")
      read_distributed(rank, value);
    else if (key == "machineInfo")
      rank.machine = machine_of(value);
    else if (key == "training")
      rank.training = training_of(value);
    else if (key == "padding")
      rank.padding = padding_of(value);
    else if (key == "stepscope.full")
      rank.full = full_of(value);
    else if (key == "stepscope.kept_from_ns")
      rank.kept_from = duration_of(value);
    else if (key == "shapesCost")
      rank.shapes_cost = share_of(value);
    else if (key == "command" && value.is_string())
      rank.command = value.get_string().value_unsafe();
    else if (key == "wholeProgram")
      rank.whole_program = value.is_bool() && value.get_bool().value_unsafe();
    else if (key.starts_with(kSourceLines))
      rank.source_lines.merge(lines_of(value));
    else if (key == "baseTimeNanoseconds")
      rank.base_ns = base_time(value);
    else if (rank.devices.empty())
      read_devices(rank, value);
  }
  if (rank.kept_from > 0) rank.whole_program = false;
  rank.metadata = std::move(top_level);
}

constexpr EventFormat kKineto{"kineto", "a trace written by torch.profiler's export_chrome_trace"};

}  // namespace

Result<ParsedFile> parse_kineto(const std::string& path, const Reopen& reopen, const KinetoOptions& options) {
  auto events = parse_events(path, reopen, options, {options.drawn, options.wide}, kKineto);
  if (!events) return events.error();
  read_head(events->file.rank, std::move(events->top_level));
  return std::move(events->file);
}

}  // namespace stepscope::read
