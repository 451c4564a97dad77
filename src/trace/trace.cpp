#include "trace/trace.h"

#include <charconv>
#include <cmath>

namespace stepscope::trace {

std::string_view name_of(Kind kind) {
  constexpr std::string_view kNames[kKinds] = {"op",      "annotation",        "python",      "runtime",
                                               "io",      "io_library",        "kernel",      "memcpy",
                                               "memset",  "device_annotation", "device_sync", "device_mark",
                                               "memory",  "overhead",          "span",        "range_metrics",
                                               "counter", "instant",           "other"};
  return kNames[static_cast<std::size_t>(kind)];
}

std::string Loss::text() const {
  const std::string left_out = bytes > 0 ? " (" + std::to_string(bytes) + " bytes left out)" : "";
  return "at byte " + std::to_string(byte) + ": " + reason + left_out;
}

std::string host_of(const Rank& rank) {
  for (const auto& [key, json] : rank.metadata)
    if (key == "host_name" && json.size() > 2 && json.front() == '"') return json.substr(1, json.size() - 2);
  return "";
}

/// The value of a number that was kept as text because it has more digits than a double; nullopt for other
/// text.
static std::optional<double> number_in(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = error == std::errc{} && end == text.data() + text.size();
  return whole && std::isfinite(value) ? std::optional(value) : std::nullopt;
}

std::optional<std::int64_t> ArgReader::whole(ArgType type, std::int64_t value) {
  const double real = type == ArgType::real ? as_real(value) : std::numeric_limits<double>::quiet_NaN();
  if (!(real >= -9e18 && real <= 9e18)) return std::nullopt;
  return static_cast<std::int64_t>(real);
}

std::optional<double> ArgReader::real(Row row) const {
  const SchemaId schema = rank_.events.schema[row];
  if (!lookup_.in(schema)) return std::nullopt;
  const std::int64_t value = value_of(row, schema);
  if (lookup_.type(schema) == ArgType::real) return as_real(value);
  if (lookup_.type(schema) == ArgType::integer) return static_cast<double>(value);
  if (lookup_.type(schema) == ArgType::raw) return number_in(trace_.text(static_cast<StringId>(value)));
  return std::nullopt;
}

StringId ArgReader::id(Row row) const {
  const SchemaId schema = rank_.events.schema[row];
  if (!lookup_.in(schema) || lookup_.type(schema) < ArgType::text) return kEmptyString;
  return static_cast<StringId>(value_of(row, schema));
}

}  // namespace stepscope::trace
