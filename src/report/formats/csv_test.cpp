#include "report/formats/csv.h"

#include <gtest/gtest.h>

namespace stepscope::report {
namespace {

TEST(Csv, QuotesWhatNeedsQuotes) {
  Table table{"t", Shape::table, {}};
  table.texts("name") = {"plain", "a,b", "say \"hi\"", "two\nlines", "", "\xFF"};
  table.ints("n", Unit::count) = {1, 2, 3, 4, kNoInt, 6};
  EXPECT_EQ(to_csv(table),
            "name,n\r\nplain,1\r\n\"a,b\",2\r\n\"say \"\"hi\"\"\",3\r\n\"two\nlines\",4\r\n,\r\n�,6\r\n");
}

// A terminal would obey an escape sequence, a lone carriage return and a bidirectional mark.
TEST(Csv, ControlCharactersAreReplaced) {
  Table table{"t", Shape::table, {}};
  table.texts("a\x1b") = {"\x1b[31mred", "a\tb", "a\r\nb", "a\rb", "\u202Eb", std::string("\0", 1)};
  EXPECT_EQ(to_csv(table),
            "a\uFFFD\r\n\uFFFD[31mred\r\na\tb\r\n\"a\r\nb\"\r\na\uFFFDb\r\n\uFFFDb\r\n\uFFFD\r\n");
}

TEST(Csv, SeveralTablesHaveTitles) {
  Report report{"kernels", {Table{"Kernels", Shape::table, {}}}, {}};
  report.tables[0].texts("name") = {"gemm \"tn\"", ""};
  report.tables[0].ints("total", Unit::ns) = {9007199254740993, kNoInt};
  report.tables[0].reals("share", Unit::share, Role::share) = {0.1, kNoReal};
  report.tables.push_back(Table{"Other\ntitle", Shape::table, {}});
  report.tables[1].texts("k") = {"", "# no title"};
  EXPECT_EQ(to_csv(report),
            "# Kernels\r\nname,total,share\r\n\"gemm \"\"tn\"\"\",9007199254740993,0.1\r\n,,\r\n"
            "\r\n# Other title\r\nk\r\n\"\"\r\n\"# no title\"\r\n");
}

}  // namespace
}  // namespace stepscope::report
