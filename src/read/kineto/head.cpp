#include "read/kineto/head.h"

#include <simdjson.h>

#include <algorithm>

#include "read/drawn.h"
#include "read/json_members.h"
#include "read/merged/source.h"

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

/// Beyond this row times added to it would overflow; no clock shows it.
constexpr std::int64_t kMaxBase = 4'000'000'000'000'000'000;

std::int64_t base_time(const element& value) {
  std::int64_t base = 0;
  if (value.get_int64().get(base) != simdjson::SUCCESS) return 0;
  return base > -kMaxBase && base < kMaxBase ? base : 0;
}

/// Of a copy with a drawing in it: what it lacks.
void read_overlay(trace::Reading& reading, std::string_view json) {
  const auto members = members_of(json);
  const MergedTotal recording = total_of(member(members, "recording"));
  reading.only_critical = member(members, "only_critical") == "true";
  add_damage(reading, recording.damage, "; so it was in " + recording.name + ", of which this is a copy");
}

}  // namespace

void read_head(trace::Rank& rank, std::vector<std::pair<std::string, std::string>> top_level) {
  std::stable_sort(top_level.begin(), top_level.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  simdjson::dom::parser parser;
  for (const auto& [key, json] : top_level) {
    if (key == kOverlayMark) read_overlay(rank.reading, json);
    element value;
    const bool known = key == "deviceProperties" || key == "computeProperties" || key == "distributedInfo" ||
                       key == "baseTimeNanoseconds";
    if (!known || parser.parse(json).get(value) != simdjson::SUCCESS) continue;
    if (key == "distributedInfo")
      read_distributed(rank, value);
    else if (key == "baseTimeNanoseconds")
      rank.base_ns = base_time(value);
    else if (rank.devices.empty())
      read_devices(rank, value);
  }
  rank.metadata = std::move(top_level);
}

}  // namespace stepscope::read
