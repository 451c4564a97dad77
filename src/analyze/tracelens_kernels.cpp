// kernel_summary and the sheets of short kernels: kernels only, linked or not, durations summed.
#include <algorithm>
#include <cctype>
#include <map>

#include "analyze/tracelens_call.h"
#include "analyze/tracelens_launch.h"

namespace stepscope::analyze::lens {
namespace {

using report::Role;
using report::Unit;
using trace::Kind;
using trace::kNoRow;
using trace::Row;

constexpr std::int64_t kShort = 10'000;  // ns
constexpr std::int64_t kBins = 100;

bool is_short_kernel(const Lens& lens, Row row) {
  return lens.e.kind[row] == Kind::kernel && lens.e.duration(row) < kShort;
}

/// Category of what launched a kernel: its op's, or `runtime`, `graph`; "" for a kernel that is not linked.
class ParentCategories {
 public:
  explicit ParentCategories(const Lens& lens)
      : lens_(lens), categories_(lens.trace), first_(lens.e.size(), kNoRow) {
    for (const Row row : lens.tree.linked())
      if (Row& first = first_[lens.tree.launcher(row)]; first == kNoRow) first = row;
  }
  std::string_view of(Row launcher) {
    if (launcher == kNoRow) return {};
    if (lens_.e.kind[launcher] == Kind::op)
      return categories_.of(lens_.e.name[launcher], lens_.e.name[first_[launcher]]);
    std::string name(lens_.name(launcher));
    std::ranges::transform(name, name.begin(),
                           [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return name.find("graphlaunch") != name.npos ? "graph" : "runtime";
  }

 private:
  const Lens& lens_;
  Categories categories_;
  std::vector<Row> first_;  ///< by launcher: the first event it launched
};

struct Group {
  Row first = kNoRow;
  std::string_view category;
  std::int64_t count = 0, sum = 0, least = 0, most = 0;  ///< ns

  void add(Row row, std::int64_t duration) {
    if (count == 0) first = row;
    least = count == 0 ? duration : std::min(least, duration);
    most = std::max(most, duration);
    sum += duration;
    ++count;
  }
  double mean() const { return static_cast<double>(sum) / static_cast<double>(count); }
};

void sort_by_sum(const Lens& lens, std::vector<Group>& groups) {
  std::sort(groups.begin(), groups.end(), [&](const Group& a, const Group& b) {
    return a.sum != b.sum ? a.sum > b.sum : lens.e.source[a.first] < lens.e.source[b.first];
  });
}

double part(std::int64_t time, std::int64_t whole) {
  return whole > 0 ? static_cast<double>(time) / static_cast<double>(whole) : report::kNoReal;
}

std::string parent_name(const Lens& lens, Row kernel) {
  const Row launcher = lens.tree.launcher(kernel);
  return launcher == kNoRow ? std::string() : std::string(lens.name(launcher));
}

struct KernelColumns {
  explicit KernelColumns(const trace::Trace& trace)
      : rank(table, trace),
        category(table.texts("parent_category")),
        parent(table.texts("parent_op")),
        kernel(table.texts("kernel")),
        stream(table.ints("stream", Unit::none, Role::key)),
        sum(table.ints("duration_sum", Unit::ns)),
        count(table.ints("count", Unit::count)),
        mean(table.reals("duration_mean", Unit::ns)),
        least(table.ints("duration_min", Unit::ns, Role::detail)),
        most(table.ints("duration_max", Unit::ns, Role::detail)),
        of_kernels(table.reals("share_of_kernels_time", Unit::share, Role::share)),
        of_total(table.reals("share_of_total_time", Unit::share, Role::value)) {}
  report::Table table{"Kernels by launching op", report::Shape::table, {}};
  RankColumn rank;
  report::Texts &category, &parent, &kernel;
  report::Ints &stream, &sum, &count;
  report::Reals& mean;
  report::Ints &least, &most;
  report::Reals &of_kernels, &of_total;
};

std::vector<Group> kernel_groups(const Lens& lens) {
  ParentCategories categories(lens);
  std::map<std::string_view, std::uint32_t> category_numbers;
  Keys keys;
  std::vector<Group> groups;
  for (Row row = 0; row < lens.e.size(); ++row) {
    if (lens.e.kind[row] != Kind::kernel) continue;
    const Row launcher = lens.tree.launcher(row);
    const std::string_view category = categories.of(launcher);
    const auto next = static_cast<std::uint32_t>(category_numbers.size());
    const auto stream = static_cast<std::uint64_t>(lens.rank.tracks[lens.e.track[row]].stream);
    const std::uint32_t group =
        keys.of({category_numbers.try_emplace(category, next).first->second,
                 launcher == kNoRow ? trace::kNoString : lens.e.name[launcher], lens.e.name[row],
                 static_cast<std::uint32_t>(stream), static_cast<std::uint32_t>(stream >> 32)});
    if (group == groups.size()) groups.push_back({kNoRow, category});
    groups[group].add(row, lens.e.duration(row));
  }
  sort_by_sum(lens, groups);
  return groups;
}

void add_kernels(const Lens& lens, KernelColumns& out) {
  const std::vector<Group> groups = kernel_groups(lens);
  const std::int64_t window = linked_window(lens);
  std::int64_t all = 0;
  for (const Group& group : groups) all += group.sum;
  for (const Group& group : groups) {
    out.rank.add(lens.rank);
    out.category.emplace_back(group.category);
    out.parent.push_back(parent_name(lens, group.first));
    out.kernel.emplace_back(lens.name(group.first));
    out.stream.push_back(lens.rank.tracks[lens.e.track[group.first]].stream);
    out.sum.push_back(group.sum);
    out.count.push_back(group.count);
    out.mean.push_back(group.mean());
    out.least.push_back(group.least);
    out.most.push_back(group.most);
    out.of_kernels.push_back(part(group.sum, all));
    out.of_total.push_back(part(group.sum, window));
  }
}

}  // namespace

void kernel_sheet(const trace::Trace& trace, std::string_view, report::Report& report) {
  KernelColumns out(trace);
  for (const trace::Rank& rank : trace.ranks) add_kernels(Lens(trace, rank), out);
  report.tables.push_back(std::move(out.table));
}

void short_kernels_sheet(const trace::Trace& trace, std::string_view, report::Report& report) {
  report::Table table{"Short kernels by launching op", report::Shape::table, {}};
  RankColumn rank_column(table, trace);
  report::Texts& name = table.texts("parent_op");
  ArgumentColumns arguments_of_op(table, Role::key);
  report::Texts& kernel = table.texts("kernel");
  report::Ints& sum = table.ints("duration_sum", Unit::ns);
  report::Ints& count = table.ints("count", Unit::count);
  report::Reals& mean = table.reals("duration_mean", Unit::ns);
  report::Reals& share = table.reals("share_of_total_time", Unit::share);
  for (const trace::Rank& rank : trace.ranks) {
    const Lens lens(trace, rank);
    const Arguments arguments(lens);
    Keys keys;
    std::vector<Group> groups;
    for (Row row = 0; row < lens.e.size(); ++row) {
      const Row op = lens.tree.launcher(row);
      if (!is_short_kernel(lens, row) || op == kNoRow || lens.e.kind[op] != Kind::op) continue;
      const Arguments::Texts texts = arguments.of(op);
      const std::uint32_t group =
          keys.of({lens.e.name[op], texts.dims, texts.strides, texts.concrete, lens.e.name[row]});
      if (group == groups.size()) groups.emplace_back();
      groups[group].add(row, lens.e.duration(row));
    }
    sort_by_sum(lens, groups);
    const std::int64_t window = linked_window(lens);
    for (const Group& group : groups) {
      rank_column.add(rank);
      name.push_back(parent_name(lens, group.first));
      arguments_of_op.add(lens, arguments, lens.tree.launcher(group.first));
      kernel.emplace_back(lens.name(group.first));
      sum.push_back(group.sum);
      count.push_back(group.count);
      mean.push_back(group.mean());
      share.push_back(part(group.sum, window));
    }
  }
  report.tables.push_back(std::move(table));
}

void short_kernel_histogram(const trace::Trace& trace, std::string_view, report::Report& report) {
  report::Table table{"Kernels under 10 µs by duration", report::Shape::bars, {}};
  RankColumn rank_column(table, trace);
  report::Reals& begin = table.reals("bin_start", Unit::ns, Role::key);
  report::Reals& end = table.reals("bin_end", Unit::ns, Role::key);
  report::Ints& count = table.ints("count", Unit::count);
  for (const trace::Rank& rank : trace.ranks) {
    const Lens lens(trace, rank);
    std::vector<std::int64_t> durations;
    for (Row row = 0; row < lens.e.size(); ++row)
      if (is_short_kernel(lens, row)) durations.push_back(lens.e.duration(row));
    if (durations.empty()) continue;
    auto [least, most] = std::ranges::minmax(durations);
    if (least == most) least -= 500, most += 500;  // 1 µs around a single value
    std::vector<std::int64_t> bins(kBins);
    for (const std::int64_t duration : durations)
      ++bins[static_cast<std::size_t>(std::min(kBins - 1, (duration - least) * kBins / (most - least)))];
    const double width = static_cast<double>(most - least) / static_cast<double>(kBins);
    for (std::size_t i = 0; i < bins.size(); ++i) {
      rank_column.add(rank);
      begin.push_back(static_cast<double>(least) + width * static_cast<double>(i));
      end.push_back(static_cast<double>(least) + width * static_cast<double>(i + 1));
      count.push_back(bins[i]);
    }
  }
  report.tables.push_back(std::move(table));
}

}  // namespace stepscope::analyze::lens
