#include "analyze/tb/events.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>

namespace stepscope::analyze::tb {
namespace {

using trace::Kind;

/// The row's kind must match: the plugin ignores events of the same category with other phases than "X".
struct KnownCategory {
  std::string_view name;
  Type type;
  Kind kind;
};
constexpr KnownCategory kCategories[] = {
    {"cpu_op", Type::op, Kind::op},
    {"operator", Type::op, Kind::op},
    {"runtime", Type::runtime, Kind::runtime},
    {"cuda_runtime", Type::runtime, Kind::runtime},
    {"mtia_runtime", Type::runtime, Kind::runtime},
    {"glow_runtime", Type::runtime, Kind::runtime},
    {"xpu_runtime", Type::runtime, Kind::runtime},
    {"privateuse1_runtime", Type::runtime, Kind::runtime},
    {"kernel", Type::kernel, Kind::kernel},
    {"memcpy", Type::memcpy, Kind::memcpy},
    {"gpu_memcpy", Type::memcpy, Kind::memcpy},
    {"memset", Type::memset, Kind::memset},
    {"gpu_memset", Type::memset, Kind::memset},
    {"python", Type::python, Kind::python},
    {"python_function", Type::module, Kind::python},
    {"user_annotation", Type::annotation, Kind::annotation},
    {"gpu_user_annotation", Type::annotation, Kind::device_annotation},
};

const KnownCategory* known_category(std::string_view category) {
  std::string name(category.substr(0, 32));
  for (char& c : name)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + 32);
  for (const KnownCategory& known : kCategories)
    if (known.name == name) return &known;
  return nullptr;
}

bool is_lightning(const trace::Rank& rank) {
  return std::any_of(rank.metadata.begin(), rank.metadata.end(), [](const auto& entry) {
    return entry.first == "Framework" && entry.second == "\"pytorch-lightning\"";
  });
}

}  // namespace

Events::Events(const trace::Trace& t, const trace::Rank& r) : trace(t), rank(r), names(t.strings) {
  classify();
  put_in_order();
  number_threads();
}

void Events::classify() {
  const trace::EventTable& e = rank.events;
  const bool lightning = is_lightning(rank);
  const trace::ArgReader module_id(trace, rank, "Python module id");
  std::vector<const KnownCategory*> by_category(trace.strings.size());
  std::vector<bool> looked_up(trace.strings.size());
  type.assign(e.size(), Type::none);
  for (Row row = 0; row < e.size(); ++row) {
    const trace::StringId category = e.category[row];
    if (!looked_up[category]) by_category[category] = known_category(trace.text(category));
    looked_up[category] = true;
    const KnownCategory* known = by_category[category];
    if (known == nullptr || known->kind != e.kind[row]) continue;
    type[row] = known->type;
    if (known->type == Type::module && (lightning || !module_id.has(row))) type[row] = Type::none;
    if (known->type != Type::op && known->type != Type::annotation) continue;
    if (is(row, kProfilerStep)) type[row] = Type::step;
    if (lightning && known->type == Type::op && name(row).starts_with("[pl][")) type[row] = Type::none;
  }
}

void Events::put_in_order() {
  struct Key {
    double start;
    std::uint32_t source;
    Row row;
  };
  std::vector<Key> keys;
  for (Row row = 0; row < type.size(); ++row)
    if (type[row] != Type::none) keys.push_back({start_us(row), rank.events.source[row], row});
  std::sort(keys.begin(), keys.end(), [](const Key& a, const Key& b) {
    return a.start != b.start ? a.start < b.start : a.source < b.source;
  });
  order.reserve(keys.size());
  for (const Key& key : keys) order.push_back(key.row);
  origin_us_ = keys.empty() ? 0 : keys.front().start;
}

void Events::number_threads() {
  std::map<std::string_view, std::uint32_t> numbers;
  for (const trace::Track& track : rank.tracks)
    thread.push_back(numbers.emplace(track.tid, static_cast<std::uint32_t>(numbers.size())).first->second);
}

double Events::start_us(Row row) const { return microseconds(rank.events.start[row]); }
double Events::end_us(Row row) const { return start_us(row) + microseconds(rank.events.duration(row)); }
std::int64_t Events::ns(double us) const { return std::llround((us - origin_us_) * 1000.0); }

}  // namespace stepscope::analyze::tb
