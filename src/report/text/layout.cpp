#include "report/text/layout.h"

#include <algorithm>

#include "report/utf8.h"

namespace stepscope::report {
namespace {

constexpr int kComfortable = 28;  // of a text that has to give way
constexpr int kTight = 18;

int longest_word(std::string_view name) {
  int longest = 0;
  while (!name.empty()) {
    const std::size_t end = std::min(name.find(' '), name.size());
    longest = std::max(longest, cells_of(name.substr(0, end)));
    name.remove_prefix(std::min(end + 1, name.size()));
  }
  return longest;
}

int total(const std::vector<Strip>& strips) {
  int sum = -kGap;
  for (const Strip& s : strips) sum += s.width + kGap;
  return sum;
}

/// Takes from the widest texts until the strips fit or every text is at `least`.
bool shrink_texts(std::vector<Strip>& strips, int width, int least) {
  for (Strip& s : strips) s.width = s.natural;
  for (int excess = total(strips) - width; excess > 0;) {
    Strip* widest = nullptr;
    int second = least;
    for (Strip& s : strips) {
      if (!s.text || s.width <= least) continue;
      if (widest == nullptr || s.width > widest->width) {
        if (widest != nullptr) second = std::max(second, widest->width);
        widest = &s;
      } else {
        second = std::max(second, s.width);
      }
    }
    if (widest == nullptr) return false;
    const int give = std::min(excess, std::max(1, widest->width - second));
    widest->width -= give;
    excess -= give;
  }
  return true;
}

bool drop_last(std::vector<Strip>& strips, std::vector<std::string>& hidden, bool (*may_go)(const Strip&)) {
  for (std::size_t i = strips.size(); i-- > 1;) {
    if (!may_go(strips[i])) continue;
    if (strips[i].column != nullptr) hidden.insert(hidden.begin(), strips[i].column->name);
    strips.erase(strips.begin() + static_cast<std::ptrdiff_t>(i));
    return true;
  }
  return false;
}

void break_headers(std::vector<Strip>& strips) {
  for (Strip& s : strips)
    if (s.column != nullptr) s.header = wrapped(s.name, std::max(s.width, 2));
}

}  // namespace

std::string spoken(std::string_view column_name) {
  std::string name = one_line(column_name);
  if (name.find('(') != name.npos) return name;  // an expression of a query
  std::replace(name.begin(), name.end(), '_', ' ');
  return name;
}

std::string heading(const Column& column, std::span<const Column> columns) {
  const std::string_view name = column.name;
  for (const auto& [unit, ending] : {std::pair{Unit::ns, "_ns"}, {Unit::bytes, "_bytes"}}) {
    if (column.unit != unit || !name.ends_with(ending)) continue;
    const std::string_view brief = name.substr(0, name.rfind('_'));
    if (std::none_of(columns.begin(), columns.end(), [&](const Column& c) { return c.name == brief; }))
      return spoken(brief);
  }
  return spoken(name);
}

Layout fit(std::vector<Strip> strips, int width) {
  Layout layout;
  for (Strip& s : strips) {
    if (s.bar) continue;
    s.natural = s.column == nullptr ? 0 : longest_word(s.name);
    for (const std::string& cell : s.cells) s.natural = std::max(s.natural, cells_of(cell));
  }
  const auto is_detail = [](const Strip& s) { return s.column != nullptr && s.column->role == Role::detail; };
  const auto is_zero = [](const Strip& s) { return s.zero; };
  const auto is_bar = [](const Strip& s) { return s.bar; };
  const auto is_value = [](const Strip& s) { return s.column != nullptr && s.column->role != Role::key; };
  const auto is_any = [](const Strip&) { return true; };
  bool fits = shrink_texts(strips, width, kComfortable);
  while (!fits && (drop_last(strips, layout.hidden, is_detail) || drop_last(strips, layout.hidden, is_zero) ||
                   drop_last(strips, layout.hidden, is_bar)))
    fits = shrink_texts(strips, width, kComfortable);
  if (!fits) fits = shrink_texts(strips, width, kTight);
  while (!fits && (drop_last(strips, layout.hidden, is_value) || drop_last(strips, layout.hidden, is_any)))
    fits = shrink_texts(strips, width, kTight);
  if (!fits && !strips.empty()) strips.front().width = std::max(1, width);
  break_headers(strips);
  layout.strips = std::move(strips);
  return layout;
}

}  // namespace stepscope::report
