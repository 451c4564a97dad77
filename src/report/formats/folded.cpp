#include "report/formats/folded.h"

#include <fmt/format.h>

#include <algorithm>

#include "report/utf8.h"

namespace stepscope::report {
namespace {

/// "rank 3;device 0;": the keys that have more than one value.
std::string front_of(const Table& table, std::size_t row) {
  std::string front;
  for (const Column& c : table.columns) {
    const auto* ints = std::get_if<Ints>(&c.values);
    if (c.role != Role::key || ints == nullptr) continue;
    if (std::ranges::all_of(*ints, [&](std::int64_t value) { return value == ints->front(); })) continue;
    front += fmt::format("{} {};", c.name, (*ints)[row]);
  }
  return front;
}

bool add(std::string& out, const Table& table) {
  const Column *stack = nullptr, *value = nullptr;
  for (const Column& c : table.columns) {
    if (c.role == Role::depth) return false;
    if (stack == nullptr && c.role == Role::key && is_text(c)) stack = &c;
    if (value == nullptr && c.role == Role::value && std::holds_alternative<Ints>(c.values)) value = &c;
  }
  if (table.shape != Shape::flame || stack == nullptr || value == nullptr) return false;
  for (std::size_t row = 0; row < table.rows(); ++row)
    if (!value->missing(row))
      out += fmt::format("{}{} {}\n", front_of(table, row), one_line(std::get<Texts>(stack->values)[row]),
                         std::get<Ints>(value->values)[row]);
  return true;
}

}  // namespace

std::optional<std::string> to_folded(const Report& report) {
  std::string out;
  bool any = false;
  for (const Table& table : report.tables) any |= add(out, table);
  return any ? std::optional(std::move(out)) : std::nullopt;
}

}  // namespace stepscope::report
