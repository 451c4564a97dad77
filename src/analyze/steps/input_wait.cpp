#include "analyze/steps/input_wait.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "analyze/list.h"
#include "derive/idle/device_busy.h"
#include "derive/idle/loading.h"
#include "report/statistics.h"

namespace stepscope::analyze {
namespace {

using report::kNoInt;
using report::kNoReal;
using report::Role;
using report::Shape;
using report::Tag;
using report::Unit;
using timeline::Interval;
using timeline::IntervalSet;
using timeline::MeasuredSet;
using trace::EventTable;
using trace::Kind;
using trace::kNoRow;
using trace::Rank;
using trace::Row;

/// One wait: an outermost loading range.
struct Wait {
  Row row;
  Interval span;
  std::string_view loader;
  LoaderKind kind;
  std::int64_t exposed = kNoInt;
};

/// By the name of the mark, or by the Python frames inside it.
LoaderKind kind_of(const trace::Trace& trace, const Rank& rank, Row row) {
  const std::string_view name = trace.name(rank, row);
  if (name.find("_SingleProcess") != std::string_view::npos) return LoaderKind::single_process;
  if (name.find("_MultiProcessing") != std::string_view::npos) return LoaderKind::multi_process;
  const EventTable& e = rank.events;
  const Row end = rank.tracks[e.track[row]].end;
  for (Row below = row + 1; below < end && e.start[below] < e.end[row]; ++below) {
    if (e.kind[below] != Kind::python) continue;
    const std::string_view frame = trace.name(rank, below);
    if (frame.ends_with(": _try_get_data")) return LoaderKind::multi_process;
    if (frame.find("_utils/fetch.py(") != std::string_view::npos) return LoaderKind::single_process;
  }
  return LoaderKind::unknown;
}

std::string_view short_name(std::string_view mark) {
  const std::size_t at = mark.find('#');
  return at == std::string_view::npos ? mark : mark.substr(at + 1);
}

/// All waits of the rank, by start. `busy` is nullptr when the rank has no device.
std::vector<Wait> waits_of(const trace::Trace& trace, const Rank& rank, const MeasuredSet* busy) {
  std::vector<Wait> waits;
  for (const Row row : derive::loading_rows(trace, rank)) {
    const Interval span{rank.events.start[row], rank.events.end[row]};
    Wait wait{row, span, short_name(trace.name(rank, row)), kind_of(trace, rank, row), kNoInt};
    if (busy != nullptr) wait.exposed = span.length() - busy->length_in(span);
    waits.push_back(wait);
  }
  std::stable_sort(waits.begin(), waits.end(), [](const Wait& a, const Wait& b) {
    return std::tuple(a.span.begin, a.span.end, a.loader) < std::tuple(b.span.begin, b.span.end, b.loader);
  });
  return waits;
}

IntervalSet united(const std::vector<Wait>& waits) {
  Column<Interval> spans;
  for (const Wait& wait : waits) spans.push_back(wait.span);
  return IntervalSet::of(std::move(spans));
}

void add_steps(std::vector<StepWaits>& steps, const Rank& rank, const StepChoice& choice,
               const std::vector<Wait>& waits, const MeasuredSet* busy) {
  const IntervalSet waiting = united(waits);
  const IntervalSet exposed = busy == nullptr ? IntervalSet{} : subtract(waiting, busy->set());
  struct InStep {
    std::int64_t count = 0, longest = 0;
    LoaderKind kind = LoaderKind::unknown;
  };
  std::vector<InStep> in_step(rank.steps.size());
  for (const Wait& wait : waits) {
    if (rank.events.step[wait.row] < 0) continue;
    InStep& in = in_step[static_cast<std::size_t>(rank.events.step[wait.row])];
    in.kind = in.count == 0 || in.kind == wait.kind ? wait.kind : LoaderKind::several;
    ++in.count;
    in.longest = std::max(in.longest, wait.span.length());
  }
  for (std::size_t i = 0; i < rank.steps.size(); ++i) {
    const trace::Step& step = rank.steps[i];
    if (!choice.includes(step)) continue;
    const InStep& in = in_step[i];
    const Interval span{step.start, step.end};
    const std::int64_t total = waiting.length_in(span), bare = exposed.length_in(span);
    StepWaits& of = steps.emplace_back();
    of.rank = rank.rank;
    if (step.counts()) of.step = step.number;
    of.kind = in.kind;
    of.count = in.count;
    of.total = total;
    of.share = report::ratio(total, span.length());
    if (busy != nullptr) of.exposed = bare;
    if (busy != nullptr) of.exposed_share = report::ratio(bare, span.length());
    if (in.count > 0) of.longest = in.longest;
  }
}

void add_waits(InputWait& out, const Rank& rank, const StepChoice& choice, const std::vector<Wait>& waits) {
  struct Sum {
    std::vector<std::int64_t> lengths;
    std::int64_t total = 0, exposed = 0;
    bool known = false;
  };
  std::map<std::pair<std::string_view, LoaderKind>, Sum> sums;
  const std::int64_t origin = origin_of(rank);
  for (const Wait& wait : waits) {
    if (!choice.includes(rank, wait.row)) continue;
    Sum& sum = sums[{wait.loader, wait.kind}];
    sum.lengths.push_back(wait.span.length());
    report::add_to(sum.total, wait.span.length());
    sum.known = wait.exposed != kNoInt;
    if (sum.known) report::add_to(sum.exposed, wait.exposed);
    const std::int32_t step = rank.events.step[wait.row];
    out.waits.push_back({rank.rank, wait.span.begin - origin,
                         step < 0 ? kNoInt : rank.steps[static_cast<std::size_t>(step)].number,
                         std::string(wait.loader), wait.span.length(), wait.exposed});
  }
  for (auto& [key, sum] : sums) {
    const auto [least, most] = std::minmax_element(sum.lengths.begin(), sum.lengths.end());
    out.loaders.push_back({rank.rank, std::string(key.first), key.second, std::ssize(sum.lengths), sum.total,
                           sum.known ? sum.exposed : kNoInt, kNoInt, *least, *most});
    out.loaders.back().median = report::quantile(sum.lengths, 0.5);  // reorders the lengths
  }
}

const report::Sheet<StepWaits> kStepWaitSheet{
    "Waiting for data by step",
    Shape::bars,
    {report::rank_field<StepWaits>(&StepWaits::rank),
     {"step", +[](const StepWaits& s) { return s.step == kNoInt ? "all" : std::to_string(s.step); },
      Tag::of_one_run},
     {"loader", report::named<&StepWaits::kind>, Role::detail},
     {"count", &StepWaits::count, Unit::count},
     {"total", &StepWaits::total, Unit::ns},
     {"share", &StepWaits::share, Unit::share, Role::share},
     {"exposed", &StepWaits::exposed, Unit::ns},
     {"exposed_share", &StepWaits::exposed_share, Unit::share},
     {"max", &StepWaits::longest, Unit::ns}}};

const report::Sheet<Loader> kLoaderSheet{
    "Loaders",
    Shape::table,
    {report::rank_field<Loader>(&Loader::rank),
     {"loader", &Loader::loader},
     {"kind", report::named<&Loader::kind>, Role::detail},
     {"count", &Loader::count, Unit::count},
     {"total", &Loader::total, Unit::ns},
     {"exposed", &Loader::exposed, Unit::ns},
     {"mean", +[](const Loader& l) { return report::mean(l.total, l.count); }, Unit::ns},
     {"p50", &Loader::median, Unit::ns},
     {"min", &Loader::shortest, Unit::ns},
     {"max", &Loader::longest, Unit::ns}}};

const report::Sheet<LoaderWait> kWaitSheet{
    "Each wait",
    Shape::table,
    {report::rank_field<LoaderWait>(&LoaderWait::rank),
     {"start", &LoaderWait::start, Unit::ns, Tag::of_one_run},
     {"step", +[](const LoaderWait& w) { return w.step == kNoInt ? "" : std::to_string(w.step); },
      Role::detail},
     {"loader", &LoaderWait::loader, Role::detail},
     {"length", &LoaderWait::length, Unit::ns},
     {"exposed", &LoaderWait::exposed, Unit::ns}}};

const report::Sheet<BatchStages> kBatchSheet{
    "Batches of workers",
    Shape::table,
    {report::rank_field<BatchStages>(&BatchStages::rank),
     {"start", &BatchStages::start, Unit::ns, Tag::of_one_run},
     {"step", +[](const BatchStages& b) { return b.step == kNoInt ? "" : std::to_string(b.step); }},
     {"worker", &BatchStages::worker},
     {"load", &BatchStages::load, Unit::ns},
     {"queued", &BatchStages::queued, Unit::ns},
     {"late", &BatchStages::late, Unit::ns},
     {"hand_over", &BatchStages::hand_over, Unit::ns}}};

const report::Sheet<BatchesReady> kReadySheet{"Batches ready over time",
                                              Shape::curve,
                                              {report::rank_field<BatchesReady>(&BatchesReady::rank),
                                               {"time", &BatchesReady::time, Unit::ns, Tag::of_one_run},
                                               {"ready", &BatchesReady::ready, Unit::count}}};

constexpr std::string_view kNoLoading =
    "No data loading is recorded. A torch DataLoader marks itself when its loop runs inside the recording "
    "with ProfilerActivity.CPU; wrap other loaders in "
    "record_function(\"enumerate(DataLoader)#name.__next__\").";

}  // namespace

std::string_view name_of(LoaderKind kind) {
  constexpr std::string_view kNames[] = {"", "multi-process", "single-process", "several"};
  return kNames[static_cast<std::size_t>(kind)];
}

InputWait input_wait_of(const Derived& derived) {
  const trace::Trace& trace = derived.trace();
  InputWait of;
  bool any = false, device = false;
  for (const Rank& rank : trace.ranks) {
    const MeasuredSet busy(derive::busy_time(derived.busy(rank)));
    const MeasuredSet* known = busy.set().empty() ? nullptr : &busy;
    const std::vector<Wait> waits = waits_of(trace, rank, known);
    if (waits.empty()) continue;
    any = true;
    device |= known != nullptr;
    add_steps(of.steps, rank, derived.choice(), waits, known);
    add_waits(of, rank, derived.choice(), waits);
    add_batches(of.batches, of.ready, derived, rank, derive::loading_rows(trace, rank));
  }
  if (!any)
    of.notes.emplace_back(kNoLoading);
  else if (!device)
    of.notes.emplace_back(
        "No device activity is recorded, so exposed waits are not known: any wait may be exposed.");
  return of;
}

constinit const About input_wait_about = {};

report::Report input_wait(const Derived& derived, const report::Params&) {
  const bool several = derived.trace().several();
  InputWait of = input_wait_of(derived);
  return {"input_wait",
          {tabulate(kStepWaitSheet, of.steps, several), tabulate(kLoaderSheet, of.loaders, several),
           tabulate(kWaitSheet, of.waits, several), tabulate(kBatchSheet, of.batches, several),
           tabulate(kReadySheet, of.ready, several)},
          std::move(of.notes)};
}

}  // namespace stepscope::analyze
