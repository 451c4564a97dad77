#include "report/html/html.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "made_reports.h"
#include "report/text/text.h"

namespace stepscope::report {
namespace {

Page everything() {
  Page page = test::made_page();
  page.verdict->several = true;
  for (Report report : {test::made_kernels(), test::made_steps(), test::made_modules(), test::made_memory(),
                        test::made_ranks(), test::made_flame()})
    page.reports.push_back(std::move(report));
  return page;
}

/// Every opened element is closed, in order; attributes are quoted. True for what this printer writes.
std::string unbalanced(const std::string& html) {
  std::vector<std::string> open;
  for (std::size_t at = html.find("<html"); at != std::string::npos; at = html.find('<', at + 1)) {
    const std::size_t end = html.find('>', at);
    if (end == std::string::npos) return "unclosed tag";
    const bool closes = html[at + 1] == '/';
    const std::size_t from = at + (closes ? 2 : 1);
    const std::string name = html.substr(from, html.find_first_of(" >/", from) - from);
    if (closes) {
      if (open.empty() || open.back() != name) return "wrong </" + name + "> at " + html.substr(at, 60);
      open.pop_back();
    } else if (html[end - 1] != '/' && name != "meta") {
      open.push_back(name);
    }
  }
  return open.empty() ? "" : "left open: " + open.back();
}

TEST(Html, IsSelfContained) {
  const std::string html = to_html(everything());
  EXPECT_TRUE(html.starts_with("<!doctype html>"));
  EXPECT_NE(html.find("default-src 'none'"), std::string::npos);
  for (const char* reference :
       {"http://", "https://", "src=", "@import", "<script", "<link", "<img", "<iframe", "onload="})
    EXPECT_EQ(html.find(reference), std::string::npos) << reference;
  for (std::size_t at = html.find("url("); at != std::string::npos; at = html.find("url(", at + 1))
    EXPECT_EQ(html.substr(at, 11), "url(#hatch-");
}

TEST(Html, IsBalanced) {
  EXPECT_EQ(unbalanced(to_html(everything())), "");
  EXPECT_EQ(unbalanced(to_html(test::made_kernels())), "");
  EXPECT_EQ(unbalanced(to_html(Report{"empty", {}, {}})), "");
}

TEST(Html, AFragmentKeepsItsStylesAndIdsToItself) {
  const std::string html = to_html_fragment(everything());
  EXPECT_TRUE(html.starts_with("<div class=\"stepscope-"));
  const std::string name = html.substr(12, 26);
  EXPECT_TRUE(html.starts_with(fmt::format("<div class=\"{0}\">\n<style>.{0}.{0}.{0}{{", name)));
  for (const char* loose : {":root", "\nbody{", "<html", "<meta", "url(#h", "href=\"#f", "id=\"h"})
    EXPECT_EQ(html.find(loose), std::string::npos) << loose;
  EXPECT_NE(html.find(fmt::format("<a href=\"#{}-finding-1\">", name)), std::string::npos);
  EXPECT_NE(html.find(fmt::format("id=\"{}-finding-1\"", name)), std::string::npos);
  EXPECT_EQ(html, to_html_fragment(everything()));
  EXPECT_EQ(unbalanced("<html>" + to_html_fragment(test::made_kernels()) + "</html>"), "");
}

TEST(Html, OfAComparisonTheHeadlineIsATitleAndTheTablesFollow) {
  Report report = test::made_kernels();
  const std::string title = report.tables[0].title;
  Table headline{"The headline", Shape::table, {}};
  headline.texts("headline", Role::value) = {"B is faster"};
  report.tables.insert(report.tables.begin(), headline);
  report.notes = {"A has no marks."};
  const std::string html = to_html(report, nullptr, "B is faster");
  EXPECT_NE(html.find("<h1>B is faster</h1>"), std::string::npos);
  EXPECT_EQ(html.find("The headline"), std::string::npos);
  EXPECT_NE(html.find("<h3>" + title + "</h3>"), std::string::npos);
  EXPECT_NE(html.find("<details class=\"section\" open>"), std::string::npos);
  const std::size_t note = html.find("A has no marks.");  // above the tables, once
  EXPECT_LT(note, html.find("<h3>"));
  EXPECT_EQ(html.find("A has no marks.", note + 1), std::string::npos);
  EXPECT_EQ(unbalanced(html), "");
  EXPECT_EQ(to_text(report, {}, "B is faster").find("The headline"), std::string::npos);
}

TEST(Html, EscapesNames) {
  Report report = test::made_kernels();
  report.name = report.tables[0].title = "\"><script>alert(1)</script>";
  report.notes = {"<b>note</b>"};
  report.tables[0].columns[0].name = "<i>";
  const std::string html = to_html(report);
  EXPECT_EQ(html.find("<script"), std::string::npos);
  EXPECT_EQ(html.find("<i>"), std::string::npos);
  EXPECT_EQ(html.find("<b>note"), std::string::npos);
  EXPECT_NE(html.find("&lt;b&gt;note&lt;/b&gt;"), std::string::npos);
  EXPECT_NE(html.find("&quot;&gt;&lt;script&gt;"), std::string::npos);
  EXPECT_EQ(html.find('\x1b'), std::string::npos);
  EXPECT_EQ(html.find('\xFF'), std::string::npos);
}

TEST(Html, SaysTheVerdictFirstAndEveryFinding) {
  const std::string html = to_html(everything());
  EXPECT_NE(html.find("<h1>Host-bound: the device idles 43 % of each 178 ms step"), std::string::npos);
  EXPECT_NE(html.find("saves 35–59 ms per step"), std::string::npos);
  EXPECT_NE(html.find("saves up to 8.7 ms per step"), std::string::npos);
  EXPECT_NE(html.find("Ranks 0 and 1: The file ends early. Affects every total. Let the job finish."),
            std::string::npos);
  EXPECT_LT(html.find("<h1>"), html.find("What to change"));
  EXPECT_LT(html.find("What to change"), html.find("<h3>Kernels"));
}

TEST(Html, FindingsComeBeforeTheContents) {
  const std::string html = to_html(everything());
  const std::size_t contents = html.find("<nav");
  ASSERT_NE(contents, std::string::npos);
  for (const char* first : {"<h1>", "Average step", "What to change", "cannot tell"})
    EXPECT_LT(html.find(first), contents) << first;
  EXPECT_LT(html.find("<a href=\"#finding-1\">"), html.find("id=\"finding-1\""));
  EXPECT_LT(html.find("<a href=\"#health\">"), html.find("id=\"health\""));
  EXPECT_EQ(html.find("<a href=\"#of-"), html.find("<a href=", contents));
}

TEST(Html, EvidenceLeadsToItsSection) {
  Page page = everything();
  page.verdict->findings[0].evidence = {{"kernels", "by time"}, {"absent", "nowhere"}};
  const std::string html = to_html(page);
  EXPECT_NE(html.find("<dd><a href=\"#of-kernels\">kernels</a>: by time; absent: nowhere</dd>"),
            std::string::npos);
  const std::size_t section = html.find("<div id=\"of-kernels\">");
  ASSERT_NE(section, std::string::npos);
  EXPECT_EQ(html.substr(html.rfind("<details", section), 30), "<details class=\"section\" open>");
}

TEST(Html, LongAndEmptySectionsAreFolded) {
  Table few{"Few", Shape::table, {}}, many{"Many", Shape::table, {}}, none{"None", Shape::table, {}};
  few.texts("name") = {"a"};
  many.texts("name") = Texts(200, "b");
  none.texts("name") = {};
  const std::string html = to_html(
      Page{"p",
           {{"few", {few}, {"A note of few."}}, {"many", {many}, {}}, {"none", {none}, {"Not recorded."}}},
           {}});
  EXPECT_NE(html.find("<details class=\"section\" open>\n<summary><h2>few</h2>"), std::string::npos);
  EXPECT_NE(html.find("<details class=\"section\">\n<summary><h2>many</h2>"), std::string::npos);
  EXPECT_NE(html.find("<h2>none</h2><i>nothing recorded</i>"), std::string::npos);
  // A note is beside its table, not at the top.
  EXPECT_LT(html.find("<h3>Few"), html.find("A note of few."));
  EXPECT_LT(html.find("A note of few."), html.find("<h2>many"));
  EXPECT_EQ(html.find("class=\"warning\""), std::string::npos);
}

TEST(Html, APartLooksTheSameInEveryChart) {
  Table reversed{"Reversed", Shape::bars, {}};
  reversed.texts("role") = {"memset", "memcpy", "kernel"};
  reversed.ints("time", Unit::ns) = {1, 1, 2};
  reversed.reals("share", Unit::share, Role::share) = {.25, .25, .5};
  const std::string html = to_html(Report{"r", {std::move(reversed)}, {}});
  for (const char* look : {"\"fill box\"", "\"copy box\"", "\"compute box\""})
    EXPECT_NE(html.find(look), std::string::npos) << look;
}

TEST(Html, EveryPictureHasAName) {
  const std::string html = to_html(everything());
  int pictures = 0;
  for (std::size_t at = html.find("<svg"); at != std::string::npos; at = html.find("<svg", at + 1)) {
    const std::string tag = html.substr(at, html.find('>', at) - at);
    EXPECT_TRUE(
        tag.find("aria-hidden=\"true\"") != std::string::npos ||
        (tag.find("role=\"img\"") != std::string::npos && tag.find("aria-label=\"") != std::string::npos))
        << tag;
    ++pictures;
  }
  EXPECT_GT(pictures, 6);
}

// Two ranks of three steps each: the steps are drawn once, as one bar per rank if the page has their average
// steps.
TEST(Html, RanksAreComparedByOneBarEach) {
  Table ranks{"Average step of each rank", Shape::bars, {}};
  ranks.ints("rank", Unit::none, Tag::rank) = {0, 1};
  ranks.ints("compute", Unit::ns, Tag::part) = {6000000, 9000000};
  ranks.ints("wait", Unit::ns, Tag::part) = {4000000, 1000000};
  ranks.ints("total", Unit::ns, Tag::whole) = {10000000, 10000000};
  Page page{"", {test::made_steps()}, {}};
  EXPECT_NE(to_html(page).find("<h3>Step time by what the time went to</h3>\n<svg"), std::string::npos);
  page.reports.push_back({"stragglers", {std::move(ranks)}, {}});
  const std::string html = to_html(page);
  EXPECT_EQ(html.find("<h3>Step time by what the time went to</h3>\n<svg"), std::string::npos);
  EXPECT_NE(html.find("<title>rank 0: wait 4.00 ms of 10.0 ms</title>"), std::string::npos);
  // The parts of rank 0 are side by side, above those of rank 1: 824 wide, 64 from the left.
  EXPECT_NE(html.find(R"(x="64.00" y="1.0" width="494.40")"), std::string::npos);
  EXPECT_NE(html.find(R"(x="558.40" y="1.0" width="329.60")"), std::string::npos);
  EXPECT_NE(html.find(R"(x="64.00" y="21.0" width="741.60")"), std::string::npos);
}

TEST(Html, HostileNumbersStayInsideTheirPictures) {
  Page page{"odd", {}, {}};
  Table stack{"Stack", Shape::bars, {}};
  stack.texts("step") = {"1", "2"};
  stack.ints("kernel", Unit::ns, Tag::part) = {std::numeric_limits<std::int64_t>::max(), -5};
  stack.ints("memcpy", Unit::ns, Tag::part) = {std::numeric_limits<std::int64_t>::max(), kNoInt};
  Table curve{"Curve", Shape::curve, {}};
  curve.ints("time", Unit::ns, Role::key) = {kNoInt, 5, 5};
  curve.reals("y", Unit::none) = {1, 1.7e308, -1.7e308};
  Table flame{"Flame", Shape::flame, {}};
  flame.texts("f") = {"a", "b", "c"};
  flame.ints("depth", Unit::none, Role::depth) = {1000000, -3, 5};
  flame.ints("time", Unit::ns) = {10, 5, 1000000};
  page.reports.push_back({"odd", {std::move(stack), std::move(curve), std::move(flame)}, {}});
  const std::string html = to_html(page);
  EXPECT_EQ(unbalanced(html), "");
  EXPECT_EQ(html.find("nan"), std::string::npos);
  EXPECT_EQ(html.find("inf\""), std::string::npos);
}

}  // namespace
}  // namespace stepscope::report
