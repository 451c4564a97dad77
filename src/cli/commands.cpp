#include "cli/commands.h"

#include "advise/analyses.h"
#include "cli/flags.h"

namespace stepscope::cli {
namespace {

using report::ParamSpec;

constexpr std::string_view kReportExamples[] = {
    "stepscope trace.json.gz",
    "stepscope report traces/ -o report.html",
    "stepscope report trace.json --format json | jq '.reports[0].tables[1].rows'",
};
constexpr std::string_view kShowExamples[] = {
    "stepscope show steps trace.json.gz",
    "stepscope show idle traces/ --step 3 --sort time --top 20",
    "stepscope show devices trace.json --format csv -o devices.csv",
};
constexpr std::string_view kExplainExamples[] = {
    "stepscope explain I01 trace.json.gz",
    "stepscope explain Q04 traces/",
    "stepscope explain H03",
};
constexpr std::string_view kWhatifExamples[] = {
    "stepscope whatif trace.json.gz",
    "stepscope whatif trace.json.gz --scale data_loading=0 --scale 'kernel:/gemm|conv/=0.5'",
    "stepscope whatif traces/ --scale comm=0 --format json",
};
constexpr std::string_view kDiffExamples[] = {
    "stepscope diff before.json.gz after.json.gz",
    "stepscope diff before/ after/ -o diff.html",
    "stepscope diff before.json.gz after.json.gz --what operators",
};
constexpr std::string_view kGateExamples[] = {
    "stepscope gate main.json.gz change.json.gz",
    "stepscope gate main.json.gz new.json.gz --fail-on 'step.total>3%' --fail-on 'step.kernel>50ms'",
    "stepscope gate main/ change/ --fail-on 'kernels.total[ampere_sgemm_128x64_tn]>10%' -o gate.xml",
    "stepscope gate --history nightly/ tonight.json.gz",
};
constexpr std::string_view kListExamples[] = {"stepscope list"};
constexpr std::string_view kValidateExamples[] = {"stepscope validate traces/",
                                                  "stepscope validate --strict trace.json"};
constexpr std::string_view kExportExamples[] = {
    "stepscope export trace.json.gz -o trace.sqlite",
    "stepscope export trace.json.gz --what events -o events.csv",
    "stepscope export traces/ --what steps -o steps.json",
    "stepscope export mem.pickle --until oom -o small.pickle",
    "stepscope export traces/ -o traces.pfw.gz",
};
constexpr std::string_view kMergeExamples[] = {
    "stepscope merge rank0.json.gz rank1.json.gz -o merged.json.gz",
    "stepscope merge traces/ -o merged.json.gz",
    "stepscope merge trace.json.gz io.pfw.gz -o merged.pftrace",
    "stepscope merge run.stepscope -o run.json.gz",
};
constexpr std::string_view kOverlayExamples[] = {
    "stepscope overlay trace.json.gz -o overlaid.json.gz",
    "stepscope overlay trace.json.gz --what critical_path --instance 1-3 -o path.json.gz",
    "stepscope overlay trace.json.gz --what queue_length -o queues.json",
};
constexpr std::string_view kMergeAbout =
    "Writes one file that Perfetto shows as one timeline. Every stepscope command reads it as the ranks that "
    "it was made from and gives the same answers. Reads torch.profiler's traces, stepscope's own recordings, "
    "DFTracer's .pfw, other tools' Chrome JSON, and merged files; one file alone works too. Clocks of "
    "several hosts are aligned at the ends of collectives that ranks share. A clock that cannot be aligned "
    "is kept, with a note. Process, flow and correlation ids that two files share are renumbered; processes "
    "are named by rank. Files of another run than the others, or that recorded at another time, are left out "
    "and named. Text that is no strict JSON is mended, with a note. JSON is streamed, so files may be larger "
    "than memory. .pftrace is for Perfetto "
    "alone; writing it holds one source at a time in memory.";
constexpr std::string_view kRecordExamples[] = {
    "stepscope record -- python train.py --epochs 1",
    "stepscope record --steps 10:15 --stacks calls -o run1 -- python train.py",
    "stepscope record --steps 10:15 -o run2 -- torchrun --nproc-per-node 2 train.py",
};
constexpr std::string_view kRunExamples[] = {
    "stepscope run -- python train.py",
    "stepscope run -- torchrun --nproc-per-node 2 train.py",
};
constexpr std::string_view kAttachExamples[] = {
    "stepscope attach 4711 --steps 3",
    "stepscope attach 4711 4712 --steps 3 -o now",
    "stepscope attach 4711 --seconds 2 --memory",
    "stepscope attach 4711 --steps 3 --inject",
};
constexpr std::string_view kTryExamples[] = {
    "stepscope try -- python train.py",
    "stepscope try --finding I01,H03 -- python train.py --epochs 1",
    "stepscope try --all --steps 200 --end -- torchrun --nproc-per-node 2 train.py",
};
constexpr std::string_view kTuneExamples[] = {
    "stepscope tune -- python train.py",
    "stepscope tune --workers 0,2,4 -o workers.svg -- python train.py --epochs 3",
};
constexpr std::string_view kServeExamples[] = {
    "stepscope serve trace.json.gz --open",
    "stepscope serve runs/ --source-root ~/project",
    "ssh -t -L 8080:localhost:8080 HOST stepscope serve runs/ --port 8080",
};
constexpr std::string_view kSqlExamples[] = {
    "stepscope sql trace.json.gz --tables",
    "stepscope sql trace.json.gz 'SELECT kind, sum(duration_ns) FROM event GROUP BY 1'",
    "stepscope sql trace.json.gz 'SELECT * FROM steps' --format csv",
};
constexpr std::string_view kCompletionExamples[] = {
    "stepscope completion bash > ~/.local/share/bash-completion/completions/stepscope",
    "stepscope completion zsh > \"${fpath[1]}/_stepscope\"",
    "stepscope completion fish > ~/.config/fish/completions/stepscope.fish",
};

constexpr Command kCommands[] = {
    {"record", "run a PyTorch program, record it, and report on it", "-- PROGRAM [ARGS...]",
     "Runs the program unchanged, records what it does in PyTorch into one file per process, and prints the "
     "report. A step ends at optimizer.step(); time before the first step and after the last one belongs to "
     "no step. The Python that runs the program needs the package stepscope. A recording survives when the "
     "program is killed. If the program fails, its exit code is kept. If the package has no observer for "
     "the installed PyTorch, the first use compiles one, which takes about ten seconds and a C++ compiler. "
     "In a "
     "program, stepscope.profiler records chosen parts.",
     kRecordFlags, kRecordExamples, run_record, false, true},
    {"run",
     "run a PyTorch program so that `attach` can record it later",
     "-- PROGRAM [ARGS...]",
     "Runs the program unchanged. Each of its processes that imports PyTorch listens on a socket that only "
     "its user can open. Until `stepscope attach` asks, nothing is recorded, at no cost.",
     {},
     kRunExamples,
     run_run,
     false,
     true},
    {"attach", "record some steps of running programs, and report on them",
     "PID... [--steps N] [--seconds S]",
     "Asks each process to record its next steps, and prints the report when they are over. The program "
     "keeps running. Give --steps, --seconds, or both: the first limit reached ends the recording. Ctrl-C "
     "ends it early and reports what was recorded until then. A program that `run` started is waiting for "
     "this. On Linux, one that runs Python 3.14 or later and has imported PyTorch needs no preparation: its "
     "main thread runs a small script of ours at its next chance (sys.remote_exec). Earlier Pythons need "
     "`run`, or --inject.",
     kAttachFlags, kAttachExamples, run_attach},
    {"try", "apply what findings propose to copies of a program, and measure what it saves",
     "[--finding ID,...] -- PROGRAM [ARGS...]",
     "Runs the program unchanged and records its first steps. Then it holds the program and, for each change "
     "that a finding proposes, starts two copies: one unchanged, one with the change applied from outside. "
     "They take turns of a few steps, and steps of equal numbers are compared. Prints what the report "
     "promised and what was measured with a 95 % interval, whether the losses agree, memory before and "
     "after, what could not be tried and why, and the lines to write. Changes that save time are then tried "
     "together. Your code is never edited. Copies see a throwaway view of the working folder where the "
     "system allows it. A copy that fails is reported, and the program goes on to its own end; its exit "
     "code is kept.",
     kTryFlags, kTryExamples, run_try, false, true},
    {"tune", "find the settings of a program's DataLoader by measuring them", "-- PROGRAM [ARGS...]",
     "Starts copies of the program whose DataLoader gets other settings: num_workers, prefetch_factor, "
     "persistent_workers, pin_memory with non_blocking copies, and threads per worker. Only the loader that "
     "the training steps iterate is changed. Two copies take turns of a few steps, the best settings so far "
     "and others, until they are told apart or called equal; workers come first. What wins is measured once "
     "more against the settings now: the range that is printed comes from there. Prints the table, step time "
     "over workers as a picture, and the line to write. Your code is never edited, and the program itself is "
     "not run to its end. In a program, stepscope.tune.dataloader() measures a loader alone.",
     kTuneFlags, kTuneExamples, run_tune, false, true},
    {"report", "say why the step is slow: verdict, where the time goes, what to change", "TRACE...",
     "Reads one or more traces and prints what limits a step, where its time goes, what to change and how "
     "much that would save, and what the recording cannot show. The HTML is the page of `stepscope "
     "serve` with its timeline as one file, which loads nothing and is readable without scripts, too. HTML "
     "and JSON hold every analysis. A directory or several files are the ranks of one job. "
     "`stepscope TRACE` does the same.",
     kReportFlags, kReportExamples, run_report},
    {"show", "one analysis, as a table or a picture", "NAME TRACE...",
     "Runs one analysis; `stepscope NAME TRACE...` does the same. `stepscope list` names them all; "
     "`stepscope show "
     "NAME --help` explains one.",
     kShowFlags, kShowExamples, run_show},
    {"explain", "why a rule fired or stayed silent", "ID [TRACE...]",
     "Shows what rule or health check ID read from the trace, the replays behind its saving, and what "
     "lowered its confidence: enough to find out why an answer is wrong. Without a trace it prints the "
     "rule's text. `stepscope show findings TRACE --all` lists the ids that fired.",
     kExplainFlags, kExplainExamples, run_explain},
    {"whatif", "what a step would take if something in it were faster", "TRACE... --scale WHAT=FACTOR",
     "Replays the recording with parts of it scaled and prints how long a step then takes: with each --scale "
     "alone and with all together. A factor of 0 removes, 0.5 halves, 2 doubles. WHAT is data_loading, sync, "
     "alloc, launch, compute, plain_cores, fp64, comm, copy or host (all host work); or kernel:NAME, "
     "host:NAME, loop:NAMES, waiting:NAME, quiet:NAME, device:NAME, op:NAME or call:NAME, where NAME is "
     "exact, or /a|b/ for names that contain a or b; or straggler:RANK=0, which makes a rank keep pace. "
     "Without --scale it tries the usual limits. `stepscope show whatif --help` defines each and lists what "
     "the replay cannot know.",
     kWhatifFlags, kWhatifExamples, run_whatif},
    {"diff", "what changed between two recordings, and whether it is more than noise", "A B",
     "Prints how much faster or slower a step of B is than a step of A, with a 95 % interval, and what "
     "explains the difference: the parts of the step, then kernels by operator and module. The change is the "
     "ratio of the mean steps after warm-up; the changes of all rows add up to it. Each row is marked as "
     "changed, within noise, new or gone. Where noise hides the answer, it says so, which change would have "
     "been seen, and how many steps to record. Kernels whose names differ between devices are compared by "
     "the operator that launched them. A and B are each a file or a directory of ranks. Record 20 or more "
     "steps on each side; with fewer than 4 there is no verdict.",
     kDiffFlags, kDiffExamples, run_diff},
    {"gate", "fail when a step got slower: for continuous integration", "BASE NEW | --history DIR [NEW]",
     "Compares NEW with BASE and decides: pass, regression or inconclusive. Exit codes: 0 pass, 1 "
     "regression, 2 wrong usage or unreadable file, 3 inconclusive. METRIC is step.total, a part of the step "
     "(step.kernel, step.data_loader, ... as in `stepscope show steps`), or ANALYSIS.COLUMN[KEY], a number "
     "in a row of any analysis, per step. LIMIT is a percentage of BASE or, with a unit (ms, us, ns, s, MiB, "
     "GiB, none), a value of NEW; METRIC<LIMIT fails below it. A metric is a regression if its whole 95 % "
     "interval is beyond the limit, and passes if all of it is within. Otherwise it is inconclusive, as it "
     "is when BASE and NEW are the same recording or differ in ranks, devices, work or profiler options. "
     "Record 20 or more steps, or four runs of each side (--base, --new). With --history, BASE is a folder "
     "of earlier recordings: NEW (without it, the newest in the folder) is compared with those since the "
     "last change, and the trend is printed with its change points.",
     kGateFlags, kGateExamples, run_gate},
    {"list", "list the analyses and what each answers", "",
     "Lists every analysis of `show` and `export`, by the question it helps to answer.", kListFlags,
     kListExamples, run_list},
    {"validate", "check how much of each file can be read", "TRACE...",
     "Reads the files and reports what is damaged, cut off or missing. Exits with 1 if anything is. Also "
     "says "
     "where a file is no strict JSON: these commands read it, other readers refuse it.",
     kValidateFlags, kValidateExamples, run_validate},
    {"export", "write events or an analysis as CSV, JSON, SQLite or .pfw", "TRACE... -o FILE",
     "Writes every event with all its args, or one analysis, for other tools. SQLite holds everything: "
     "events, args, tracks, ranks, steps and a table for each table of each analysis. A memory snapshot, "
     "whatever its form, becomes a pickle that PyTorch's memory_viz opens; --since and --until make it "
     "smaller. A .pfw or .pfw.gz, for DFTracer's analysers, has the calls on files, the ranges that the "
     "program marked, and the operators that no other operator calls.",
     kExportFlags, kExportExamples, run_export},
    {"merge", "put ranks, and other profilers' recordings, on one time line", "TRACE... -o FILE", kMergeAbout,
     kMergeFlags, kMergeExamples, run_merge},
    {"merge_trace", "the same as merge", "--inputs TRACE... --output FILE", kMergeAbout, kMergeFlags,
     kMergeExamples, run_merge, true},
    {"overlay", "draw the critical path and counters into a copy of a trace, for Perfetto", "TRACE -o FILE",
     "Writes a copy of one file. Events on the critical path get the arg critical=1, arrows follow the path "
     "(launches, dependencies, waits), and the queue length of each stream and the rate of copies become "
     "counters. Events keep their text and their order. Every command gives the same answers for the copy as "
     "for the original, unless --only-critical dropped events. For several ranks, overlay each rank's file "
     "and merge the copies; merge also makes a .pftrace of them. The copy is streamed.",
     kOverlayFlags, kOverlayExamples, run_overlay},
    {"sql", "run SQL on a trace", "TRACE... 'SELECT ...'",
     "Loads the tables that the query names into SQLite in memory and runs the query. Analyses are tables "
     "too. The view kernel has each kernel with its op and its launch, ranks the sums of each rank. "
     "Functions "
     "beside SQLite's own: median(x), percentile(x, p), stddev(x), regexp(pattern, text). Several queries, "
     "with ; between them, print a table each. Columns that end in _ns or _bytes are printed with units; "
     "start_ns and end_ns are points in time and stay unchanged.",
     kSqlFlags, kSqlExamples, run_sql},
    {"serve", "show recordings as a page, on this machine", "PATH...",
     "Answers a page on this machine and prints its address. A file is a run; a folder that holds the ranks "
     "of "
     "a job is a run; in any other folder, each file is a run. Folders are watched: new runs appear, and a "
     "file that changed is read anew. What was computed is kept, so that the next question is answered at "
     "once. Only this machine's programs can reach the port, and only who has the token in the address is "
     "answered. Files are read, never written. On another machine, forward the port with `ssh -L`.",
     kServeFlags, kServeExamples, run_serve},
    {"completion",
     "print a completion script for bash, zsh or fish",
     "SHELL",
     "Prints a script that completes commands, analyses, flags and file names.",
     {},
     kCompletionExamples,
     run_completion},
    {"man",
     "print the manual page",
     "",
     "Prints the manual page: `stepscope man | man -l -`.",
     {},
     {},
     run_man},
    {"docs", "print pages of the documentation", "analyses|advice|commands", "", {}, {}, run_docs, true},
};

}  // namespace

std::span<const Command> commands() { return kCommands; }

const Command* find_command(std::string_view name) {
  for (const Command& command : commands())
    if (command.name == name) return &command;
  return nullptr;
}

std::vector<std::string> command_names() {
  std::vector<std::string> names;
  for (const Command& command : commands())
    if (!command.hidden) names.emplace_back(command.name);
  return names;
}

std::vector<std::string> analysis_names() {
  std::vector<std::string> names;
  for (const analyze::Analysis& analysis : advise::all_analyses()) names.emplace_back(analysis.name);
  return names;
}

std::vector<Flag> flags_of(const Command& command, const analyze::Analysis* analysis) {
  std::vector<Flag> flags;
  if (command.run == run_show) {
    if (analysis != nullptr)
      for (const ParamSpec& spec : analysis->params) flags.push_back({spec});
    for (const ParamSpec& spec : report::common_params())
      flags.push_back({spec, 0, spec.name == "step" ? "STEP" : spec.name == "sort" ? "COLUMN" : ""});
  }
  flags.insert(flags.end(), command.flags.begin(), command.flags.end());
  return flags;
}

}  // namespace stepscope::cli
