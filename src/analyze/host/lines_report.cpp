#include "analyze/host/lines.h"
#include "analyze/list.h"
#include "analyze/question.h"
#include "derive/places/own_frames.h"

namespace stepscope::analyze {
namespace {

using report::Role;
using report::Unit;

const report::Sheet<LineCost> kLineSheet{"Lines",
                                         report::Shape::table,
                                         {report::rank_field<LineCost>(&LineCost::rank),
                                          {"line", &LineCost::line},
                                          {"text", &LineCost::text, Role::detail},
                                          {"share", &LineCost::share, Unit::share, Role::share},
                                          {"total", &LineCost::total, Unit::ns},
                                          {"self", &LineCost::self, Unit::ns},
                                          {"in_ops", &LineCost::in_ops, Unit::ns},
                                          {"loading", &LineCost::loading, Unit::ns},
                                          {"besides", &LineCost::besides, Unit::ns},
                                          {"backward", &LineCost::backward, Unit::ns},
                                          {"calling", &LineCost::calling, Unit::ns},
                                          {"ops", &LineCost::ops, Unit::count},
                                          {"growth", &LineCost::growth, Unit::none},
                                          {"calls", &LineCost::calls, Role::detail}}};

const report::Sheet<LineNode> kNodeSheet{"Lines by caller",
                                         report::Shape::table,
                                         {report::rank_field<LineNode>(&LineNode::rank),
                                          {"depth", &LineNode::depth, Unit::count},
                                          {"line", &LineNode::line},
                                          {"total", &LineNode::total, Unit::ns},
                                          {"work", &LineNode::work, Unit::ns},
                                          {"self", &LineNode::self, Unit::ns},
                                          {"besides", &LineNode::besides, Unit::ns},
                                          {"backward", &LineNode::backward, Unit::ns},
                                          {"calling", &LineNode::calling, Unit::ns},
                                          {"ops", &LineNode::ops, Unit::count},
                                          {"element_wise", &LineNode::element_wise, Unit::ns},
                                          {"communicating", &LineNode::communicating, Unit::ns},
                                          {"parametrizing", &LineNode::parametrizing, Unit::ns},
                                          {"repeats", &LineNode::repeats, Unit::count},
                                          {"op", &LineNode::op, Role::detail},
                                          {"inputs", &LineNode::inputs, Role::detail}}};

const report::Sheet<LineSums> kLineSumSheet{"Sums",
                                            report::Shape::table,
                                            {report::rank_field<LineSums>(&LineSums::rank),
                                             {"known", &LineSums::known, Unit::ns},
                                             {"besides", &LineSums::besides, Unit::ns},
                                             {"calling", &LineSums::calling, Unit::ns},
                                             {"back", &LineSums::back, Unit::ns},
                                             {"short_ops", &LineSums::short_ops, Unit::count},
                                             {"tracing", &LineSums::tracing, Unit::ns},
                                             {"unpacking", &LineSums::unpacking, Unit::ns},
                                             {"recomputed", &LineSums::recomputed, Unit::ns},
                                             {"again", &LineSums::again, Unit::ns}}};

}  // namespace

std::string_view LineNode::place() const { return derive::file_and_line(line); }

constinit const About lines_about = {};

report::Report lines(const Derived& derived, const report::Params&) {
  Lines of = lines_of(derived);
  const bool several = derived.trace().several();
  return {
      "lines",
      {tabulate(kLineSheet, of.lines, several), tabulate(kNodeSheet, of.nodes, several),
       tabulate(kLineSumSheet, of.sums, several), tabulate(kCallWorkSheet, of.calls, several),
       tabulate(kWorkerLineSheet, of.elsewhere.workers, several),
       tabulate(kCrossedCallSheet, of.crossed, several), tabulate(kScatteredRowsSheet, of.scattered, several),
       tabulate(kAwkwardFftSheet, of.ffts, several), tabulate(kFetchingSheet, of.elsewhere.fetching, several),
       tabulate(kThreadLineSheet, of.elsewhere.threads, several)},
      std::move(of.notes)};
}

}  // namespace stepscope::analyze
