// ops_summary, ops_summary_by_category: device time by the op, or the kind of op, that launched it.
#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "analyze/tracelens_call.h"
#include "analyze/tracelens_launch.h"

namespace stepscope::analyze::lens {
namespace {

using report::Role;
using report::Unit;

struct Sum {
  std::int64_t calls = 0, direct = 0, subtree = 0;  ///< ns
  std::set<std::string_view> categories;
};
using Sums = std::map<std::pair<std::string_view, bool>, Sum>;

/// Rows by direct time, longest first.
std::vector<Sums::const_iterator> by_direct_time(const Sums& sums) {
  std::vector<Sums::const_iterator> rows;
  for (auto at = sums.begin(); at != sums.end(); ++at) rows.push_back(at);
  std::stable_sort(rows.begin(), rows.end(),
                   [](auto a, auto b) { return a->second.direct > b->second.direct; });
  return rows;
}

template <class Name>
Sums sums_of(const Lens& lens, Name name) {
  Sums sums;
  for (const Launcher& launcher : launchers_of(lens)) {
    Sum& sum = sums[{name(launcher), lens.recomputed(launcher.row)}];
    ++sum.calls;
    sum.direct += united(lens.e, launcher.launched);
    sum.subtree += united(lens.e, lens.tree.below(launcher.row));
    sum.categories.insert(launcher.category);
  }
  return sums;
}

struct Columns {
  Columns(const trace::Trace& trace, const char* title, const char* name_column, bool by_op)
      : table{title, report::Shape::table, {}},
        rank(table, trace),
        name(table.texts(name_column)),
        recomputed(table.texts("is_recompute")),
        categories(by_op ? &table.texts("categories", Role::detail) : nullptr),
        calls(table.ints("calls", Unit::count)),
        direct(table.ints("direct_kernel_time", Unit::ns)),
        subtree(by_op ? &table.ints("subtree_kernel_time", Unit::ns) : nullptr),
        share(table) {}

  void add(const trace::Rank& of, const Sums& sums);

  report::Table table;
  RankColumn rank;
  report::Texts &name, &recomputed;
  report::Texts* categories;
  report::Ints &calls, &direct;
  report::Ints* subtree;
  ShareColumns share;
};

std::string joined(const std::set<std::string_view>& names) {
  std::string text;
  for (const std::string_view name : names) {
    if (!text.empty()) text += ", ";
    text += name;
  }
  return text;
}

void Columns::add(const trace::Rank& of, const Sums& sums) {
  std::int64_t total = 0;
  for (const auto& [key, sum] : sums) total += sum.direct;
  share.begin(static_cast<double>(total));
  for (const auto row : by_direct_time(sums)) {
    const auto& [key, sum] = *row;
    rank.add(of);
    name.emplace_back(key.first);
    recomputed.emplace_back(key.second ? "yes" : "no");
    if (categories != nullptr) categories->push_back(joined(sum.categories));
    calls.push_back(sum.calls);
    direct.push_back(sum.direct);
    if (subtree != nullptr) subtree->push_back(sum.subtree);
    share.add(static_cast<double>(sum.direct));
  }
}

}  // namespace

void launcher_sheet(const trace::Trace& trace, std::string_view, report::Report& report) {
  Columns out(trace, "Device time by launching op", "name", true);
  for (const trace::Rank& rank : trace.ranks) {
    const Lens lens(trace, rank);
    out.add(rank, sums_of(lens, [&](const Launcher& one) { return lens.name(one.row); }));
  }
  report.tables.push_back(std::move(out.table));
}

void category_sheet(const trace::Trace& trace, std::string_view, report::Report& report) {
  Columns out(trace, "Device time by category of the launching op", "category", false);
  for (const trace::Rank& rank : trace.ranks) {
    const Lens lens(trace, rank);
    out.add(rank, sums_of(lens, [](const Launcher& one) { return one.category; }));
  }
  report.tables.push_back(std::move(out.table));
}

}  // namespace stepscope::analyze::lens
