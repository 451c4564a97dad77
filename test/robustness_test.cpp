// Cuts and damages traces of many versions and vendors at many places: there is never a crash and never an
// empty success, and every complete event before the damage is kept. Neither the order of the events in a
// file nor the number of threads changes an answer. Large files are tested in excerpts, and whole a few times
// (STEPSCOPE_WHOLE).
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <random>

#include "bench/mutate.h"
#include "read/blocks.h"
#include "read/json_text.h"
#include "support/check_timeline.h"
#include "support/check_trace.h"
#include "support/events_in.h"
#include "support/open_text.h"
#include "support/traces.h"

namespace stepscope {
namespace {

namespace fs = std::filesystem;

using test::events_in;
using test::Span;
using test::text_of;

/// How many times a sweep runs: from the environment, or `usual`.
std::size_t times(const char* variable, std::size_t usual) {
  const char* text = std::getenv(variable);
  return text != nullptr ? std::strtoul(text, nullptr, 10) : usual;
}

/// All recorded files, and the shipped ones small enough for many sweeps; only one rank per job.
std::vector<std::string> trace_files() {
  std::vector<std::string> files = test::recorded_traces();
  for (const std::string& path : test::shipped_traces())
    if (fs::file_size(path) < 45'000 && path.find("/rank1") == std::string::npos &&
        path.find("/rank2") == std::string::npos)
      files.push_back(path);
  return files;
}

/// A recorded file: its text, and the position of each event in it.
struct Recorded {
  std::string text;
  std::vector<Span> events;

  /// The document with only the events [first, last) in it.
  std::string part(std::size_t first, std::size_t last) const {
    if (first >= last) return text;
    std::string out = text.substr(0, events.front().begin);
    out.append(text, events[first].begin, events[last - 1].end - events[first].begin);
    const std::size_t rest = events.back().end;
    if (text.size() - rest < 4000) return out.append(text, rest);
    return out.append(text.front() == '[' ? "]" : "]}");
  }
  /// About `bytes` of the text, from anywhere; all of it if it has at most twice as many.
  std::string excerpt(std::size_t bytes, bench::Dice& dice) const {
    if (text.size() <= 2 * bytes) return text;
    const std::size_t first = dice.below(events.size());
    std::size_t last = first;
    while (last < events.size() && events[last].end - events[first].begin < bytes) ++last;
    return part(first, std::max(last, first + 1));
  }
};

/// The identity of a row without the ids of one Trace: finds rows of a whole text again in a damaged one.
using Event = std::tuple<std::uint32_t, std::int64_t, std::int64_t, std::string>;

/// Rows of the first `count` entries of the event list, except begin and end events, which need a partner.
std::vector<Event> first_rows(const trace::Trace& trace, std::size_t count) {
  const trace::Rank& rank = trace.ranks.at(0);
  std::vector<Event> rows;
  for (trace::Row row = 0; row < rank.events.size(); ++row)
    if (rank.events.source[row] < count)
      rows.emplace_back(rank.events.source[row], rank.events.start[row], rank.events.end[row],
                        std::string(trace.name(rank, row)) + ' ' + test::dump_args(trace, rank, row));
  std::sort(rows.begin(), rows.end());
  return rows;
}

std::size_t complete_before(const std::vector<Span>& events, std::size_t cut) {
  std::size_t count = 0;
  while (count < events.size() && events[count].end <= cut) ++count;
  return count;
}

/// Small blocks: a sweep of small texts should not spend its time clearing large ones.
constexpr test::ReadAs kSmall = {1, {16'384, std::size_t{1} << 26}};

class Robustness : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    stored_ = test::bytes_of(GetParam());
    recorded_.text = text_of(stored_);
    recorded_.events = events_in(recorded_.text);
    ASSERT_GT(recorded_.events.size(), 0u);
  }
  /// An excerpt with a timed event: some stretches are all names and arrows.
  std::string readable_excerpt(std::size_t bytes, bench::Dice& dice) const {
    std::string text = recorded_.excerpt(bytes, dice);
    for (int i = 0; i < 100 && !test::open_text(text, kSmall).ok(); ++i)
      text = recorded_.excerpt(bytes, dice);
    return text;
  }
  std::string stored_;
  Recorded recorded_;
};

/// Reads a text that is undamaged up to `good` bytes and checks that the answer has all complete events
/// there.
void expect_kept(std::string_view damaged, std::size_t good, const std::vector<Span>& events,
                 const trace::Trace& whole, bool with_analyses) {
  const std::size_t complete = complete_before(events, good);
  const std::vector<Event> expected = first_rows(whole, complete);
  const auto trace = test::open_text(damaged, kSmall);
  if (!trace.ok()) {
    EXPECT_TRUE(expected.empty()) << trace.error().text();
    EXPECT_FALSE(trace.error().message.empty());
    return;
  }
  test::check_trace(*trace);
  if (with_analyses) test::check_analyses(*trace);
  if (with_analyses) test::check_timeline(*trace);
  EXPECT_GE(trace->ranks[0].reading.events, static_cast<std::int64_t>(complete));
  EXPECT_EQ(first_rows(*trace, complete), expected);
}

TEST_P(Robustness, ACutAnywhereKeepsEveryCompleteEvent) {
  bench::Dice dice(1);
  const std::size_t cuts = times("STEPSCOPE_CUTS", 200);
  for (std::size_t i = 0; i < cuts && !HasFailure();) {
    const std::string text = readable_excerpt(20'000, dice);
    const auto whole = test::open_text(text, kSmall);
    ASSERT_TRUE(whole.ok());
    const std::vector<Span> events = events_in(text);
    for (std::size_t k = 0; k < 10 && i < cuts; ++k, ++i) {
      const std::size_t cut = dice.below(text.size());
      SCOPED_TRACE(testing::Message() << "cut at " << cut << " of an excerpt of " << text.size());
      expect_kept(std::string_view(text).substr(0, cut), cut, events, *whole, k == 0);
      if (complete_before(events, cut) == 0) continue;
      const std::string zipped = test::gzip(text);
      const auto cut_zip =
          test::open_text(std::string_view(zipped).substr(0, zipped.size() * cut / text.size()), kSmall);
      if (!cut_zip.ok()) continue;
      EXPECT_GE(cut_zip->ranks[0].reading.losses, 1);
      const std::size_t complete =
          complete_before(events, static_cast<std::size_t>(cut_zip->ranks[0].reading.text_bytes));
      EXPECT_EQ(first_rows(*cut_zip, complete), first_rows(*whole, complete));
    }
  }
}

TEST_P(Robustness, TheWholeFileCutKeepsEveryCompleteEvent) {
  bench::Dice dice(2);
  for (std::size_t i = 0; i < times("STEPSCOPE_WHOLE", 2); ++i) {
    const std::size_t cut = dice.below(recorded_.text.size());
    const auto text = test::open_text(std::string_view(recorded_.text).substr(0, cut), {2, {}});
    const std::size_t complete = complete_before(recorded_.events, cut);
    ASSERT_EQ(text.ok() ? text->ranks[0].reading.events : 0, static_cast<std::int64_t>(complete))
        << "cut at " << cut;
    if (text.ok()) test::check_trace(*text);
    const std::string_view zipped = std::string_view(stored_).substr(0, dice.below(stored_.size()));
    if (const auto trace = test::open_text(zipped, {2, {}}); trace.ok()) {
      test::check_trace(*trace);
      const trace::Reading& reading = trace->ranks[0].reading;
      EXPECT_FALSE(reading.complete);
      EXPECT_EQ(reading.events, static_cast<std::int64_t>(complete_before(
                                    recorded_.events, static_cast<std::size_t>(reading.text_bytes))));
    }
  }
}

TEST_P(Robustness, MutantsNeverCrashAndKeepWhatIsBeforeTheDamage) {
  bench::Dice dice(3);
  const std::size_t mutants = times("STEPSCOPE_MUTANTS", 2000);
  for (std::size_t i = 0; i < mutants && !HasFailure();) {
    const std::string text = readable_excerpt(6'000, dice);
    const auto whole = test::open_text(text, kSmall);
    ASSERT_TRUE(whole.ok());
    const std::vector<Span> events = events_in(text);
    for (std::size_t k = 0; k < 20 && i < mutants; ++k, ++i) {
      const bench::Mutant mutant = bench::mutate(text, i);
      SCOPED_TRACE(testing::Message() << "mutant " << i);
      const auto first =
          std::mismatch(text.begin(), text.end(), mutant.bytes.begin(), mutant.bytes.end()).first;
      const auto good = static_cast<std::size_t>(first - text.begin());
      expect_kept(mutant.bytes, good, events, *whole, k == 0);
    }
  }
}

/// Every row with all that was recorded and derived, without its position in the file.
std::string dump_without_places(const trace::Trace& trace) {
  const trace::Rank& rank = trace.ranks.at(0);
  const trace::EventTable& e = rank.events;
  std::string out;
  for (trace::Row row = 0; row < e.size(); ++row)
    out += test::dump_row(trace, rank, row) +
           fmt::format(" {} {} {} {} {} {} {} {}\n", trace.text(e.category[row]), e.parent[row], e.depth[row],
                       e.launch[row], e.op[row], e.step[row], static_cast<int>(e.work[row]),
                       rank.tracks[e.track[row]].name);
  for (const trace::Step& s : rank.steps)
    out += fmt::format("{} {} {} {} {}\n", s.number, s.name, s.start, s.end, s.device_end);
  return out;
}

void expect_equal_lines(const std::string& a, const std::string& b) {
  if (a == b) return;
  const auto at =
      static_cast<std::size_t>(std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first - a.begin());
  const std::size_t line = a.rfind('\n', at) == std::string::npos ? 0 : a.rfind('\n', at) + 1;
  ADD_FAILURE() << "first difference:\n" << a.substr(line, 600) << "\nand\n" << b.substr(line, 600);
}

TEST_P(Robustness, TheOrderOfTheEventsChangesNothing) {
  bench::Dice dice(4);
  const std::string text = recorded_.excerpt(1'500'000, dice);
  std::mt19937_64 random(5);
  const std::string other = test::shuffled(text, events_in(text), random);
  const auto a = test::open_text(text), b = test::open_text(other);
  ASSERT_TRUE(a.ok() && b.ok());
  expect_equal_lines(dump_without_places(*a), dump_without_places(*b));
  EXPECT_EQ(test::dump_answers(*a), test::dump_answers(*b));
}

TEST_P(Robustness, TheNumberOfThreadsChangesNothing) {
  bench::Dice dice(6);
  const std::string text = recorded_.excerpt(1'500'000, dice);
  const auto one = test::open_text(text);
  ASSERT_TRUE(one.ok());
  const std::string expected = test::dump(*one), answers = test::dump_answers(*one);
  for (unsigned threads : {2u, 3u, 8u}) {
    const auto several = test::open_text(text, {threads, {50'000, std::size_t{1} << 26}});
    ASSERT_TRUE(several.ok());
    expect_equal_lines(expected, test::dump(*several));
    if (threads == 3) {
      EXPECT_EQ(answers, test::dump_answers(*several));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Traces, Robustness, testing::ValuesIn(trace_files()), [](const auto& param) {
  const fs::path file = param.param;
  std::string name = file.parent_path().filename().string() + "_" + file.filename().string();
  for (char& c : name)
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
  return name;
});

}  // namespace
}  // namespace stepscope
