#include "report/formats/json.h"

#include <gtest/gtest.h>
#include <simdjson.h>

#include "report/utf8.h"

namespace stepscope::report {
namespace {

Report two_rows() {
  Report report{"kernels", {}, {"2 kernels had no name"}};
  Table table{"Kernels", Shape::bars, {}};
  table.texts("name") = {"gemm \"tn\"", ""};
  table.ints("total", Unit::ns) = {9007199254740993, kNoInt};
  table.reals("share", Unit::share, Role::share) = {0.1, kNoReal};
  report.tables.push_back(std::move(table));
  return report;
}

TEST(Json, ExactBytes) {
  EXPECT_EQ(to_json(two_rows()),
            R"({"report":"kernels","tables":[{"title":"Kernels","shape":"bars","columns":[)"
            R"({"name":"name","unit":"","role":"key"},{"name":"total","unit":"ns","role":"value"},)"
            R"({"name":"share","unit":"share","role":"share"}],"rows":[)"
            "\n"
            R"(["gemm \"tn\"",9007199254740993,0.1],)"
            "\n"
            R"([null,null,null]]}],"notes":["2 kernels had no name"]})"
            "\n");
}

TEST(Json, SeveralReportsAreOneObject) {
  const Report both[] = {two_rows(), Report{"empty", {}, {}}};
  simdjson::dom::parser parser;
  const std::string text = to_json(both);
  const simdjson::dom::element root = parser.parse(text);
  EXPECT_EQ(root["reports"].get_array().size(), 2u);
  EXPECT_EQ(std::string_view(root["reports"].at(1)["report"]), "empty");
  EXPECT_EQ(root["reports"].at(1)["tables"].get_array().size(), 0u);
}

TEST(Json, RealsSurviveTheRoundTrip) {
  Report report{"r", {Table{}}, {}};
  const Reals values = {0.1,
                        1.0 / 3,
                        1e300,
                        5e-324,
                        -0.0,
                        123456789.125,
                        std::numeric_limits<double>::infinity(),
                        -std::numeric_limits<double>::infinity()};
  report.tables[0].reals("x", Unit::none) = values;
  simdjson::dom::parser parser;
  const std::string text = to_json(report);
  const simdjson::dom::element root = parser.parse(text);
  const simdjson::dom::array rows = root["tables"].at(0)["rows"];
  for (std::size_t i = 0; i < 6; ++i) EXPECT_EQ(double(rows.at(i).at(0)), values[i]);
  EXPECT_TRUE(rows.at(6).at(0).is_null());
  EXPECT_TRUE(rows.at(7).at(0).is_null());
}

TEST(Json, EveryByteIsEscapedOrReplaced) {
  std::string every;
  for (int byte = 0; byte < 256; ++byte) every += static_cast<char>(byte);
  every += "\xE2\x80\xA8 \xF0\x9F\x98\x80 \xC2\x9B";
  simdjson::dom::parser parser;
  const std::string text = json_text(every);
  for (const char c : text) EXPECT_GE(static_cast<unsigned char>(c), 0x20);
  const simdjson::dom::element root = parser.parse(text);
  EXPECT_EQ(std::string_view(root), valid_utf8(every));
  EXPECT_EQ(text.find('\x7f'), std::string::npos);
  EXPECT_NE(text.find("\\u009b"), std::string::npos);
}

}  // namespace
}  // namespace stepscope::report
