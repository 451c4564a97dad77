// The flags of the commands.
#pragma once

#include "cli/commands.h"
#include "compare/answer.h"
#include "report/params.h"

namespace stepscope::cli {

using ParamType = report::ParamSpec::Type;

inline constexpr Flag kFormat = {{"format", ParamType::choice, "text", "text|csv|json|html", "how to print"},
                                 'f'};
inline constexpr Flag kShowFormat = {{"format", ParamType::choice, "text", "text|csv|json|html|folded",
                                      "how to print; folded: the stacks of a flame graph"},
                                     'f'};
inline constexpr Flag kOutput = {{"output", ParamType::text, "", "",
                                  "write to FILE; its ending (.html, .json, .csv, .txt) chooses the format"},
                                 'o',
                                 "FILE"};
inline constexpr Flag kThreads = {
    {"threads", ParamType::integer, "0", "", "use at most N threads; 0 uses all"}, 'j'};
inline constexpr Flag kRun = {{"run", ParamType::integer, "0", "",
                               "of several runs in a folder, read the N-th; 0 reads the newest whole one"}};
inline constexpr Flag kStep = {
    {"step", ParamType::steps, "", "", "only this step, or a range: 7, 5-8"}, 0, "STEP"};
inline constexpr Flag kTop = {
    {"top", ParamType::integer, "", "", "keep the first N rows of each table except curves; 0 keeps all"}};
inline constexpr Flag kWhat = {{"what", ParamType::text, "events", "",
                                "'events', a table that `stepscope sql` lists, or the name of an analysis"},
                               0,
                               "NAME"};
inline constexpr Flag kExportFormat = {{"format", ParamType::choice, "", "csv|json|sqlite|pickle|pfw",
                                        "what to write; by default, the ending of FILE decides"},
                                       'f'};
inline constexpr Flag kExportSince = {
    {"since", ParamType::text, "", "",
     "of a snapshot as a pickle: only events after this instant: start, peak, oom, or an event's number"},
    0,
    "INSTANT"};
inline constexpr Flag kExportUntil = {
    {"until", ParamType::text, "", "", "only events up to this instant, and the segments as they were then"},
    0,
    "INSTANT"};
inline constexpr Flag kMergeOutput = {
    {"output", ParamType::text, "", "", "write to FILE; it ends in .json.gz, .json or .pftrace"},
    'o',
    "FILE"};
inline constexpr Flag kOverlayOutput = {
    {"output", ParamType::text, "", "", "write to FILE; it ends in .json.gz or .json"}, 'o', "FILE"};
inline constexpr Flag kOverlayWhat = {
    {"what", ParamType::texts, "", "",
     "critical_path, queue_length or memory_bandwidth; may be given several times "
     "(default: all three)"},
    0,
    "NAME"};
inline constexpr Flag kAnnotation = {
    {"annotation", ParamType::text, "ProfilerStep", "",
     "the path of the range whose name contains this text; 'all': of the whole recording"}};
inline constexpr Flag kInstance = {
    {"instance", ParamType::steps, "0", "", "index of the range, from 0; 2-4 takes ranges 2 to 4"}};
inline constexpr Flag kAllEdges = {
    {"all-edges", ParamType::flag, "", "", "draw every edge found, not only those on the path"}};
inline constexpr Flag kOnlyCritical = {
    {"only-critical", ParamType::flag, "", "",
     "drop events off the path that have a duration, except annotations and "
     "Python frames"}};
inline constexpr Flag kInputs = {
    {"inputs", ParamType::texts, "", "", "a file to merge, like a plain argument"}, 0, "FILE"};
inline constexpr Flag kNoAlign = {
    {"no-align", ParamType::flag, "", "", "keep the clocks as they were recorded"}};
inline constexpr Flag kAllRuns = {
    {"all-runs", ParamType::flag, "", "", "merge files of other runs and other times, too"}};
inline constexpr Flag kStrict = {
    {"strict", ParamType::flag, "", "", "also exit with 1 if other readers refuse a file's text"}};
inline constexpr Flag kTables = {{"tables", ParamType::flag, "", "", "list the tables and their columns"}};

inline constexpr Flag kScale = {
    {"scale", ParamType::texts, "", "", "WHAT=FACTOR, e.g. comm=0; may be given several times"},
    0,
    "WHAT=FACTOR"};

inline constexpr Flag kByRank = {
    {"by-rank", ParamType::flag, "", "",
     "read the ranks' files one by one, twice, to save memory (default above 1 GB of text); skips the "
     "replay of all ranks together (whatif, the cost of a straggler)"}};

inline constexpr Flag kSkip = {compare::kSkip, 0, "N"};

inline constexpr Flag kDiffWhat = {compare::kWhat, 0, "NAME"};
inline constexpr Flag kFailOn = {
    {"fail-on", ParamType::texts, "", "",
     "METRIC>LIMIT, e.g. 'step.total>5%'; may be given several times (default: step.total>5%)"},
    0,
    "METRIC>LIMIT"};
inline constexpr Flag kAllowNoise = {{"allow-noise", ParamType::percentage, "0", "",
                                      "pass an undecided metric that can exceed its limit by at most this"}};
inline constexpr Flag kBase = {
    {"base", ParamType::texts, "", "", "one more recording of BASE; may be given several times"}, 0, "TRACE"};
inline constexpr Flag kNew = {
    {"new", ParamType::texts, "", "", "one more recording of NEW; may be given several times"}, 0, "TRACE"};
inline constexpr Flag kHistory = {
    {"history", ParamType::text, "", "",
     "a folder of earlier recordings instead of BASE: each file or folder in it is one"},
    0,
    "DIR"};
inline constexpr Flag kGateFormat = {
    {"format", ParamType::choice, "text", "text|csv|json|html|markdown|junit", "how to print"}, 'f'};

inline constexpr Flag kFolder = {{"output", ParamType::text, "", "",
                                  "record into this folder, which is created (default: stepscope-DATE)"},
                                 'o',
                                 "DIR"};
inline constexpr Flag kRecordedSteps = {
    {"steps", ParamType::text, "", "",
     "record these steps, e.g. 10:15 for the five steps 10 to 14 (default: "
     "everything); a step ends at optimizer.step()"},
    0,
    "FIRST:END"};
inline constexpr Flag kStacks = {
    {"stacks", ParamType::choice, "sampled", "sampled|calls|none",
     "record Python: up to 100 samples a second, or each call, which costs more"}};
inline constexpr Flag kMemory = {
    {"memory", ParamType::flag, "", "", "record what PyTorch allocates and frees"}};
inline constexpr Flag kMemoryHistory = {
    {"memory-history", ParamType::flag, "", "",
     "also write snapshots of the device's memory: at the end, at new peaks, when an allocation fails"}};
inline constexpr Flag kShapes = {
    {"shapes", ParamType::choice, "cheap", "cheap|all|none",
     "record types and shapes of ops' inputs: where that costs more than 1 % of the "
     "time, now and then; always; never"}};
inline constexpr Flag kMegabytes = {
    {"megabytes", ParamType::integer, "256", "", "record at most N MiB a process; see --keep"}};
inline constexpr Flag kKeep = {
    {"keep", ParamType::choice, "oldest", "oldest|newest",
     "what stays when the recording is full: the oldest events, and later ones are "
     "dropped and counted; or the newest, which replace the oldest"}};

inline constexpr Flag kNextSteps = {
    {"steps", ParamType::integer, "", "", "record the next N steps; a step ends at optimizer.step()"},
    0,
    "N"};
inline constexpr Flag kSeconds = {
    {"seconds", ParamType::integer, "", "", "record for at most S seconds"}, 0, "S"};

inline constexpr Flag kFindings = {
    {"finding", ParamType::texts, "", "",
     "try only what answers these rules, e.g. I01,H03 (default: all that the report "
     "finds)"},
    0,
    "ID,..."};
inline constexpr Flag kAll = {
    {"all", ParamType::flag, "", "", "try every change that applies, asked for or not"}};
inline constexpr Flag kTrialSteps = {
    {"steps", ParamType::integer, "", "", "try each change for at most N steps"}, 0, "N"};
inline constexpr Flag kTrialSeconds = {
    {"seconds", ParamType::integer, "60", "", "try each change for about S seconds at most"}, 0, "S"};
inline constexpr Flag kEnd = {{"end", ParamType::flag, "", "",
                               "end the program after the trials; without it, it goes on to its own end"}};
inline constexpr Flag kTrialFormat = {{"format", ParamType::choice, "text", "text|json",
                                       "how to print; with json, the program prints to standard error"},
                                      'f'};
inline constexpr Flag kTrialOutput = {{"output", ParamType::text, "", "", "write to FILE"}, 'o', "FILE"};

inline constexpr Flag kPort = {{"port", ParamType::integer, "0", "", "listen at port N; 0 takes a free one"}};
inline constexpr Flag kBind = {{"bind", ParamType::text, "", "",
                                "listen at this IP address instead of the loopback; nothing is encrypted"},
                               0,
                               "ADDRESS"};
inline constexpr Flag kAllowHost = {
    {"allow-host", ParamType::texts, "", "",
     "answer under this name, too, e.g. that of a proxy, or localhost:8080 where ssh "
     "forwards that port; may be given several times"},
    0,
    "NAME"};
inline constexpr Flag kBasePath = {
    {"base", ParamType::text, "/", "", "the path of the page, behind a proxy that passes it on"}, 0, "PATH"};
inline constexpr Flag kSourceRoot = {
    {"source-root", ParamType::text, "", "", "show source lines of files below this folder (default: none)"},
    0,
    "DIR"};
inline constexpr Flag kNoToken = {
    {"no-token", ParamType::flag, "", "", "answer every program and user of this machine; not with --bind"}};
inline constexpr Flag kEmbed = {{"embed", ParamType::flag, "", "",
                                 "for a program that shows the page in a frame of its own origin: allows "
                                 "that frame, and ends with the end "
                                 "of standard input"}};
inline constexpr Flag kOpenBrowser = {{"open", ParamType::flag, "", "", "open the page with xdg-open"}};
inline constexpr Flag kVerbose = {
    {"verbose", ParamType::flag, "", "", "print each request on standard error"}};

inline constexpr Flag kServeFlags[] = {kPort,    kBind,  kAllowHost,   kBasePath, kSourceRoot,
                                       kNoToken, kEmbed, kOpenBrowser, kVerbose};
inline constexpr Flag kTryFlags[] = {kFindings, kAll,         kTrialSteps, kTrialSeconds,
                                     kEnd,      kTrialFormat, kTrialOutput};
inline constexpr Flag kTuneFlags[] = {
    {{"workers", ParamType::text, "", "",
      "try these counts of workers (default: 0, 1, 2, 4 ... up to the cores)"},
     0,
     "N,..."},
    {{"drop-last", ParamType::flag, "", "", "also try drop_last, which changes which data is used"}},
    {{"steps", ParamType::integer, "4", "", "give each copy at least N steps in its turn"}, 0, "N"},
    {{"seconds", ParamType::integer, "30", "", "compare two settings for about S seconds at most"}, 0, "S"},
    {{"total", ParamType::integer, "600", "", "begin no new comparison after S seconds"}, 0, "S"},
    {{"format", ParamType::choice, "text", "text|json", "how to print"}, 'f'},
    {{"output", ParamType::text, "", "",
      "write to FILE; a name with .svg gets the picture, one with .html the picture and the table"},
     'o',
     "FILE"}};
inline constexpr Flag kInject = {
    {"inject", ParamType::flag, "", "",
     "where no process listens, make it do so with the debugger gdb, on any Python; this "
     "stops the program for seconds, and in rare cases hangs or ends it"}};
inline constexpr Flag kAttachFlags[] = {kFolder, kNextSteps, kSeconds, kStacks, kMemory,
                                        kShapes, kMegabytes, kKeep,    kInject};
inline constexpr Flag kIo = {{"io", ParamType::flag, "", "",
                              "also record the file I/O of the program and of all that it starts, Python or "
                              "not: each call with its file, "
                              "offset, size and result"}};
inline constexpr Flag kIoInclude = {{"io-include", ParamType::text, "", "",
                                     "with --io: record only files below these, e.g. /data:/checkpoints "
                                     "(default: all but those of the system, of "
                                     "libraries and of Python packages)"},
                                    0,
                                    "PATH:..."};
inline constexpr Flag kIoExclude = {{"io-exclude", ParamType::text, "", "",
                                     "with --io: leave out files below these; the longest path counts"},
                                    0,
                                    "PATH:..."};
inline constexpr Flag kRecordFlags[] = {kFolder,        kRecordedSteps, kStacks, kMemory,
                                        kMemoryHistory, kShapes,        kIo,     kIoInclude,
                                        kIoExclude,     kMegabytes,     kKeep};
inline constexpr Flag kMaxSize = {
    {"max-size", ParamType::text, "20MB", "",
     "of an HTML file: keep it below this, e.g. 500kB, 20MB, 1.5MiB; what does not fit is said in it"},
    0,
    "SIZE"};
inline constexpr Flag kRedact = {
    {"redact", ParamType::text, "", "",
     "of an HTML file: leave out paths (but their last part), hosts' names or events' args, e.g. "
     "paths,hosts,args (default: nothing)"},
    0,
    "WHAT,..."};
inline constexpr Flag kReportFlags[] = {kStep,   kTop,     kFormat, kOutput, kMaxSize,
                                        kRedact, kThreads, kRun,    kByRank};
inline constexpr Flag kShowFlags[] = {kShowFormat, kOutput, kThreads, kRun, kByRank};
inline constexpr Flag kExplainFlags[] = {kStep, kFormat, kOutput, kThreads, kRun};
inline constexpr Flag kWhatifFlags[] = {kScale, kStep, kFormat, kOutput, kThreads, kRun};
inline constexpr Flag kDiffFlags[] = {kDiffWhat, kStep, kSkip, kTop, kFormat, kOutput, kThreads};
inline constexpr Flag kGateFlags[] = {kFailOn, kAllowNoise, kBase,       kNew,    kHistory,
                                      kStep,   kSkip,       kGateFormat, kOutput, kThreads};
inline constexpr Flag kListFlags[] = {kFormat, kOutput};
inline constexpr Flag kValidateFlags[] = {kStrict, kFormat, kOutput, kThreads, kRun};
inline constexpr Flag kExportFlags[] = {kWhat,   kExportFormat, kExportSince, kExportUntil,
                                        kOutput, kThreads,      kRun};
inline constexpr Flag kMergeFlags[] = {kMergeOutput, kNoAlign, kAllRuns, kInputs, kThreads, kRun};
inline constexpr Flag kOverlayFlags[] = {kOverlayWhat,  kAnnotation,    kInstance, kAllEdges,
                                         kOnlyCritical, kOverlayOutput, kThreads};
inline constexpr Flag kSqlFlags[] = {kTables, kTop, kFormat, kOutput, kThreads, kRun};

}  // namespace stepscope::cli
