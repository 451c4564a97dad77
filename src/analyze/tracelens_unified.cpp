// unified_perf_summary: every linked device event once, under the outermost op that has a model or launches it.
#include <algorithm>
#include <map>
#include <unordered_set>

#include "analyze/tracelens_backward.h"
#include "analyze/tracelens_launch.h"
#include "analyze/tracelens_model.h"
#include "analyze/tracelens_names.h"

namespace stepscope::analyze::lens {
namespace {

using report::Role;
using report::Unit;
using trace::Kind;
using trace::kNoRow;
using trace::Row;

/// An op with all that runs below it, or one device event that no collected op covers.
struct Call {
  Row op;
  Row kernel = kNoRow;  ///< of a left-over event
  Row forward = kNoRow; ///< of a backward node that is measured by its forward op's model
  bool modelled = false;
};

/// Goes through the tree from its roots and stops below what it collects.
class Collector {
 public:
  explicit Collector(const Lens& lens)
      : lens_(lens), communication_(lens.trace), modelled_before_(std::size_t{lens.e.size()} + 1, 0) {
    std::vector<std::int8_t> has_model(lens.trace.strings.size(), -1);
    for (Row row = 0; row < lens.e.size(); ++row) {
      std::int8_t& known = has_model[lens.e.name[row]];
      if (known < 0) known = !sheet_of(lens.name(row)).empty();
      const bool counts = known == 1 && lens.e.kind[row] == Kind::op && lens.tree.holds(row);
      modelled_before_[row + 1] = modelled_before_[row] + counts;
    }
    for (const Row row : lens.tree.linked()) {
      const Row launcher = lens.tree.launcher(row);
      launches_.insert(launcher);
      if (communication_.includes(lens.e.name[row])) communicates_.insert(launcher);
    }
    find_backward();
  }

  std::vector<Call> run() {
    for (const trace::Track& track : lens_.rank.tracks)
      if (track.side == trace::Track::Side::host)
        for (Row row = track.begin; row < track.end;) row = visit(row);
    std::sort(calls_.begin(), calls_.end(), [&](const Call& a, const Call& b) {
      const auto& e = lens_.e;
      if (e.start[a.op] != e.start[b.op]) return e.start[a.op] < e.start[b.op];
      const auto id = [&](const Call& c) { return e.source[c.kernel == kNoRow ? c.op : c.kernel]; };
      return id(a) < id(b);
    });
    return std::move(calls_);
  }

 private:
  /// Forward ops with a backward model and one node only.
  void find_backward() {
    std::unordered_map<Row, int> nodes;
    const std::vector<BackwardNode> all = backward_nodes(lens_);
    for (const BackwardNode& node : all) ++nodes[node.forward];
    for (const BackwardNode& node : all)
      if (nodes[node.forward] == 1 && !backward_sheet_of(lens_.name(node.forward)).empty())
        forward_of_[node.row] = node.forward;
  }

  std::uint32_t modelled_in(Row begin, Row end) const { return modelled_before_[end] - modelled_before_[begin]; }

  /// The row to look at next.
  Row visit(Row row) {
    if (!lens_.tree.holds(row)) return row + 1;
    const Row end = lens_.tree.end_of(row);
    if (lens_.tree.below(row).empty()) return end;
    if (lens_.e.kind[row] != Kind::op) {
      if (lens_.tree.parent(row) != kNoRow) leave_over(row);
      return end;
    }
    Call call{row};
    call.modelled = modelled_in(row, row + 1) != 0;
    if (!call.modelled && modelled_in(row, end) == 0) {
      if (const auto found = forward_of_.find(row); found != forward_of_.end()) {
        call.forward = found->second;
        call.modelled = true;
      } else if (!launches_.contains(row) || communicates_.contains(row)) {
        return row + 1;
      }
    } else if (!call.modelled) {
      return row + 1;
    }
    calls_.push_back(call);
    return end;
  }

  void leave_over(Row launch) {
    for (const Row kernel : lens_.tree.below(launch)) {
      const Row op = lens_.tree.launcher(kernel);
      if (lens_.e.kind[op] == Kind::op && !communication_.includes(lens_.e.name[kernel]))
        calls_.push_back({op, kernel});
    }
  }

  const Lens& lens_;
  Communication communication_;
  std::vector<std::uint32_t> modelled_before_;
  std::unordered_set<Row> launches_, communicates_;
  std::unordered_map<Row, Row> forward_of_;
  std::vector<Call> calls_;
};

struct Group {
  const Model* model;  ///< nullptr without
  std::string_view category;
  std::vector<Call> calls;
  Spread host, time, bytes_per_s, flops_per_s;
};

std::span<const Row> events_of(const Lens& lens, const Call& call) {
  return call.kernel == kNoRow ? lens.tree.below(call.op) : std::span<const Row>(&call.kernel, 1);
}

void measure(const Lens& lens, Group& group) {
  std::vector<double> host, times, byte_rates, flop_rates;
  for (const Call& call : group.calls) {
    const auto ns = static_cast<double>(united(lens.e, events_of(lens, call)));
    host.push_back(static_cast<double>(lens.e.duration(call.op)));
    times.push_back(ns);
    if (group.model == nullptr || ns <= 0) continue;
    const derive::Work& work = group.model->work;
    if (work.bytes_known) byte_rates.push_back(static_cast<double>(work.bytes()) / (ns * 1e-9));
    if (work.flops_known) flop_rates.push_back(static_cast<double>(work.flops()) / (ns * 1e-9));
  }
  group.host = spread_of(std::move(host));
  group.time = spread_of(std::move(times));
  group.bytes_per_s = spread_of(std::move(byte_rates));
  group.flops_per_s = spread_of(std::move(flop_rates));
}

/// Groups calls by name, category, thread and arguments.
class Grouping {
 public:
  Grouping(const Lens& lens, const Arguments& arguments, Models& forward, Models& backward)
      : lens_(lens), arguments_(arguments), forward_(forward), backward_(backward), categories_(lens.trace) {}

  std::vector<Group> run() {
    for (const Call& call : Collector(lens_).run()) add(call);
    for (Group& group : groups_) measure(lens_, group);
    std::stable_sort(groups_.begin(), groups_.end(),
                     [](const Group& a, const Group& b) { return a.time.sum > b.time.sum; });
    return std::move(groups_);
  }

 private:
  void add(const Call& call) {
    const auto& e = lens_.e;
    const trace::StringId kernel = call.kernel == kNoRow ? trace::kEmptyString : e.name[call.kernel];
    const std::string_view category = call.kernel == kNoRow
                                          ? categories_.of(e.name[call.op], first_kernel(call.op))
                                          : categories_.of(trace::kEmptyString, kernel);
    const auto next = static_cast<std::uint32_t>(category_numbers_.size());
    const std::uint32_t number = category_numbers_.try_emplace(category, next).first->second;
    const Arguments::Texts texts = arguments_.of(call.op);
    const std::uint32_t group =
        keys_.of({e.name[call.op], kernel, number, arguments_.thread(call.op), texts.dims, texts.types,
                  texts.strides, texts.concrete, lens_.recomputed(call.op)});
    if (group == groups_.size()) groups_.push_back({model_of(call), category, {}, {}, {}, {}, {}});
    groups_[group].calls.push_back(call);
  }

  const Model* model_of(const Call& call) {
    if (!call.modelled) return nullptr;
    return call.forward == kNoRow ? &forward_.of(call.op) : &backward_.of(call.forward);
  }

  trace::StringId first_kernel(Row op) const {
    const auto below = lens_.tree.below(op);
    return below.empty() ? trace::kEmptyString : lens_.e.name[below.front()];
  }

  const Lens& lens_;
  const Arguments& arguments_;
  Models &forward_, &backward_;
  Categories categories_;
  std::map<std::string_view, std::uint32_t> category_numbers_;
  Keys keys_;
  std::vector<Group> groups_;
};

struct Columns {
  explicit Columns(const trace::Trace& trace)
      : rank(table, trace),
        name(table.texts("name")),
        category(table.texts("category")),
        arguments(table, Role::key),
        recomputed(table.texts("is_recompute")),
        calls(table.ints("calls", Unit::count)),
        time_sum(table.ints("kernel_time_sum", Unit::ns)),
        time(table, "kernel_time", Unit::ns),
        host_sum(table.ints("host_time_sum", Unit::ns)),
        host(table, "host_time", Unit::ns),
        flops(table.ints("flops", Unit::flop)),
        bytes(table.ints("bytes", Unit::bytes)),
        intensity(table.reals("intensity", Unit::flop_per_byte)),
        spec(table.texts("compute_spec", Role::detail)),
        byte_rate(table, "bytes_per_s", Unit::bytes_per_s),
        flop_rate(table, "flops_per_s", Unit::flop_per_s),
        modelled(table.texts("has_perf_model", Role::detail)),
        first_event(table.ints("first_event", Unit::none, Role::detail)),
        share(table.reals("share", Unit::share, Role::share)),
        cumulative(table.reals("cumulative_share", Unit::share, Role::detail)) {}
  report::Table table{"All linked device work by op", report::Shape::table, {}};
  RankColumn rank;
  report::Texts &name, &category;
  ArgumentColumns arguments;
  report::Texts& recomputed;
  report::Ints &calls, &time_sum;
  SpreadColumns time;
  report::Ints& host_sum;
  SpreadColumns host;
  report::Ints &flops, &bytes;
  report::Reals& intensity;
  report::Texts& spec;
  SpreadColumns byte_rate, flop_rate;
  report::Texts& modelled;
  report::Ints& first_event;
  report::Reals &share, &cumulative;
};

std::string name_of(const Lens& lens, const Call& call) {
  std::string name(lens.name(call.op));
  if (call.kernel != kNoRow) name.append("->").append(lens.name(call.kernel)).append(" (Synthetic Op)");
  return name;
}

void add_work(const Model* model, Columns& out) {
  const bool flops = model != nullptr && model->work.flops_known;
  const bool bytes = model != nullptr && model->work.bytes_known;
  out.flops.push_back(flops ? model->work.flops() : report::kNoInt);
  out.bytes.push_back(bytes ? model->work.bytes() : report::kNoInt);
  const bool both = flops && bytes && model->work.bytes() > 0;
  out.intensity.push_back(
      both ? static_cast<double>(model->work.flops()) / static_cast<double>(model->work.bytes()) : report::kNoReal);
  out.spec.push_back(model == nullptr ? "" : model->spec);
  out.modelled.emplace_back(model == nullptr ? "no" : "yes");
}

void add_group(const Lens& lens, const Arguments& arguments, const Group& group, Columns& out) {
  const Call& first = group.calls.front();
  out.rank.add(lens.rank);
  out.name.push_back(name_of(lens, first));
  out.category.emplace_back(group.category);
  out.arguments.add(lens, arguments, first.op);
  out.recomputed.emplace_back(lens.recomputed(first.op) ? "yes" : "no");
  out.calls.push_back(static_cast<std::int64_t>(group.calls.size()));
  out.time_sum.push_back(static_cast<std::int64_t>(group.time.sum));
  out.time.add(group.time);
  out.host_sum.push_back(static_cast<std::int64_t>(group.host.sum));
  out.host.add(group.host);
  add_work(group.model, out);
  out.byte_rate.add(group.bytes_per_s);
  out.flop_rate.add(group.flops_per_s);
  out.first_event.push_back(lens.e.source[first.kernel == kNoRow ? first.op : first.kernel]);
}

}  // namespace

void unified_sheet(const trace::Trace& trace, std::string_view, report::Report& report) {
  Columns out(trace);
  KernelDetails details(trace);
  for (const trace::Rank& rank : trace.ranks) {
    const Lens lens(trace, rank);
    const Arguments arguments(lens);
    Models forward(lens, arguments), backward(lens, arguments, true);
    const std::vector<Group> groups = Grouping(lens, arguments, forward, backward).run();
    double total = 0, so_far = 0;
    for (const Group& group : groups) total += group.time.sum;
    for (const Group& group : groups) {
      add_group(lens, arguments, group, out);
      so_far += group.time.sum;
      out.share.push_back(total > 0 ? group.time.sum / total : report::kNoReal);
      out.cumulative.push_back(total > 0 ? so_far / total : report::kNoReal);
      std::vector<std::vector<Row>> launched;
      for (const Call& call : group.calls) {
        const auto events = events_of(lens, call);
        launched.emplace_back(events.begin(), events.end());
      }
      details.add(lens, lens.e.source[group.calls.front().kernel == kNoRow ? group.calls.front().op : group.calls.front().kernel], launched);
    }
  }
  report.tables.push_back(std::move(out.table));
  report.tables.push_back(details.take());
}

}  // namespace stepscope::analyze::lens
