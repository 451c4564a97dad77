// Reports made by hand, one per shape, for the printers' tests. Nothing in them comes from a trace.
#pragma once

#include "report/page.h"

namespace stepscope::test {

/// Long C++ names, a name that attacks the terminal, absent values, more columns than fit.
report::Report made_kernels();
/// The parts of six steps and of the average one.
report::Report made_steps();
/// A tree of modules.
report::Report made_modules();
/// Two curves of 900 points with one spike.
report::Report made_memory();
/// Eight ranks by twelve steps.
report::Report made_ranks();
/// A flame of nested boxes.
report::Report made_flame();
/// A verdict, three findings, two troubles.
report::Verdict made_verdict();
report::Page made_page();

}  // namespace stepscope::test
