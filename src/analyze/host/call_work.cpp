#include "analyze/host/call_work.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "derive/kernel_class.h"
#include "derive/replay/host_scale.h"
#include "derive/shape_windows.h"
#include "trace/asked_once.h"

namespace stepscope::analyze {
namespace {

using report::Role;
using report::Unit;
using trace::kNoRow;
using trace::Row;

constexpr std::size_t kMaxCalls = 50;
constexpr std::int64_t kFewestCrossed = 64;  // N; smaller results cost nothing

/// Operators that pair the elements of their operands.
constexpr std::string_view kPairing[] = {
    "aten::add",      "aten::sub",     "aten::mul", "aten::div",        "aten::eq",
    "aten::ne",       "aten::lt",      "aten::gt",  "aten::maximum",    "aten::minimum",
    "aten::mse_loss", "aten::l1_loss", "aten::pow", "aten::huber_loss", "aten::smooth_l1_loss"};

/// The shapes in "[[2048, 1], [2048], []]"; those of lists of tensors are left out.
std::vector<std::vector<std::int64_t>> shapes_in(std::string_view inputs) {
  std::vector<std::vector<std::int64_t>> shapes;
  int depth = 0;
  bool in_number = false;
  for (const char c : inputs) {
    const bool digit = c >= '0' && c <= '9';
    if (c == '[' && ++depth == 2) shapes.emplace_back();
    if (c == ']') --depth;
    if (digit && depth == 2) {
      if (!in_number) shapes.back().push_back(0);
      std::int64_t& size = shapes.back().back();
      size = std::min<std::int64_t>(size, std::int64_t{1} << 40) * 10 + (c - '0');
    }
    in_number = digit;
  }
  return shapes;
}

/// N, if the call pairs N × 1 with N elements; else 0.
std::int64_t crossed_size(std::string_view op, std::string_view inputs) {
  if (std::find(std::begin(kPairing), std::end(kPairing), op) == std::end(kPairing)) return 0;
  const auto shapes = shapes_in(inputs);
  if (shapes.size() < 2) return 0;
  const auto is_crossed = [](const auto& column, const auto& row) {
    return column.size() == 2 && column[1] == 1 && row.size() == 1 && row[0] == column[0];
  };
  if (!is_crossed(shapes[0], shapes[1]) && !is_crossed(shapes[1], shapes[0])) return 0;
  return shapes[0][0] >= kFewestCrossed ? shapes[0][0] : 0;
}

/// Operators that read whole rows of their first operand.
bool picks_rows(std::string_view op) {
  return op == "aten::index" || op == "aten::index_select" || op == "aten::embedding";
}

constexpr std::int64_t kFewestColumns = 8;  // fewer lie in about as many cache lines as rows would

/// Whether the first operand is a matrix of enough columns, each of which lies together.
bool lies_by_columns(std::string_view dims, std::string_view strides) {
  const auto shape = shapes_in(dims), steps = shapes_in(strides);
  if (shape.empty() || steps.empty() || shape[0].size() != 2 || steps[0].size() != 2) return false;
  return shape[0][1] >= kFewestColumns && steps[0][0] == 1 && steps[0][1] >= shape[0][0] && shape[0][0] > 1;
}

constexpr std::int64_t kAwkwardFactor = 60;
constexpr std::int64_t kLongestFft = std::int64_t{1} << 26;  // points; longer ones are not factorized

/// What PyTorch's Fourier transforms call, whichever of torch.fft is used.
enum class Fft : std::uint8_t { none, from_points, from_frequencies };
Fft fft_of(std::string_view op) {
  if (op == "aten::_fft_r2c" || op == "aten::_fft_c2c") return Fft::from_points;
  return op == "aten::_fft_c2r" ? Fft::from_frequencies : Fft::none;
}

std::int64_t largest_prime_factor(std::int64_t n) {
  std::int64_t largest = 1;
  for (std::int64_t factor = 2; factor * factor <= n; ++factor)
    for (; n % factor == 0; n /= factor) largest = factor;
  return std::max(largest, n);
}

/// The least product of powers of 2, 3 and 5 that is at least `n`.
std::int64_t next_easy_length(std::int64_t n) {
  std::int64_t least = std::numeric_limits<std::int64_t>::max();
  for (std::int64_t fives = 1; fives < least; fives *= 5)
    for (std::int64_t of = fives; of < least; of *= 3) {
      std::int64_t length = of;
      while (length < n) length *= 2;
      least = std::min(least, length);
    }
  return least;
}

/// The size of the last dimension of the first operand; 0 if it is not recorded.
std::int64_t last_size(std::string_view inputs) {
  const auto shapes = shapes_in(inputs);
  return shapes.empty() || shapes[0].empty() ? 0 : shapes[0].back();
}

std::vector<CrossedCall> crossed_among(const std::vector<CallWork>& calls) {
  std::vector<CrossedCall> crossed;
  for (const CallWork& call : calls) {
    const std::int64_t size = crossed_size(call.op, call.inputs);
    if (size == 0) continue;
    const std::string n = std::to_string(size), result = "[" + n + ", " + n + "]";
    const auto same = std::find_if(crossed.begin(), crossed.end(),
                                   [&](const CrossedCall& of) { return of.result == result; });
    if (same != crossed.end()) {
      report::add_to(same->work, call.work());
      continue;
    }
    crossed.push_back({call.rank, call.op, call.inputs, result, call.work()});
    for (const CallWork& other : calls)
      if (other.inputs.find(result) != std::string::npos) report::add_to(crossed.back().work, other.work());
  }
  return crossed;
}

}  // namespace

const report::Sheet<CallWork> kCallWorkSheet{"Work by call",
                                             report::Shape::table,
                                             {report::rank_field<CallWork>(&CallWork::rank),
                                              {"op", &CallWork::op},
                                              {"inputs", &CallWork::inputs},
                                              {"calls", &CallWork::calls, Unit::count},
                                              {"forward", &CallWork::forward, Unit::ns},
                                              {"backward", &CallWork::backward, Unit::ns}}};

const report::Sheet<CrossedCall> kCrossedCallSheet{"Results of crossed operands",
                                                   report::Shape::table,
                                                   {report::rank_field<CrossedCall>(&CrossedCall::rank),
                                                    {"op", &CrossedCall::op},
                                                    {"inputs", &CrossedCall::inputs},
                                                    {"result", &CrossedCall::result},
                                                    {"work", &CrossedCall::work, Unit::ns}}};

const report::Sheet<ScatteredRows> kScatteredRowsSheet{
    "Rows picked from columns",
    report::Shape::table,
    {report::rank_field<ScatteredRows>(&ScatteredRows::rank),
     {"op", &ScatteredRows::op},
     {"inputs", &ScatteredRows::inputs},
     {"calls", &ScatteredRows::calls, Unit::count},
     {"time", &ScatteredRows::time, Unit::ns}}};

void add_scattered_rows(std::vector<ScatteredRows>& picks, const trace::Trace& trace, const trace::Rank& rank,
                        timeline::Interval window, const std::vector<Row>& operators) {
  const trace::EventTable& e = rank.events;
  const trace::ArgReader shapes(trace, rank, "Input Dims"), strides(trace, rank, "Input Strides");
  trace::AskedOnce picking(trace.strings, picks_rows);
  const derive::ShapeWindows windows(trace, rank, window);
  std::map<std::tuple<trace::StringId, trace::StringId, trace::StringId>, ScatteredRows> sums;
  for (const Row row : operators) {
    if (!window.contains(e.start[row]) || !picking(e.name[row]) || windows.lacks(row)) continue;
    ScatteredRows& sum = sums[{e.name[row], shapes.id(row), strides.id(row)}];
    ++sum.calls;
    report::add_to(sum.time, e.duration(row));
  }
  const std::size_t first = picks.size();
  for (auto& [key, sum] : sums) {
    const auto& [op, dims, steps] = key;
    if (!lies_by_columns(trace.text(dims), trace.text(steps))) continue;
    sum.calls = derive::scaled(sum.calls, windows.call_scale(op));
    sum.time = derive::scaled(sum.time, windows.time_scale(op));
    sum.rank = rank.rank;
    sum.op = trace.text(op);
    sum.inputs = trace.text(dims);
    picks.push_back(std::move(sum));
  }
  std::stable_sort(picks.begin() + static_cast<std::ptrdiff_t>(first), picks.end(),
                   [](const ScatteredRows& a, const ScatteredRows& b) { return a.time > b.time; });
}

const report::Sheet<AwkwardFft> kAwkwardFftSheet{"Fourier transforms of awkward lengths",
                                                 report::Shape::table,
                                                 {report::rank_field<AwkwardFft>(&AwkwardFft::rank),
                                                  {"length", &AwkwardFft::length, Unit::count},
                                                  {"factor", &AwkwardFft::factor, Unit::count},
                                                  {"padded", &AwkwardFft::padded, Unit::count},
                                                  {"calls", &AwkwardFft::calls, Unit::count},
                                                  {"time", &AwkwardFft::time, Unit::ns},
                                                  {"op", &AwkwardFft::op},
                                                  {"inputs", &AwkwardFft::inputs, Role::detail}}};

void add_awkward_ffts(std::vector<AwkwardFft>& ffts, const trace::Trace& trace, const trace::Rank& rank,
                      timeline::Interval window) {
  if (!trace.strings.any([](std::string_view name) { return fft_of(name) != Fft::none; })) return;
  const trace::EventTable& e = rank.events;
  const trace::ArgReader shapes(trace, rank, "Input Dims");
  const derive::ShapeWindows windows(trace, rank, window);
  struct Sum {
    double calls = 0;
    std::int64_t time = 0;
    Row first = kNoRow;  // an outermost operator that is no node of autograd
  };
  std::map<std::int64_t, Sum> by_length;
  std::map<std::int64_t, Sum> by_frequencies;  // of a length n, n/2 + 1
  for (const Row row : rank.host_rows()) {
    if (e.kind[row] != trace::Kind::op || !window.contains(e.start[row])) continue;
    const Fft fft = fft_of(trace.text(e.name[row]));
    const std::int64_t size = fft == Fft::none || windows.lacks(row) ? 0 : last_size(shapes.text(row));
    if (size <= 0 || size > kLongestFft) continue;
    Sum& sum = (fft == Fft::from_points ? by_length : by_frequencies)[size];
    sum.calls += windows.call_scale(e.name[row]);
    report::add_to(sum.time, derive::scaled(e.duration(row), windows.time_scale(e.name[row])));
    const Row call = derive::outermost(rank, row);
    if (sum.first == kNoRow && !derive::is_autograd_node(trace.text(e.name[call]))) sum.first = call;
  }
  const std::size_t begin = ffts.size();
  for (const auto& [length, sum] : by_length) {
    const std::int64_t factor = largest_prime_factor(length);
    if (factor <= kAwkwardFactor) continue;
    Sum all = sum;
    if (const auto back = by_frequencies.find(length / 2 + 1); back != by_frequencies.end()) {
      all.calls += back->second.calls;
      report::add_to(all.time, back->second.time);
      by_frequencies.erase(back);  // the next length may have as many
    }
    AwkwardFft of{rank.rank, length, factor, next_easy_length(length), std::llround(all.calls),
                  all.time,  {},     {}};
    if (sum.first != kNoRow) {
      of.op = trace.text(e.name[sum.first]);
      of.inputs = shapes.text(sum.first);
    }
    ffts.push_back(std::move(of));
  }
  std::stable_sort(ffts.begin() + static_cast<std::ptrdiff_t>(begin), ffts.end(),
                   [](const AwkwardFft& a, const AwkwardFft& b) { return a.time > b.time; });
}

void add_call_work(std::vector<CallWork>& calls, std::vector<CrossedCall>& crossed, const trace::Trace& trace,
                   const trace::Rank& rank, timeline::Interval window, const std::vector<Row>& operators,
                   const std::vector<derive::NodeOf>& nodes) {
  const trace::EventTable& e = rank.events;
  const trace::ArgReader shapes(trace, rank, "Input Dims");
  const derive::ShapeWindows windows(trace, rank, window);
  struct Sum {
    std::int64_t calls = 0, forward = 0, backward = 0;
  };
  std::map<std::pair<trace::StringId, trace::StringId>, Sum> sums;
  for (const Row row : operators) {
    if (!window.contains(e.start[row]) || windows.lacks(row)) continue;
    Sum& sum = sums[{e.name[row], shapes.id(row)}];
    ++sum.calls;
    report::add_to(sum.forward, e.duration(row));
  }
  for (const derive::NodeOf& of : nodes) {
    Row called = kNoRow;  // the outermost operator around the maker
    for (Row row = of.maker; row != kNoRow; row = e.parent[row])
      if (e.kind[row] == trace::Kind::op) called = row;
    if (called == kNoRow || !window.contains(e.start[of.node])) continue;
    const auto sum = sums.find({e.name[called], shapes.id(called)});
    if (sum != sums.end()) report::add_to(sum->second.backward, e.duration(of.node));
  }
  std::vector<CallWork> own;
  for (const auto& [key, sum] : sums) {
    const double scale = windows.time_scale(key.first);
    own.push_back({rank.rank, std::string(trace.text(key.first)), std::string(trace.text(key.second)),
                   derive::scaled(sum.calls, windows.call_scale(key.first)),
                   derive::scaled(sum.forward, scale), derive::scaled(sum.backward, scale)});
  }
  std::sort(own.begin(), own.end(), [](const CallWork& a, const CallWork& b) {
    return std::tuple(-a.work(), std::string_view(a.op), std::string_view(a.inputs)) <
           std::tuple(-b.work(), std::string_view(b.op), std::string_view(b.inputs));
  });
  for (CrossedCall& call : crossed_among(own)) crossed.push_back(std::move(call));
  if (own.size() > kMaxCalls) own.resize(kMaxCalls);
  calls.insert(calls.end(), std::make_move_iterator(own.begin()), std::make_move_iterator(own.end()));
}

}  // namespace stepscope::analyze
