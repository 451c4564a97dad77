#include "report/page.h"

#include <algorithm>

#include "report/text/layout.h"
#include "report/units.h"

namespace stepscope::report {
namespace {

constexpr std::size_t kMaxParts = 12;  // of a whole; more cannot be told apart in one bar

const Column* first_where(const Table& table, bool (*fits)(const Column&)) {
  const auto found = std::find_if(table.columns.begin(), table.columns.end(), fits);
  return found == table.columns.end() ? nullptr : &*found;
}

std::vector<const Column*> columns_where(const Table& table, bool (*fits)(const Column&)) {
  std::vector<const Column*> found;
  for (const Column& c : table.columns)
    if (fits(c)) found.push_back(&c);
  return found;
}

}  // namespace

std::span<const Report> answers(const Page& page) {
  return std::span(page.reports).subspan(page.verdict ? 1 : 0);
}

namespace {

/// "kernel", "idle input": all texts that name the row.
std::string name_of_part(const Table& table, std::size_t row) {
  std::string name;
  for (const Column& c : table.columns)
    if (c.role == Role::key && is_text(c) && !c.missing(row))
      name += (name.empty() ? "" : " ") + format_value(c, row);
  return name;
}

}  // namespace

std::vector<Part> parts_of(const Table& table) {
  const std::vector<const Column*> shares =
      columns_where(table, [](const Column& c) { return c.role == Role::share; });
  const Column* name = first_where(table, [](const Column& c) { return c.role == Role::key && is_text(c); });
  if (table.shape != Shape::bars || shares.size() != 1 || name == nullptr || is_text(*shares[0])) return {};
  if (table.rows() > kMaxParts) return {};
  const Column* amount = first_where(table, [](const Column& c) {
    return c.role == Role::value && !is_text(c) && c.unit != Unit::count && c.unit != Unit::none;
  });
  std::vector<Part> parts;
  double sum = 0;
  for (std::size_t row = 0; row < table.rows(); ++row) {
    const double share = number_at(*shares[0], row);
    if (share < 0) return {};
    sum += share;
    parts.push_back({name_of_part(table, row), share, amount == nullptr ? "" : format_value(*amount, row)});
  }
  if (sum < 0.98 || sum > 1.005) return {};
  return parts;
}

std::optional<Stack> stack_of(const Table& table) {
  if (table.shape != Shape::bars) return std::nullopt;
  Stack stack;
  stack.parts = columns_where(table, [](const Column& c) { return c.role == Role::share && !is_text(c); });
  if (stack.parts.size() < 2)
    stack.parts = columns_where(table, [](const Column& c) { return c.tag == Tag::part; });
  if (stack.parts.size() < 2) return std::nullopt;
  stack.whole = first_where(table, [](const Column& c) { return c.tag == Tag::whole; });
  stack.keys = columns_where(table, [](const Column& c) { return c.role == Role::key; });
  return stack;
}

bool compares_ranks(const Stack& stack) {
  return stack.keys.size() == 1 && stack.keys.front()->tag == Tag::rank;
}

double part_length(const Stack& stack, std::size_t index, std::size_t row) {
  return std::max(0.0, number_at(*stack.parts[index], row));
}

std::string label_of(const Stack& stack, std::size_t row) {
  std::string label;
  for (const Column* key : stack.keys) {
    const std::string value = format_value(*key, row);
    const bool needs_name = value.find_first_not_of("0123456789") == std::string::npos;
    if (!value.empty()) label += (label.empty() ? "" : " · ") + (needs_name ? key->name + " " : "") + value;
  }
  return label;
}

double bar_length(const Stack& stack, std::size_t row) {
  double sum = 0;
  for (std::size_t i = 0; i < stack.parts.size(); ++i) sum += part_length(stack, i, row);
  return stack.whole == nullptr ? sum : std::max(sum, number_at(*stack.whole, row));
}

bool shows_whole(const Table& table) { return !parts_of(table).empty(); }

std::vector<std::string> notes_of(const Page& page) {
  std::vector<std::string> notes;
  for (const Report& report : page.reports)
    for (const std::string& note : report.notes)
      if (std::find(notes.begin(), notes.end(), note) == notes.end()) notes.push_back(note);
  return notes;
}

}  // namespace stepscope::report
