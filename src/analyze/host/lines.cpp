#include "analyze/host/lines.h"

#include <algorithm>
#include <functional>
#include <map>
#include <span>
#include <tuple>
#include <utility>

#include "analyze/host/path_sum.h"
#include "analyze/question.h"
#include "base/text.h"
#include "derive/call_paths.h"
#include "derive/idle/host_pieces.h"
#include "derive/kernel_class.h"
#include "derive/phases.h"
#include "derive/places/element_wise.h"
#include "derive/places/own_frames.h"
#include "derive/places/paths_of_calls.h"
#include "derive/places/repeated_work.h"
#include "derive/places/short_operators.h"
#include "derive/places/stack_pieces.h"
#include "report/statistics.h"

namespace stepscope::analyze {
namespace {

using derive::kNoPath;
using derive::PathId;
using derive::Phase;
using derive::StackPiece;
using timeline::Interval;
using timeline::IntervalSet;
using timeline::MeasuredSet;
using timeline::Time;
using trace::EventTable;
using trace::kNoRow;
using trace::Rank;
using trace::Row;
using trace::StringId;

constexpr std::size_t kMaxLines = 300;

using FrameTest = trace::AskedOnce<bool (*)(std::string_view)>;

class RankLines {
 public:
  RankLines(const Derived& derived, const Rank& rank, trace::TrackId main)
      : trace_(derived.trace()),
        rank_(rank),
        main_(main),
        window_(window_of(rank, derived.choice())),
        pieces_(derive::stack_pieces(trace_, rank, main, window_)),
        own_(trace_, rank),
        backward_calls_(trace_.strings, derive::is_backward_call),
        module_calls_(trace_.strings, is_module_call),
        checkpoint_calls_(trace_.strings, is_checkpoint_call),
        distributed_calls_(trace_.strings, is_distributed_call),
        in_traceback_(trace_.strings, is_traceback),
        unpacks_(trace_.strings, is_unpacking),
        parametrizes_(trace_.strings, is_parametrization),
        recomputing_(trace_.strings, is_checkpointing),
        shapes_(trace_, rank, "Input Dims"),
        main_operators_(derive::outermost_operators(trace_, rank, main)),
        nodes_(derive::nodes_with_makers(trace_, rank)) {
    derive::PhaseTimes phases = derive::phase_times(trace_, rank, window_);
    const auto of = [&](Phase phase) { return std::move(phases[static_cast<std::size_t>(phase)]); };
    const IntervalSet backward = of(Phase::backward);
    besides_ = MeasuredSet(of(Phase::other));
    loading_ = MeasuredSet(of(Phase::data));
    Column<Interval> calls;
    for (std::size_t i = 0; i < main_operators_.size(); ++i)
      calls.push_back(derive::short_call(rank, main_operators_, i));
    calling_ =
        MeasuredSet(subtract(IntervalSet::of(std::move(calls)), unite(backward, of(Phase::optimizer))));
    Column<Interval> ops;
    for (const Row row : main_operators_) ops.push_back({rank.events.start[row], rank.events.end[row]});
    in_ops_ = MeasuredSet(IntervalSet::of(std::move(ops)));
    below_nodes_ = MeasuredSet(derive::operators_below_nodes(trace_, rank_, main));
    path_of_piece_.assign(pieces_.size(), kNoPath);
  }

  void add_to(Lines& of) {
    LineSums sums{
        .rank = rank_.rank, .besides = besides_.length_in(window_), .calling = calling_.length_in(window_)};
    const derive::RepeatedWork repeated = derive::repeated_work(trace_, rank_, nodes_, window_);
    std::tie(sums.recomputed, sums.again, sums.nodes, sums.deeper) =
        std::tie(repeated.recomputed, repeated.again, repeated.nodes, repeated.deeper);
    for (std::size_t i = 0; i < pieces_.size(); ++i) {
      add_piece(i);
      sums.known += pieces_[i].span.length();
      if (is_below(pieces_[i].frame, in_traceback_)) sums.tracing += pieces_[i].span.length();
      if (is_below(pieces_[i].frame, unpacks_)) sums.unpacking += derive::time_in(pieces_[i], loading_);
    }
    paths_of_calls_ = derive::PathsOfCalls(rank_, shapes_, placed_calls(), pieces_, path_of_piece_);
    add_operators(sums);
    add_nodes(sums);
    add_element_wise();
    of.sums.push_back(sums);
    add_elsewhere(of.elsewhere, trace_, rank_, main_, window_);
    add_scattered_rows(of.scattered, trace_, rank_, window_, main_operators_);
    add_awkward_ffts(of.ffts, trace_, rank_, window_);
    add_call_work(of.calls, of.crossed, trace_, rank_, window_, main_operators_, nodes_);
    add_tree(of);
    add_lines(of);
  }

 private:
  PathSum& sum_of(PathId path) {
    if (sums_.size() <= path) sums_.resize(std::max<std::size_t>(path + 1, paths_.size()));
    return sums_[path];
  }

  /// Where a frame is: outside a backward pass, inside, or in a line that the pass calls (a hook).
  enum class Pass : std::uint8_t { outside, inside, hook };

  /// The path of own lines around a frame. `callees`: the frames inside the innermost of them, innermost
  /// first. `accesses`: that of the innermost one that accesses a parametrized weight.
  PathId path_around(Row frame, std::vector<StringId>& callees, Pass& pass, PathId& accesses) {
    const EventTable& e = rank_.events;
    std::vector<Row> own;
    struct Through {
      bool module = false, checkpoint = false, parametrization = false;
    };
    std::vector<Through> through;  // by own line: what it calls on the way to the next one
    Through so_far;
    bool recomputes = false;
    for (Row row = frame; row != kNoRow && own.size() < derive::CallPaths::kDeepest; row = e.parent[row]) {
      if (e.kind[row] != trace::Kind::python) continue;
      if (own_(e.name[row])) {
        own.push_back(row);
        through.push_back(std::exchange(so_far, {}));
      } else {
        if (own.empty()) callees.push_back(e.name[row]);
        so_far.module = so_far.module || module_calls_(e.name[row]);
        so_far.checkpoint = so_far.checkpoint || checkpoint_calls_(e.name[row]);
        so_far.parametrization = so_far.parametrization || parametrizes_(e.name[row]);
      }
      recomputes = recomputes || recomputing_(e.name[row]);
      if (backward_calls_(e.name[row])) pass = own.empty() || recomputes ? Pass::inside : Pass::hook;
    }
    PathId path = kNoPath;
    for (std::size_t i = own.size(); i-- > 0;) {
      path = paths_.child(path, paths_.names.intern(trace_.name(rank_, own[i])));
      if (through[i].module) sum_of(path).calls_module = true;
      if (through[i].checkpoint) sum_of(path).checkpoints = true;
      if (through[i].parametrization) accesses = path;
    }
    return path;
  }

  bool is_below(Row frame, FrameTest& test) {
    for (Row row = frame; row != kNoRow; row = rank_.events.parent[row])
      if (test(rank_.events.name[row])) return true;
    return false;
  }

  void add_piece(std::size_t i) {
    const StackPiece& piece = pieces_[i];
    std::vector<StringId> callees;
    Pass pass = Pass::outside;
    PathId accesses = kNoPath;
    const PathId path = path_of_piece_[i] = path_around(piece.frame, callees, pass, accesses);
    if (path == kNoPath) return;
    if (accesses != kNoPath) sum_of(accesses).parametrizing += piece.span.length();
    PathSum& sum = sum_of(path);
    const Time time = piece.span.length(), third = window_.length() / 3;
    sum.time += time;
    sum.in_ops += derive::time_in(piece, in_ops_);
    sum.loading += derive::time_in(piece, loading_);
    if (std::ranges::any_of(callees, std::ref(distributed_calls_))) sum.communicating += time;
    if (pass != Pass::outside) {
      sum.in_backward += time;
    } else {
      const Time besides = derive::time_in(piece, besides_);
      sum.besides += besides;
      sum.sampled = sum.sampled || piece.samples > 0;
      if (piece.samples > 0 || std::ranges::none_of(callees, std::ref(module_calls_)))
        sum.in_passes += time - besides;
    }
    if (pass == Pass::hook) {
      const Time below = derive::time_in(piece, below_nodes_);
      sum.besides += time - below;
      sum.work += below;
      hooks_.push_back(piece.span);
    }
    if (piece.span.begin < window_.begin + third) sum.first += time;
    if (piece.span.begin >= window_.end - third) sum.last += time;
    std::sort(callees.begin(), callees.end());
    callees.erase(std::unique(callees.begin(), callees.end()), callees.end());  // recursion
    for (const StringId callee : callees) sum.callees[callee] += time;
  }

  /// The main thread's outermost operators and the nodes that called one with a node of its own.
  std::vector<Row> placed_calls() const {
    std::vector<Row> rows = main_operators_;
    for (const derive::NodeOf& of : nodes_)
      if (of.maker_node != kNoRow && rank_.events.track[of.maker_node] == main_)
        rows.push_back(of.maker_node);
    std::sort(rows.begin(), rows.end());
    rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
    return rows;
  }

  /// The sum of the line that called an outermost operator, or a pass through a node; nullptr if it is not
  /// known.
  PathSum* sum_of_call(Row row) {
    const PathId path = paths_of_calls_.of(row);
    return path == kNoPath ? nullptr : &sums_[path];
  }

  void add_operators(LineSums& sums) {
    const EventTable& e = rank_.events;
    for (std::size_t i = 0; i < main_operators_.size(); ++i) {
      const Row row = main_operators_[i];
      if (!window_.contains(e.start[row])) continue;
      const Time calling = calling_.length_in(derive::short_call(rank_, main_operators_, i));
      sums.short_ops += calling > 0;
      PathSum* sum = sum_of_call(row);
      if (sum == nullptr) continue;
      ++sum->ops;
      sum->calling += calling;
      OpSum& op = sum->ops_by_name[e.name[row]];
      ++op.calls;
      op.time += e.duration(row);
      sum->work += e.duration(row);
      if (op.longest_call != kNoRow && e.duration(row) <= op.longest) continue;
      op.longest = e.duration(row);
      op.longest_call = row;
    }
  }

  void add_nodes(LineSums& sums) {
    const EventTable& e = rank_.events;
    const MeasuredSet hooks(IntervalSet::of(std::move(hooks_)));
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      const Row node = nodes_[i].node;
      if (!window_.contains(e.start[node])) continue;
      const bool goes_on = i + 1 < nodes_.size() && e.track[nodes_[i + 1].node] == e.track[node] &&
                           e.start[nodes_[i + 1].node] >= e.end[node] &&
                           e.start[nodes_[i + 1].node] - e.end[node] <= derive::kShortOperator;
      const Time time = (goes_on ? e.start[nodes_[i + 1].node] : e.end[node]) - e.start[node];
      const bool is_short = e.duration(node) < derive::kShortOperator;
      if (is_short) {
        sums.back += time;
        ++sums.short_ops;
      }
      const Row maker =
          nodes_[i].maker_node != kNoRow ? nodes_[i].maker_node : derive::outermost(rank_, nodes_[i].maker);
      PathSum* sum = maker == kNoRow ? nullptr : sum_of_call(maker);
      if (sum == nullptr) continue;
      sum->backward += time;
      sum->work += time - hooks.length_in({e.start[node], e.start[node] + time});
      sum->ops_by_name[e.name[maker]].time += time;
      if (is_short) sum->called_back += time;
    }
  }

  void add_element_wise() {
    for (const auto& [call, time] : derive::element_wise_calls(trace_, rank_, nodes_, window_))
      if (PathSum* sum = sum_of_call(call)) sum->element_wise += time;
  }

  std::vector<Time> added_up(Time PathSum::* part) {
    std::vector<Time> sums;
    for (const PathSum& sum : sums_) sums.push_back(sum.*part);
    sums.resize(paths_.size());
    paths_.add_up(sums);
    return sums;
  }

  void add_tree(Lines& of) {
    sums_.resize(paths_.size());
    total_ = added_up(&PathSum::time);
    loading_of_ = added_up(&PathSum::loading);
    besides_of_ = added_up(&PathSum::besides);
    calling_of_ = added_up(&PathSum::calling);
    const std::vector<Time> back = added_up(&PathSum::called_back), work = added_up(&PathSum::work),
                            element_wise = added_up(&PathSum::element_wise),
                            communicating = added_up(&PathSum::communicating),
                            in_backward = added_up(&PathSum::in_backward),
                            parametrizing = added_up(&PathSum::parametrizing);
    for (std::size_t p = 0; p < back.size(); ++p) calling_of_[p] += back[p];
    std::vector<std::int64_t> place(paths_.size(), -1);
    const std::size_t first = of.nodes.size();
    for (const PathId path : paths_.preorder(total_)) {
      const PathId parent = paths_.parent(path);
      if (of.nodes.size() - first >= kMaxLines || (parent != kNoPath && place[parent] < 0)) continue;
      place[path] = static_cast<std::int64_t>(of.nodes.size());
      const std::string_view line = paths_.name(path);
      of.nodes.push_back({.rank = rank_.rank,
                          .parent = parent == kNoPath ? -1 : place[parent],
                          .depth = paths_.depth(path),
                          .line = std::string(line),
                          .text = std::string(own_.text(line)),
                          .total = total_[path],
                          .self = sums_[path].time,
                          .loading = loading_of_[path],
                          .besides = besides_of_[path],
                          .calling = calling_of_[path],
                          .ops = sums_[path].ops,
                          .backward = sums_[path].backward,
                          .work = work[path],
                          .element_wise = element_wise[path],
                          .communicating = communicating[path],
                          .op = {},
                          .inputs = {},
                          .calls_module = sums_[path].calls_module,
                          .checkpoints = sums_[path].checkpoints,
                          .in_backward = in_backward[path],
                          .parametrizing = parametrizing[path]});
      name_operator(of.nodes.back(), sums_[path]);
    }
  }

  void name_operator(LineNode& node, const PathSum& sum) const {
    for (const auto& [name, op] : sum.ops_by_name) node.repeats = std::max(node.repeats, op.calls);
    const auto most = dearest_operator(sum.ops_by_name);
    if (most == sum.ops_by_name.end()) return;
    node.op = trace_.text(most->first);
    node.through_gradients = derive::is_autograd_node(node.op);
    if (most->second.longest_call != kNoRow) node.inputs = shapes_.text(most->second.longest_call);
  }

  void add_lines(Lines& of) {
    struct Sum {
      LineCost cost;
      Time first = 0, last = 0;
      std::map<StringId, Time> callees;
    };
    const std::vector<Time> first = added_up(&PathSum::first), last = added_up(&PathSum::last);
    std::map<std::string_view, Sum> lines;
    for (PathId path = 0; path < paths_.size(); ++path) {
      Sum& sum = lines[paths_.name(path)];
      const PathSum& own = sums_[path];
      sum.cost.self += own.time;
      sum.cost.in_ops += own.in_ops;
      sum.cost.backward += own.backward;
      sum.cost.in_passes += own.in_passes + (own.sampled ? own.backward : 0);
      sum.cost.ops += own.ops;
      for (const auto& [name, time] : own.callees) sum.callees[name] += time;
      if (paths_.is_recursive(path)) continue;
      sum.cost.total += total_[path];
      sum.cost.loading += loading_of_[path];
      sum.cost.besides += besides_of_[path];
      sum.cost.calling += calling_of_[path];
      sum.first += first[path];
      sum.last += last[path];
    }
    const std::size_t begin = of.lines.size();
    for (auto& [line, sum] : lines) {
      sum.cost.rank = rank_.rank;
      sum.cost.line = line;
      sum.cost.text = own_.text(line);
      sum.cost.share = report::ratio(sum.cost.total, window_.length());
      if (sum.first > 0) sum.cost.growth = report::ratio(sum.last, sum.first);
      sum.cost.calls = trace_.text(innermost_callee(sum.callees, sum.cost.self));
      of.lines.push_back(std::move(sum.cost));
    }
    std::ranges::sort(std::span(of.lines).subspan(begin), {}, [](const LineCost& line) {
      return std::tuple(-line.total, std::string_view(line.line));
    });
    if (of.lines.size() > begin + kMaxLines) of.lines.resize(begin + kMaxLines);
  }

  const trace::Trace& trace_;
  const Rank& rank_;
  const trace::TrackId main_;
  const Interval window_;
  const Column<StackPiece> pieces_;
  derive::OwnFrames own_;
  FrameTest backward_calls_, module_calls_, checkpoint_calls_, distributed_calls_, in_traceback_, unpacks_,
      parametrizes_, recomputing_;
  const trace::ArgReader shapes_;
  const std::vector<Row> main_operators_;
  const std::vector<derive::NodeOf> nodes_;
  MeasuredSet besides_, loading_, calling_, in_ops_, below_nodes_;
  Column<Interval> hooks_;  // own lines that a backward pass calls
  derive::CallPaths paths_;
  std::vector<PathId> path_of_piece_;
  derive::PathsOfCalls paths_of_calls_;
  std::vector<PathSum> sums_;                                       // by path
  std::vector<Time> total_, loading_of_, besides_of_, calling_of_;  // by path, with those below
};

}  // namespace

Lines lines_of(const Derived& derived) {
  Lines of;
  for (const Rank& rank : derived.trace().ranks)
    if (const auto main = derive::main_thread(derived.trace(), rank))
      RankLines(derived, rank, *main).add_to(of);
  if (of.lines.empty())
    of.notes.emplace_back(
        "No Python stack of the main thread is recorded. Record with `stepscope record`, or "
        "with_stack=True.");
  return of;
}

}  // namespace stepscope::analyze
