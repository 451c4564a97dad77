#include "report/text/layout.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "report/names.h"
#include "report/utf8.h"

namespace stepscope::report {
namespace {

constexpr int kComfortable = 28;  // width of a text that has to shrink
constexpr int kTight = 18;
constexpr int kLongestLine = 40;  // of the program, which others make room for

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

/// Shrinks the widest texts until the strips fit; false if they do not when every text is at `least`.
bool shrink_texts(std::vector<Strip>& strips, int width, int least) {
  for (Strip& s : strips) s.width = s.natural;
  for (int excess = total(strips) - width; excess > 0;) {
    Strip* widest = nullptr;
    int second = least;
    for (Strip& s : strips) {
      if (!s.text || s.width <= std::max(least, s.least)) continue;
      if (widest == nullptr || s.width > widest->width) {
        if (widest != nullptr) second = std::max(second, widest->width);
        widest = &s;
      } else {
        second = std::max(second, s.width);
      }
    }
    if (widest == nullptr) return false;
    const int give = std::min(excess, std::max(1, widest->width - std::max(second, widest->least)));
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

std::string repeated(std::string_view piece, int times) {
  std::string out;
  for (int i = 0; i < times; ++i) out += piece;
  return out;
}

std::string bar(double fraction, int cells) {
  constexpr std::string_view kEighths[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  if (!(fraction > 0) || cells < 1) return "";
  const int eighths =
      std::clamp(static_cast<int>(std::lround(std::min(fraction, 1.0) * cells * 8)), 1, cells * 8);
  return repeated("█", eighths / 8) + std::string(kEighths[eighths % 8]);
}

std::vector<int> cells_per_part(const std::vector<double>& parts, double whole, int cells) {
  std::vector<int> given(parts.size(), 0);
  const double sum = std::accumulate(parts.begin(), parts.end(), 0.0);
  if (!(whole > 0) || !(sum > 0) || !std::isfinite(sum / whole) || cells < 1) return given;
  int left = static_cast<int>(std::lround(std::min(1.0, sum / whole) * cells));
  std::vector<std::size_t> order(parts.size());
  std::vector<double> rest(parts.size());
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const double exact = parts[i] / whole * cells;
    given[i] = std::min(left, static_cast<int>(exact));
    left -= given[i];
    rest[i] = exact - given[i] + (given[i] == 0 && exact > 0 ? 1 : 0);
  }
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return rest[a] > rest[b]; });
  for (const std::size_t i : order) {
    if (left == 0 || rest[i] <= 0) break;
    ++given[i];
    --left;
  }
  return given;
}

std::string padded(std::string_view text, int width, bool left) {
  const std::string space(static_cast<std::size_t>(std::max(0, width - cells_of(text))), ' ');
  return left ? std::string(text) + space : space + std::string(text);
}

std::string hung(std::string_view first, std::string_view text, int columns) {
  const int indent = cells_of(first);
  std::string out;
  for (const std::string& line : wrapped(text, std::max(16, columns - indent)))
    out +=
        (out.empty() ? std::string(first) : std::string(static_cast<std::size_t>(indent), ' ')) + line + '\n';
  return out;
}

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
    for (const std::string& cell : s.cells) {
      s.natural = std::max(s.natural, cells_of(cell));
      s.least = std::max(s.least, std::min(cells_of_line(cell), kLongestLine));
    }
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
