#include "report/text/text.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "made_reports.h"
#include "report/text/parts.h"
#include "report/utf8.h"

namespace stepscope::report {
namespace {

std::string file_text(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

/// Compares with test/golden/text/<name>.txt. STEPSCOPE_UPDATE=1 writes the file instead; look at it before
/// committing.
void expect_golden(const std::string& name, const std::string& text) {
  const std::string path = std::string(STEPSCOPE_ROOT "/test/golden/text/") + name + ".txt";
  if (std::getenv("STEPSCOPE_UPDATE") != nullptr) std::ofstream(path, std::ios::binary) << text;
  EXPECT_EQ(text, file_text(path)) << path;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

std::vector<Report> made_reports() {
  return {test::made_kernels(), test::made_steps(), test::made_modules(),
          test::made_memory(),  test::made_ranks(), test::made_flame()};
}

TEST(Text, WhatIsCutEndsWithAClause) {
  using Lines = std::vector<std::string>;
  EXPECT_EQ(first_clauses("one two three: four five", 16, 1), Lines{"one two three …"});
  EXPECT_EQ(first_clauses("one two three: four five", 16, 2), (Lines{"one two three:", "four five"}));
  EXPECT_EQ(first_clauses("slow links, or a late rank", 14, 1), Lines{"slow links, …"});
  EXPECT_EQ(first_clauses("one: two three four five", 14, 1), Lines{"one: two …"});  // else mostly empty
}

TEST(Text, GoldensAtThreeWidths) {
  for (const int width : {60, 80, 120}) {
    for (const Report& report : made_reports())
      expect_golden(fmt::format("{}.{}", report.name, width), to_text(report, {width, false, 0}));
    expect_golden(fmt::format("verdict.{}", width), to_text(test::made_verdict(), {width, false, 0}));
    expect_golden(fmt::format("page.{}", width), to_text(test::made_page(), {width, false, 0}));
  }
}

TEST(Text, NothingIsWiderThanTheTerminal) {
  const Page page = test::made_page();
  for (int width = 40; width <= 200; width += 3) {
    std::vector<std::string> texts = {to_text(page, {width, false, 0}),
                                      to_text(*page.verdict, {width, false, 0})};
    for (const Report& report : made_reports()) texts.push_back(to_text(report, {width, false, 0}));
    for (const std::string& text : texts)
      for (const std::string& line : lines_of(text)) EXPECT_LE(cells_of(line), width) << line;
  }
}

TEST(Text, WhatToDoIsNeverCut) {
  Page page = test::made_page();
  std::string remedy;
  for (int i = 0; i < 60; ++i) remedy += "word" + std::to_string(i) + " ";
  page.verdict->findings[0].remedy = remedy;
  for (const int width : {40, 60, 80})
    EXPECT_NE(to_text(page, {width, false, 0}).find("word59"), std::string::npos) << width;
}

TEST(Text, WhatIsBrokenOffEndsBehindAWord) {
  Page page = test::made_page();
  std::string evidence;
  for (int i = 100; i < 200; ++i) evidence += "word" + std::to_string(i) + " ";
  page.verdict->findings[0].evidence = {{"", evidence}};
  for (int width = 40; width <= 60; ++width) {
    const std::string text = to_text(page, {width, false, 40});
    const std::size_t end = text.find(" …\n", text.find("word100"));
    ASSERT_NE(end, std::string::npos) << width;
    EXPECT_EQ(text.substr(end - 7, 4), "word") << width;
  }
}

TEST(Text, AnExpressionOfAQueryKeepsItsName) {
  Table table{"", Shape::table, {}};
  table.ints("sum(duration_ns)", Unit::count) = {7};
  EXPECT_NE(to_text(Report{"sql", {std::move(table)}, {}}, {80, false, 0}).find("sum(duration_ns)"),
            std::string::npos);
}

TEST(Text, LongCommandsGoOnBehindABackslash) {
  const Page page{"", {}, {"stepscope show steps /a/long/path/to/a/trace.json.gz 'with a/space' -o x.csv"}};
  EXPECT_EQ(to_text(page, {50, false, 0}),
            "\nnext  stepscope show steps \\\n        /a/long/path/to/a/trace.json.gz \\\n"
            "        'with a/space' -o x.csv\n");
}

TEST(Text, ANumberKeepsItsUnit) {
  EXPECT_EQ(wrapped("it takes 47.3 % of it", 13), (std::vector<std::string>{"it takes", "47.3 % of it"}));
  EXPECT_EQ(wrapped("all 858 µs, then", 10), (std::vector<std::string>{"all", "858 µs,", "then"}));
  EXPECT_EQ(wrapped("step 7 is slow", 7), (std::vector<std::string>{"step 7", "is slow"}));
}

TEST(Text, NoLineEndsInSpaces) {
  for (const Report& report : made_reports())
    for (const std::string& line : lines_of(to_text(report, {80, false, 0})))
      EXPECT_FALSE(line.ends_with(' ')) << line;
}

TEST(Text, NamesCannotReachTheTerminal) {
  for (const bool colour : {false, true}) {
    std::string text = to_text(test::made_kernels(), {120, colour, 0});
    EXPECT_EQ(text.find('\x07'), std::string::npos);
    EXPECT_EQ(text.find("\x1b]"), std::string::npos);
    EXPECT_EQ(text.find("\x1b[31m"), std::string::npos);
    EXPECT_EQ(text.find('\xFF'), std::string::npos);
  }
}

TEST(Text, ColourOnlyWhenAsked) {
  EXPECT_EQ(to_text(test::made_page(), {80, false, 0}).find('\x1b'), std::string::npos);
  const std::string coloured = to_text(test::made_page(), {80, true, 0});
  EXPECT_NE(coloured.find("\x1b[1m"), std::string::npos);
  std::string plain;
  for (std::size_t at = 0; at < coloured.size(); ++at) {
    if (coloured[at] == '\x1b')
      at = coloured.find('m', at);
    else
      plain += coloured[at];
  }
  EXPECT_EQ(plain, to_text(test::made_page(), {80, false, 0}));
}

TEST(Text, LongTablesSayWhatIsLeftOut) {
  Table table{"Long", Shape::table, {}};
  auto& name = table.texts("name");
  for (int i = 0; i < 1500; ++i) name.push_back("row " + std::to_string(i));
  const std::string text = to_text(Report{"long", {std::move(table)}, {}}, {80, false, 40});
  EXPECT_EQ(lines_of(text).size(), 1u + 2 + 40 + 1);
  EXPECT_NE(text.find("+ 1,460 more rows; --top 0 shows all"), std::string::npos);
}

TEST(Text, EmptyAndOddTablesPrint) {
  Report report{
      "odd", {Table{"No columns", Shape::bars, {}}, Table{"No rows", Shape::curve, {}}}, {"only a note"}};
  report.tables[1].ints("x", Unit::ns, Role::key) = {};
  EXPECT_EQ(to_text(report, {80, false, 0}),
            "No columns\n  no rows\n\nNo rows\n  no rows\n\n! only a note\n");
}

TEST(Text, FirstScreenFitsEightyByForty) {
  EXPECT_LE(lines_of(to_text(test::made_page(), {80, false, 40})).size(), 40u);
}

// The verdict, the findings and the health of the recording fit on one screen; why and how are below.
TEST(Text, TheVerdictFitsEightyByTwentyFour) {
  Page page = test::made_page();
  const Finding first = page.verdict->findings[0];
  for (const std::size_t findings : {0u, 1u, 3u, 20u}) {
    page.verdict->findings.assign(findings, first);
    for (std::size_t i = 0; i < findings; ++i) page.verdict->findings[i].id = static_cast<RuleId>(i);
    const std::string text = to_text(page, {80, false, 40});
    const std::vector<std::string> lines = lines_of(text.substr(0, text.find("\nHow and why")));
    EXPECT_LE(lines.size(), findings > 0 ? 24u : lines.size()) << text;
    EXPECT_NE(text.substr(0, text.find("\nHow and why")).find("! Q01"), std::string::npos) << text;
  }
}

// Spare lines of the screen show what to do, for the first finding first. A tall screen shows it for all
// findings, and their titles in full.
TEST(Text, TheFirstScreenSaysWhatToDo) {
  Page page = test::made_page();
  const auto screen = [&](int height) {
    const std::string text = to_text(page, {80, false, 40, height});
    return text.substr(0, text.find("\nHow and why"));
  };
  const auto remedies = [](const std::string& text) {
    std::size_t count = 0;
    for (std::size_t at = 0; (at = text.find("→ ", at)) != text.npos; ++at) ++count;
    return count;
  };
  EXPECT_GE(remedies(screen(24)), 1u) << screen(24);
  EXPECT_EQ(remedies(screen(60)), page.verdict->findings.size()) << screen(60);
  EXPECT_EQ(screen(60), screen(400));
}

TEST(Text, HostileDepthsAreBounded) {
  Table table{"Deep", Shape::tree, {}};
  auto& name = table.texts("name");
  auto& depth = table.ints("depth", Unit::none, Role::depth);
  for (int i = 0; i < 3000; ++i) {
    name.push_back("f");
    depth.push_back(i % 7 == 0 ? kNoInt : i * 1000000LL);
  }
  depth[5] = -4;
  const std::string text = to_text(Report{"deep", {std::move(table)}, {}}, {80, false, 0});
  for (const std::string& line : lines_of(text)) EXPECT_LE(cells_of(line), 80) << line;
}

}  // namespace
}  // namespace stepscope::report
