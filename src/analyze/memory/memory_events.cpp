#include "analyze/memory/memory_events.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>

#include "analyze/derived.h"
#include "analyze/list.h"
#include "report/sheet.h"
#include "report/statistics.h"

namespace stepscope::analyze {
namespace {

using derive::MemoryRecords;
using report::kNoInt;
using report::kNoReal;
using report::Role;
using report::Shape;
using report::Tag;
using report::Unit;
using trace::Kind;
using trace::kNoRow;
using trace::Rank;
using trace::Row;

static_assert(MemoryRecords::kAbsent == kNoInt);

std::int64_t capacity_of(const Rank& rank, const derive::MemoryDevice& device) {
  for (const trace::Device& d : rank.devices)
    if (!device.host() && d.id == device.id && d.total_memory > 0) return d.total_memory;
  return kNoInt;
}

/// Number of the step of a row; kNoInt outside steps.
std::int64_t step_of(const Rank& rank, Row row) {
  const std::int32_t step = rank.events.step[row];
  return step < 0 ? kNoInt : rank.steps[static_cast<std::size_t>(step)].number;
}

MemoryPeak peak_of(const ChosenRecords& memory, std::int64_t origin) {
  const MemoryRecords& records = memory.records;
  std::int64_t reserved = kNoInt, change = kNoInt, allocations = 0;
  for (const std::uint32_t i : memory.chosen) {
    reserved = std::max(reserved, records.reserved[i]);
    change = std::max(change, records.change[i]);
    allocations += records.bytes[i] > 0;
  }
  const std::int64_t capacity = capacity_of(memory.rank, records.device);
  const bool known = capacity != kNoInt && reserved >= 0 && reserved <= capacity;
  const Row row = records.row[memory.peak];
  return {memory.rank.rank,
          records.device,
          records.has_totals() ? records.allocated[memory.peak] : kNoInt,
          reserved,
          capacity,
          known ? report::ratio(reserved, capacity) : kNoReal,
          memory.rank.events.start[row] - origin,
          step_of(memory.rank, row),
          change,
          records.change[memory.chosen.back()],
          allocations,
          static_cast<std::int64_t>(memory.chosen.size()) - allocations,
          records.out_of_memory};
}

/// The name that an allocation is shown under: its operator's; after the caller's if the operator only makes
/// empty tensors.
std::string op_name(const trace::Trace& trace, const Rank& rank, Row range) {
  const trace::EventTable& e = rank.events;
  const auto op_at = [&](Row at) {
    for (int steps = 0; at != kNoRow && e.kind[at] != Kind::op && steps < 4096; ++steps) at = e.parent[at];
    return at != kNoRow && e.kind[at] == Kind::op ? at : kNoRow;
  };
  const Row op = op_at(range);
  if (op == kNoRow) return std::string(kOutsideOperators);
  const std::string_view name = trace.name(rank, op);
  const Row caller = op_at(e.parent[op]);
  if (caller == kNoRow || !(name.starts_with("aten::empty") || name.starts_with("aten::resize_")))
    return std::string(name);
  return fmt::format("{} ({})", trace.name(rank, caller), name);
}

/// Largest first.
void add_alive(std::vector<AliveAtPeak>& alive, const trace::Trace& trace, const ChosenRecords& memory) {
  const MemoryRecords& records = memory.records;
  if (!records.addressed) return;
  struct Sum {
    std::int64_t count = 0, bytes = 0;
  };
  std::map<std::string, Sum> by_op;
  std::map<Row, Sum*> by_range;
  std::int64_t known = 0;
  for (std::uint32_t i = 0; i <= memory.peak; ++i) {
    if (records.bytes[i] <= 0 || records.freed[i] <= memory.peak) continue;
    Sum*& sum = by_range[records.range[i]];
    if (sum == nullptr) sum = &by_op[op_name(trace, memory.rank, records.range[i])];
    ++sum->count;
    report::add_to(sum->bytes, records.bytes[i]);
    report::add_to(known, records.bytes[i]);
  }
  const std::int64_t whole = records.has_totals() ? records.allocated[memory.peak] : known;
  if (records.has_totals() && whole > known) by_op[std::string(kBeforeRecording)] = {kNoInt, whole - known};
  std::vector<std::pair<std::string, Sum>> order(by_op.begin(), by_op.end());
  std::stable_sort(order.begin(), order.end(),
                   [](const auto& a, const auto& b) { return a.second.bytes > b.second.bytes; });
  for (auto& [op, sum] : order)
    alive.push_back({memory.rank.rank, records.device, std::move(op), sum.count, sum.bytes,
                     report::ratio(sum.bytes, std::max(whole, known))});
}

/// Largest first.
void add_kept(std::vector<KeptAllocation>& out, const trace::Trace& trace, const ChosenRecords& memory,
              std::int64_t origin) {
  const MemoryRecords& records = memory.records;
  if (!records.addressed) return;
  std::vector<std::uint32_t> kept;
  for (const std::uint32_t i : memory.chosen)
    if (records.bytes[i] > 0 && records.freed[i] == MemoryRecords::kNever) kept.push_back(i);
  std::stable_sort(kept.begin(), kept.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return records.bytes[a] > records.bytes[b]; });
  const trace::EventTable& e = memory.rank.events;
  for (const std::uint32_t i : kept) {
    const Row row = records.row[i];
    out.push_back({memory.rank.rank, records.device, e.start[row] - origin, e.source[row], records.bytes[i],
                   op_name(trace, memory.rank, records.range[i]), step_of(memory.rank, row)});
  }
}

void add_steps(std::vector<StepMemory>& out, const ChosenRecords& memory) {
  struct Levels {
    std::int64_t lowest = std::numeric_limits<std::int64_t>::max(), highest = kNoInt;
  };
  std::map<std::int32_t, Levels> by_step;
  for (const std::uint32_t i : memory.chosen) {
    const std::int32_t step = memory.rank.events.step[memory.records.row[i]];
    if (step < 0) continue;
    Levels& levels = by_step[step];
    levels.lowest = std::min(levels.lowest, memory.records.level(i));
    levels.highest = std::max(levels.highest, memory.records.level(i));
  }
  for (const auto& [step, levels] : by_step)
    out.push_back({memory.rank.rank, memory.records.device,
                   memory.rank.steps[static_cast<std::size_t>(step)].number, levels.lowest, levels.highest});
}

/// The first and the last record, and of every run of records the lowest, the highest and the one with most
/// reserved.
std::vector<std::uint32_t> thinned(const ChosenRecords& memory, std::size_t points) {
  if (memory.chosen.size() <= points) return memory.chosen;
  const std::size_t runs = std::max<std::size_t>(1, points > 5 ? (points - 2) / 3 : 1);
  std::vector<std::uint32_t> kept = {memory.chosen.front(), memory.chosen.back()};
  for (std::size_t run = 0; run < runs; ++run) {
    const auto begin = memory.chosen.begin() + static_cast<std::ptrdiff_t>(run * memory.chosen.size() / runs);
    const auto end =
        memory.chosen.begin() + static_cast<std::ptrdiff_t>((run + 1) * memory.chosen.size() / runs);
    if (begin == end) continue;
    const auto lower = [&](std::uint32_t a, std::uint32_t b) {
      return memory.records.level(a) < memory.records.level(b);
    };
    const auto less_reserved = [&](std::uint32_t a, std::uint32_t b) {
      return memory.records.reserved[a] < memory.records.reserved[b];
    };
    kept.push_back(*std::min_element(begin, end, lower));
    kept.push_back(*std::max_element(begin, end, lower));
    kept.push_back(*std::max_element(begin, end, less_reserved));
  }
  std::sort(kept.begin(), kept.end());
  kept.erase(std::unique(kept.begin(), kept.end()), kept.end());
  return kept;
}

void add_curve(std::vector<MemoryLevel>& out, const ChosenRecords& memory, std::int64_t origin,
               std::size_t points) {
  const MemoryRecords& records = memory.records;
  for (const std::uint32_t i : thinned(memory, points))
    out.push_back({memory.rank.rank, records.device, memory.rank.events.start[records.row[i]] - origin,
                   records.allocated[i], records.reserved[i], records.change[i]});
}

template <class Of>
std::string device_text(const Of& of) {
  return of.memory.name();
}
template <class Of>
std::string step_text(const Of& of) {
  return of.step == kNoInt ? "" : std::to_string(of.step);
}

const report::Sheet<MemoryPeak> kPeakSheet{
    "Peak of each memory",
    Shape::table,
    {report::rank_field<MemoryPeak>(&MemoryPeak::rank),
     {"device", &device_text<MemoryPeak>},
     {"peak_allocated", &MemoryPeak::allocated, Unit::bytes},
     {"peak_reserved", &MemoryPeak::reserved, Unit::bytes},
     {"capacity", &MemoryPeak::capacity, Unit::bytes},
     {"reserved_share", &MemoryPeak::reserved_share, Unit::share, Role::share},
     {"peak_time", &MemoryPeak::time, Unit::ns},
     {"step", &step_text<MemoryPeak>, Role::detail},
     {"peak_change", &MemoryPeak::change, Unit::bytes},
     {"end_change", &MemoryPeak::end_change, Unit::bytes},
     {"allocations", &MemoryPeak::allocations, Unit::count},
     {"frees", &MemoryPeak::frees, Unit::count},
     {"out_of_memory", &MemoryPeak::out_of_memory, Unit::count}}};

const report::Sheet<AliveAtPeak> kAliveSheet{"Alive at the peak",
                                             Shape::bars,
                                             {report::rank_field<AliveAtPeak>(&AliveAtPeak::rank),
                                              {"device", &device_text<AliveAtPeak>},
                                              {"op", &AliveAtPeak::op},
                                              {"count", &AliveAtPeak::count, Unit::count},
                                              {"bytes", &AliveAtPeak::bytes, Unit::bytes},
                                              {"share", &AliveAtPeak::share, Unit::share, Role::share}}};

const report::Sheet<KeptAllocation> kKeptSheet{
    "Never freed",
    Shape::table,
    {report::rank_field<KeptAllocation>(&KeptAllocation::rank),
     {"device", &device_text<KeptAllocation>},
     {"time", &KeptAllocation::time, Unit::ns, Tag::of_one_run},
     {"event", &KeptAllocation::event, Unit::none, Tag::of_one_run},
     {"bytes", &KeptAllocation::bytes, Unit::bytes},
     {"op", &KeptAllocation::op, Role::value},
     {"step", &step_text<KeptAllocation>, Role::detail}}};

const report::Sheet<MemoryLevel> kCurveSheet{"Memory over time",
                                             Shape::curve,
                                             {report::rank_field<MemoryLevel>(&MemoryLevel::rank),
                                              {"device", &device_text<MemoryLevel>},
                                              {"time", &MemoryLevel::time, Unit::ns, Tag::of_one_run},
                                              {"allocated", &MemoryLevel::allocated, Unit::bytes},
                                              {"reserved", &MemoryLevel::reserved, Unit::bytes},
                                              {"change", &MemoryLevel::change, Unit::bytes}}};

const report::Sheet<StepMemory> kStepSheet{"Memory of each step",
                                           Shape::table,
                                           {report::rank_field<StepMemory>(&StepMemory::rank),
                                            {"device", &device_text<StepMemory>},
                                            {"step", &StepMemory::step, Unit::none, Tag::of_one_run},
                                            {"lowest", &StepMemory::lowest, Unit::bytes},
                                            {"highest", &StepMemory::highest, Unit::bytes}}};

/// What is missing in the records.
struct Missing {
  bool totals = false, addresses = false;
  bool snapshot = false;    ///< there is a memory snapshot
  bool timeline = false;    ///< there is an exported memory time line
  std::int64_t absurd = 0;  ///< records left out
};

void add_notes(MemoryEvents& of, const Missing& missing) {
  if (of.peaks.empty())
    of.notes.emplace_back(missing.timeline ? "No memory event is recorded, but an exported memory time line: "
                                             "memory_categories answers from it."
                          : missing.snapshot
                              ? "No memory event of the profiler is recorded, but a memory "
                                "snapshot: memory_peak, memory_curve, "
                                "leaks and oom answer from it."
                              : "No memory event is recorded. Record with profile_memory=True.");
  if (missing.totals)
    of.notes.emplace_back(
        "Totals are not recorded (PyTorch before 1.11): the curve and the peak are the change since the "
        "first record.");
  if (missing.addresses)
    of.notes.emplace_back(
        "Addresses are not recorded (PyTorch before 1.11), so frees cannot be paired with allocations: what "
        "was alive at the peak or never freed is not known.");
  if (missing.absurd > 0)
    of.notes.push_back(fmt::format(
        "{} memory events have impossible sizes and are left out: the file is damaged.", missing.absurd));
}

}  // namespace

MemoryEvents memory_events_of(const trace::Trace& trace, const StepChoice& choice, std::int64_t points) {
  const auto most = static_cast<std::size_t>(std::clamp<std::int64_t>(points, 1, 10'000'000));
  MemoryEvents of;
  Missing missing;
  for (const Rank& rank : trace.ranks) {
    const std::vector<MemoryRecords> devices = derive::memory_records(trace, rank);
    if (devices.empty()) continue;
    const OpPaths ops = op_paths(trace, rank, choice);
    const std::int64_t origin = origin_of(rank);
    for (const MemoryRecords& records : devices) {
      const ChosenRecords memory = chosen_records(rank, records, choice);
      missing.absurd += records.absurd;
      if (memory.chosen.empty()) continue;
      missing.addresses |= !records.addressed;
      missing.totals |= !records.has_totals();
      of.peaks.push_back(peak_of(memory, origin));
      add_alive(of.alive, trace, memory);
      add_op_memory(of.operators, memory, ops);
      add_kept(of.kept, trace, memory, origin);
      add_kept_functions(of.kept_in, trace, memory);
      add_curve(of.curve, memory, origin, most);
      add_steps(of.steps, memory);
    }
  }
  missing.snapshot =
      std::ranges::any_of(trace.ranks, [](const trace::Rank& rank) { return rank.snapshot != nullptr; });
  missing.timeline = std::ranges::any_of(
      trace.ranks, [](const trace::Rank& rank) { return rank.memory_timeline != nullptr; });
  add_notes(of, missing);
  return of;
}

constexpr report::ParamSpec kMemoryEventsParams[] = {
    {"points", report::ParamSpec::Type::integer, "2000", "",
     "max points of each memory's curve; lows and highs are kept"}};

constinit const About memory_events_about = {kMemoryEventsParams};

report::Report memory_events(const Derived& derived, const report::Params& params) {
  const trace::Trace& trace = derived.trace();
  const bool several = trace.several();
  MemoryEvents of = memory_events_of(trace, StepChoice(params), params.integer("points", kCurvePoints));
  return {"memory_events",
          {tabulate(kPeakSheet, of.peaks, several), tabulate(kAliveSheet, of.alive, several),
           tabulate(kOpMemorySheet, of.operators, several), tabulate(kKeptSheet, of.kept, several),
           tabulate(kCurveSheet, of.curve, several), tabulate(kStepSheet, of.steps, several),
           tabulate(kKeptFunctionSheet, of.kept_in, several)},
          std::move(of.notes)};
}

}  // namespace stepscope::analyze
