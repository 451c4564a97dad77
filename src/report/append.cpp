#include "report/append.h"

#include <algorithm>
#include <iterator>

namespace stepscope::report {
namespace {

bool same_columns(const Table& a, const Table& b) {
  return std::equal(a.columns.begin(), a.columns.end(), b.columns.begin(), b.columns.end(),
                    [](const Column& x, const Column& y) {
                      return x.name == y.name && x.unit == y.unit && x.values.index() == y.values.index();
                    });
}

void append(Table& all, Table& next) {
  for (std::size_t c = 0; c < all.columns.size(); ++c)
    std::visit(
        [&](auto& to) {
          auto& from = std::get<std::decay_t<decltype(to)>>(next.columns[c].values);
          to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
        },
        all.columns[c].values);
}

}  // namespace

void append(Report& all, Report next) {
  if (all.name.empty()) all.name = next.name;
  for (Table& table : next.tables) {
    const auto same = std::find_if(all.tables.begin(), all.tables.end(), [&](const Table& known) {
      return known.title == table.title && same_columns(known, table);
    });
    if (same == all.tables.end())
      all.tables.push_back(std::move(table));
    else
      append(*same, table);
  }
  for (std::string& note : next.notes)
    if (std::find(all.notes.begin(), all.notes.end(), note) == all.notes.end())
      all.notes.push_back(std::move(note));
}

}  // namespace stepscope::report
