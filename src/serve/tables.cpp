#include "serve/tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <span>

#include "report/formats/json.h"
#include "report/suggest.h"
#include "serve/address.h"
#include "serve/ascii.h"
#include "serve/questions.h"

namespace stepscope::serve {
namespace {

using report::Column;
using report::Table;

constexpr std::size_t kMaxRows = 10'000;

/// `part` is in lower case.
bool contains(std::string_view text, std::string_view part) {
  const auto same = [](char a, char b) { return lower(a) == b; };
  return std::ranges::search(text, part, same).begin() != text.end() || part.empty();
}

bool cell_contains(const Column& column, std::size_t row, std::string_view part) {
  if (column.missing(row)) return false;
  if (const auto* texts = std::get_if<report::Texts>(&column.values)) return contains((*texts)[row], part);
  char digits[64];
  const auto put = [&](auto number) {
    const auto end = fmt::format_to_n(digits, sizeof digits, "{}", number);
    return contains(std::string_view(digits, end.size), part);
  };
  if (const auto* ints = std::get_if<report::Ints>(&column.values)) return put((*ints)[row]);
  return put(std::get<report::Reals>(column.values)[row]);
}

Rows matching(const Table& table, std::string_view filter) {
  Rows rows(table.rows());
  std::iota(rows.begin(), rows.end(), std::uint32_t{0});
  if (filter.empty()) return rows;
  const std::string part = lower(filter);
  std::erase_if(rows, [&](std::size_t row) {
    return std::ranges::none_of(table.columns, [&](const Column& c) { return cell_contains(c, row, part); });
  });
  return rows;
}

void sort_by(Rows& rows, const Column& column, bool descending) {
  const auto absent =
      std::ranges::stable_partition(rows, [&](std::size_t row) { return !column.missing(row); });
  const std::span<std::uint32_t> present(rows.begin(), absent.begin());
  std::visit(
      [&](const auto& values) {
        std::ranges::stable_sort(present, [&](std::size_t a, std::size_t b) {
          return descending ? values[b] < values[a] : values[a] < values[b];
        });
      },
      column.values);
}

/// A table of these rows.
Table selected(const Table& table, std::span<const std::uint32_t> rows) {
  Table chosen{table.title, table.shape, {}};
  for (const Column& column : table.columns)
    std::visit(
        [&](const auto& values) {
          std::decay_t<decltype(values)> some;
          for (const std::size_t row : rows) some.push_back(values[row]);
          chosen.columns.push_back({column.name, column.unit, column.role, std::move(some), column.tag});
        },
        column.values);
  return chosen;
}

const Column& column_named(const Table& table, const std::string& name) {
  if (const Column* column = table.column(name)) return *column;
  std::vector<std::string> names;
  for (const Column& column : table.columns) names.push_back(column.name);
  throw Refusal{
      400, fmt::format("there is no column '{}' to sort by.{}", name, report::did_you_mean(name, names))};
}

/// All that the order of the rows depends on.
std::string words_of(const Asked& asked, const PageOfTable& page) {
  std::string words = fmt::format("{}\n{}\n{}\n{}\n{}", asked.words[0], asked.words[1], page.sort,
                                  page.descending, page.filter);
  for (const auto& [name, value] : asked.query) words += fmt::format("\n{}={}", name, value);
  return words;
}

}  // namespace

PageOfTable take_page(report::Given& query) {
  PageOfTable page;
  page.sort = take(query, "sort");
  page.descending = std::ranges::count(query, "descending", &report::Given::value_type::first) > 0;
  take(query, "descending");
  page.filter = take(query, "filter");
  page.from = number_of(take(query, "from", "0"), "from");
  page.count = std::min(number_of(take(query, "count", "200"), "count"), kMaxRows);
  return page;
}

Rows ordered_rows(const Table& table, const PageOfTable& page) {
  Rows rows = matching(table, page.filter);
  if (!page.sort.empty()) sort_by(rows, column_named(table, page.sort), page.descending);
  return rows;
}

std::string page_of(const Table& table, const Rows& rows, const PageOfTable& page) {
  const std::size_t from = std::min(page.from, rows.size());
  const std::size_t count = std::min(page.count, rows.size() - from);
  const Table chosen = selected(table, std::span(rows).subspan(from, count));
  return fmt::format("{{{},\"total\":{},\"matching\":{},\"from\":{}}}\n", report::json_members(chosen),
                     table.rows(), rows.size(), page.from);
}

Response answer_table(Asked& asked) {
  const PageOfTable page = take_page(asked.query);
  const std::size_t number = number_of(asked.words[1], "the table");
  const auto reports = shown(asked);
  const std::vector<Table>& tables = reports->front().tables;
  if (number >= tables.size())
    throw Refusal{404, fmt::format("there is no table {}: the analysis '{}' has {}", number, asked.words[0],
                                   tables.size())};
  const Table& table = tables[number];
  const auto rows = asked.run.rows(words_of(asked, page), [&] { return ordered_rows(table, page); });
  return json(page_of(table, *rows, page));
}

}  // namespace stepscope::serve
