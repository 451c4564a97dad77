#include "serve/file/report_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <map>
#include <optional>
#include <set>

#include "advise/analyses.h"
#include "advise/ask.h"
#include "advise/listed_analyses.h"
#include "advise/page.h"
#include "base/parallel.h"
#include "base/text.h"
#include "report/formats/json.h"
#include "report/html/html.h"
#include "report/units.h"
#include "serve/ascii.h"
#include "serve/asked.h"
#include "serve/assets.h"
#include "serve/file/file_events.h"
#include "serve/find_runs.h"
#include "serve/open_run.h"
#include "serve/runs.h"

namespace stepscope::serve {
namespace {

constexpr std::string_view kRun = "runs/0/";
constexpr std::size_t kMaxDetails = 2'000;             // events with args, stack and links
constexpr std::size_t kMaxPaths = 6;                   // critical paths
constexpr std::size_t kMaxEventsOfPaths = 20'000'000;  // walked for all of them, unless one path takes more
constexpr std::int64_t kFrame = 6'000;                 // characters of the elements around it all, at most
constexpr std::int64_t kMaxLooked = 4'000'000'000;     // events, on the way to all of these

std::int64_t size_of_text(std::string_view text) { return static_cast<std::int64_t>(text.size()); }

std::string count_words(std::size_t count) {
  return report::format_value(static_cast<std::int64_t>(count), report::Unit::count);
}

/// Answers by their addresses below api/.
class Answers {
 public:
  void add(std::string address, std::string json) { all_.emplace_back(std::move(address), std::move(json)); }
  /// {"ADDRESS": ANSWER, …}
  std::string json() const {
    std::string out = "{";
    for (const auto& [address, answer] : all_) {
      if (out.size() > 1) out += ",\n";
      out.append(json_text(address)) += ':';
      out += answer;
    }
    return out + "}";
  }

 private:
  std::vector<std::pair<std::string, std::string>> all_;
};

/// "?step=2-3", of the options that are given among `names`.
std::string query_of(const report::Params& params, std::initializer_list<std::string_view> names) {
  std::string query;
  for (const std::string_view name : names)
    if (params.has(name)) query += fmt::format("{}{}={}", query.empty() ? "?" : "&", name, params.text(name));
  return query;
}

/// What a command repeats; "TRACE" if it cannot.
std::string words_of(const std::vector<std::string>& paths) {
  constexpr std::string_view kNotPlain = " \t\n'\"`$\\;&|<>()*?[]{}!#~";
  std::string words;
  for (const std::string& path : paths) {
    if (path == "-" || path.find_first_of(kNotPlain) != path.npos) return "TRACE";
    words += (words.empty() ? "" : " ") + path;
  }
  return words;
}

FoundRun run_of(const trace::Trace& trace, const std::vector<std::string>& paths) {
  FoundRun run;
  for (const trace::Rank& rank : trace.ranks)
    if (std::ranges::find(run.files, rank.path) == run.files.end()) run.files.push_back(rank.path);
  run.name = std::filesystem::path(paths.empty() || paths.front() == "-" ? run.files.front() : paths.front())
                 .lexically_normal()
                 .filename()
                 .string();
  if (run.name.empty()) run.name = "recording";
  if (auto stamp = stamp_of(run.files)) run.stamp = std::move(*stamp);
  if (run.stamp.hash.empty()) run.stamp.hash = "00000000";
  return run;
}

/// Of each step of each rank; of the whole recording of a rank without steps.
std::vector<std::string> path_addresses(const trace::Trace& trace) {
  std::vector<std::string> addresses;
  for (const trace::Rank& rank : trace.ranks) {
    const std::string of_rank = fmt::format("path?rank={}&step=", lanes::number_of(rank));
    const std::size_t before = addresses.size();
    for (const trace::Step& step : rank.steps)
      if (step.counts()) addresses.push_back(fmt::format("{}{}", of_rank, step.number));
    if (addresses.size() == before) addresses.push_back(of_rank);
  }
  return addresses;
}

class ReportFile {
 public:
  ReportFile(const trace::Trace& trace, const ReportFileOptions& options)
      : trace_(trace), options_(options), redaction_(options.redaction) {
    if (redaction_.hosts) redaction_.host_names = host_names_of(trace);
    if (redaction_.paths) redaction_.folders = folders_of(trace, options.paths);
  }

  void take(report::Page page) {
    answers_.add("runs", list_of(run_of(trace_, options_.paths)));
    answers_.add("analyses", report::to_json(advise::listed_analyses()));
    add(fmt::format("report{}", query_of(options_.params, {"step", "top"})), report::to_json(page.reports));
    page_ = std::move(page);
    redaction_.redact(page_);
  }

  /// What needs the events: further analyses, the findings' rules, the timeline.
  void take(const OpenRun& run) {
    add_reports(run);
    add_timeline(run);
  }

  /// A sentence about what the file leaves out.
  void say(std::string sentence) { left_out_.push_back(std::move(sentence)); }

  std::string html() {
    report::Live live;
    for (const EmbeddedFile& file : embedded_files()) {
      if (file.name == "app.js") live.script = file.bytes;
      if (file.name == "app.css") live.style = file.bytes;
    }
    live.notes = left_out_;
    live.blocks = std::move(blocks_);
    live.blocks.insert(live.blocks.begin(), packed("answers", document()));
    return report::to_html(page_, live);
  }

 private:
  void add(const std::string& address, std::string json) {
    answers_.add(std::string(kRun) + address, std::move(json));
  }

  /// Whether the page holds what `show` answers, which may say more.
  bool is_in_page(const analyze::Analysis& analysis) const {
    const analyze::Analysis* in_report = analyze::find(analysis.name);
    return in_report != nullptr && in_report->run == analysis.run &&
           std::ranges::find(page_.reports, analysis.name, &report::Report::name) != page_.reports.end();
  }

  void add_reports(const OpenRun& run) {
    const std::string query = query_of(options_.params, {"step", "top"});
    std::vector<std::string> addresses;
    for (const analyze::Analysis& analysis : advise::all_analyses())
      if (analyze::answers_alone(analysis) && !is_in_page(analysis))
        addresses.push_back(fmt::format("show/{}{}", analysis.name, query));
    std::set<std::string_view> rules;
    if (page_.verdict)
      for (const report::Finding& finding : page_.verdict->findings) rules.insert(name_of(finding.id));
    for (const std::string_view rule : rules)
      addresses.push_back(fmt::format("explain/{}{}", rule, query_of(options_.params, {"step"})));
    std::vector<std::optional<std::string>> answers(addresses.size());
    parallel_for(addresses.size(), thread_count(options_.threads), [&](std::size_t i) {
      try {
        answers[i] = answer_at(run, addresses[i]);
      } catch (const Refusal&) {  // the page is told so, too
      }
    });
    for (std::size_t i = 0; i < addresses.size(); ++i)
      if (answers[i]) add(addresses[i], std::move(*answers[i]));
  }

  void add_timeline(const OpenRun& run) {
    const lanes::Timeline& timeline = run.timeline();
    const lanes::Recorded recorded = timeline.recorded();
    Answers own;
    own.add(fmt::format("{}timeline", kRun), timeline.summary());
    for (std::int64_t block = 0; auto names = timeline.names(block); ++block)
      own.add(fmt::format("{}names/{}", kRun, block), std::move(*names));
    report::Block basis = packed("timeline", redaction_.json(own.json()));
    std::int64_t left = options_.max_size - size_of_text(report::to_html(page_)) - size_of_assets() -
                        size_of_text(packed("", document()).base64) - kFrame;
    left -= size_of_text(basis.base64);
    if (left < 0) return leave_out_timeline();
    report::Block details = packed("details", details_of(run, recorded, left / 4));
    left -= size_of_text(details.base64);
    report::Block drawn = packed("drawn", drawn_of(run, recorded, left / 8));
    left -= size_of_text(drawn.base64);
    FileEvents events = file_events(timeline, recorded, left);
    for (const report::Block& block : events.blocks) left -= size_of_text(block.base64);
    if (left < 0) return leave_out_timeline();
    blocks_.push_back(std::move(basis));
    blocks_.push_back(std::move(details));
    blocks_.push_back(std::move(drawn));
    legend_ = timeline_legend(events, recorded);
    say_left_out(events, recorded);
    std::ranges::move(events.blocks, std::back_inserter(blocks_));
  }

  void leave_out_timeline() {
    left_out_.push_back("Its timeline is left out, as the report alone takes nearly all of --max-size.");
  }

  static std::int64_t size_of_assets() {
    std::int64_t size = 0;
    for (const EmbeddedFile& file : embedded_files()) size += size_of_text(file.bytes);
    return size;
  }

  /// Answers about single events, within a budget of characters; about a tenth of the JSON is left by
  /// deflate.
  std::string details_of(const OpenRun& run, const lanes::Recorded& recorded, std::int64_t budget) {
    const auto looked = std::max<std::int64_t>(1, static_cast<std::int64_t>(recorded.events()));
    const std::size_t most =
        redaction_.args ? 0
                        : static_cast<std::size_t>(std::min<std::int64_t>(kMaxDetails, kMaxLooked / looked));
    const std::vector<lanes::EventName> notable = recorded.notable(most);
    std::vector<std::string> texts(most == 0 ? 0 : notable.size());
    parallel_for(texts.size(), thread_count(options_.threads), [&](std::size_t i) {
      texts[i] = answer_at(run, fmt::format("event?rank={}&id={}", notable[i].rank, notable[i].id));
    });
    for (std::size_t count = texts.size();; count /= 2) {
      Answers details;
      for (std::size_t i = 0; i < count; ++i)
        details.add(fmt::format("{}event?rank={}&id={}", kRun, notable[i].rank, notable[i].id), texts[i]);
      std::string document = redaction_.json(details.json());
      detailed_ = count;
      if (count == 0 || size_of_text(packed("", document).base64) <= budget) return document;
    }
  }

  /// Why devices were idle and the critical paths of the first steps, within a budget of characters.
  std::string drawn_of(const OpenRun& run, const lanes::Recorded& recorded, std::int64_t budget) {
    std::vector<std::string> addresses = path_addresses(trace_);
    const std::size_t paths = addresses.size();
    const std::size_t most = kMaxEventsOfPaths / std::max<std::size_t>(1, recorded.events());
    addresses.resize(std::min({paths, kMaxPaths, std::max<std::size_t>(1, most)}));
    addresses.insert(addresses.begin(), "idle");
    Answers drawn;
    std::string document = "{}";
    std::size_t held = 0;
    for (const std::string& address : addresses) {
      drawn.add(fmt::format("{}{}", kRun, address), answer_at(run, address));
      std::string longer = drawn.json();
      if (size_of_text(packed("", longer).base64) > budget) break;
      document = std::move(longer);
      ++held;
    }
    if (held <= paths)
      left_out_.push_back(fmt::format("Its timeline draws {} of {} critical paths.",
                                      count_words(held == 0 ? 0 : held - 1), count_words(paths)));
    return document;
  }

  void say_left_out(const FileEvents& events, const lanes::Recorded& recorded) {
    const std::size_t all = recorded.events();
    lanes::Time exact = 0;
    for (const timeline::Interval& span : events.exact) exact += span.length();
    if (exact < recorded.end())
      left_out_.push_back(fmt::format(
          "Its timeline has {} of {} events, those of {} of {}; the rest is drawn from coarse tiles, as all "
          "do not fit into --max-size.",
          count_words(events.events), count_words(all), report::format_value(exact, report::Unit::ns),
          report::format_value(recorded.end(), report::Unit::ns)));
    if (redaction_.args)
      left_out_.push_back("Args, stacks and links of events are left out.");
    else if (detailed_ < all)
      left_out_.push_back(
          fmt::format("Args, stacks and links are those of the {} longest events.", count_words(detailed_)));
  }

  std::string timeline_legend(const FileEvents& events, const lanes::Recorded& recorded) const {
    std::string spans;
    for (const timeline::Interval& span : events.exact)
      spans += fmt::format("{}[{},{}]", spans.empty() ? "" : ",", span.begin, span.end);
    return fmt::format(R"(,"exact":[{}],"coarse":[{},{}],"counters":[{},{}],{})", spans, events.coarse.finest,
                       events.coarse.coarsest, events.counters.finest, events.counters.coarsest,
                       recorded.legend());
  }

  /// What the page reads first.
  std::string document() const {
    std::string given, notes;
    for (const char* name : {"step", "top"})
      if (options_.params.has(name))
        given +=
            fmt::format("{}\"{}\":{}", given.empty() ? "" : ",", name, json_text(options_.params.text(name)));
    for (const std::string& note : left_out_) notes += (notes.empty() ? "" : ",") + json_text(note);
    return redaction_.json(fmt::format(R"({{"file":{{"options":{{{}}},"trace":{},"left_out":[{}]{}}},
"answers":{}}})",
                                       given, json_text(words_of(options_.paths)), notes, legend_,
                                       answers_.json()));
  }

  const trace::Trace& trace_;
  const ReportFileOptions& options_;
  Redaction redaction_;
  report::Page page_;
  Answers answers_;
  std::string legend_;  ///< further members of "file"
  std::vector<report::Block> blocks_;
  std::vector<std::string> left_out_;  ///< sentences
  std::size_t detailed_ = 0;
};

}  // namespace

std::string report_file(const std::shared_ptr<const trace::Trace>& trace, const ReportFileOptions& options) {
  const OpenRun run(trace, options.paths);
  ReportFile file(*trace, options);
  file.take(
      advise::page_of(*run.derived(options.params), {options.params, options.threads, options.paths, true}));
  file.take(run);
  return file.html();
}

std::string report_file(report::Page page, const trace::Trace& heads, const ReportFileOptions& options) {
  ReportFile file(heads, options);
  file.take(std::move(page));
  file.say("It has no timeline, as its ranks were read one by one.");
  return file.html();
}

Result<std::int64_t> size_of(std::string_view text) {
  struct Suffix {
    std::string_view name;
    double bytes;
  };
  constexpr Suffix kSuffixes[] = {{"", 1},
                                  {"b", 1},
                                  {"kb", 1e3},
                                  {"mb", 1e6},
                                  {"gb", 1e9},
                                  {"kib", 1024.0},
                                  {"mib", 1024 * 1024.0},
                                  {"gib", 1024 * 1024 * 1024.0}};
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const std::string suffix = lower(trimmed(text.substr(static_cast<std::size_t>(end - text.data()))));
  const auto* known = std::ranges::find(kSuffixes, suffix, &Suffix::name);
  constexpr double kMost = 1e15;
  if (error != std::errc{} || known == std::end(kSuffixes) || !(number >= 0) || number * known->bytes > kMost)
    return Error{fmt::format("'{}' is not a size; write e.g. 20MB, 500kB or 1.5MiB", text), "", -1};
  return static_cast<std::int64_t>(number * known->bytes);
}

}  // namespace stepscope::serve
