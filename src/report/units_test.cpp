#include "report/units.h"

#include <gtest/gtest.h>
#include <simdjson.h>

namespace stepscope::report {
namespace {

Unit unit_named(std::string_view name) {
  for (int i = 0; i <= static_cast<int>(Unit::flop_per_byte); ++i)
    if (name_of(static_cast<Unit>(i)) == name) return static_cast<Unit>(i);
  ADD_FAILURE() << "no unit " << name;
  return Unit::none;
}

TEST(Units, GoldenCases) {
  simdjson::dom::parser parser;
  simdjson::dom::array cases;
  ASSERT_EQ(parser.load(STEPSCOPE_ROOT "/test/golden/units.json").get_array().get(cases), simdjson::SUCCESS);
  int seen = 0;
  for (const simdjson::dom::element one : cases) {
    const Unit unit = unit_named(std::string_view(one["unit"]));
    const std::string_view text = one["text"];
    const bool whole = one["value"].is_int64();
    const std::string got = whole ? format_value(one["value"].get_int64().value(), unit)
                                  : format_value(one["value"].get_double().value(), unit);
    EXPECT_EQ(got, text) << simdjson::minify(one);
    ++seen;
  }
  EXPECT_GT(seen, 50);
}

TEST(Units, WholeAndRealValuesAgreeAboveTheBaseUnit) {
  for (const Unit unit : {Unit::ns, Unit::bytes, Unit::flop})
    for (std::int64_t value = 2048; value < std::int64_t{1} << 60; value = value * 3 + 1)
      EXPECT_EQ(format_value(value, unit), format_value(static_cast<double>(value), unit)) << value;
}

TEST(Units, AbsentValuesAreEmpty) {
  EXPECT_EQ(format_value(kNoInt, Unit::ns), "");
  EXPECT_EQ(format_value(kNoReal, Unit::share), "");
  EXPECT_EQ(format_value(std::numeric_limits<double>::infinity(), Unit::flop_per_s), "");
}

TEST(Units, EstimatesHaveTwoDigits) {
  EXPECT_EQ(format_rough(59300000, Unit::ns), "59 ms");
  EXPECT_EQ(format_rough(8740000, Unit::ns), "8.7 ms");
  EXPECT_EQ(format_rough(70000000, Unit::ns), "70 ms");
  EXPECT_EQ(format_rough(996000, Unit::ns), "1 ms");
  EXPECT_EQ(format_rough(178100000, Unit::ns), "180 ms");
  EXPECT_EQ(format_rough(0.3456, Unit::share), "35 %");
  EXPECT_EQ(format_rough(0, Unit::ns), "0 ns");
  EXPECT_EQ(format_rough(kNoReal, Unit::ns), "");
}

TEST(Units, ExtremesStayShort) {
  for (const Unit unit : {Unit::none, Unit::count, Unit::ns, Unit::bytes, Unit::share, Unit::flop,
                          Unit::flop_per_s, Unit::bytes_per_s, Unit::flop_per_byte}) {
    for (const double value : {1e300, -1e300, 1e-300, 5e-324, 1.7e308})
      EXPECT_LE(format_value(value, unit).size(), 24u);
    EXPECT_LE(format_value(std::numeric_limits<std::int64_t>::max(), unit).size(), 24u);
    EXPECT_LE(format_value(kNoInt + 1, unit).size(), 24u);
  }
}

TEST(Units, ColumnsShareOneScale) {
  Table table;
  table.ints("total", Unit::ns) = {59300000, 4100000, 812000, kNoInt, 0};
  EXPECT_EQ(format_cells(table.columns[0]),
            (std::vector<std::string>{"59.30 ms", "4.10 ms", "0.81 ms", "", "0.00 ms"}));
  table.ints("close", Unit::ns) = {178100000, 167000000, 188000000};
  EXPECT_EQ(format_cells(table.columns[1]), (std::vector<std::string>{"178 ms", "167 ms", "188 ms"}));
  table.ints("facts", Unit::ns) = {1066000000, 12000000, 177000000};
  EXPECT_EQ(format_cells(table.columns[2]), (std::vector<std::string>{"1.066 s", "0.012 s", "0.177 s"}));
}

TEST(Units, WideColumnsKeepOneUnit) {
  Table table;
  table.ints("total", Unit::ns) = {2500000000, 59300000, 950, 0};
  EXPECT_EQ(format_cells(table.columns[0]),
            (std::vector<std::string>{"2.500 s", "0.059 s", "<0.001 s", "0.000 s"}));
  table.ints("self", Unit::ns) = {2152000, 30000, -7000, 400};
  EXPECT_EQ(format_cells(table.columns[1]),
            (std::vector<std::string>{"2.152 ms", "0.030 ms", "-0.007 ms", "<0.001 ms"}));
  table.reals("rate", Unit::flop_per_s) = {182e12, 2.04e9, 480e9};
  EXPECT_EQ(format_cells(table.columns[2]),
            (std::vector<std::string>{"182.0 TFLOP/s", "<0.1 TFLOP/s", "0.5 TFLOP/s"}));
  table.ints("held", Unit::bytes) = {80LL << 20, 512};
  EXPECT_EQ(format_cells(table.columns[3]), (std::vector<std::string>{"80.00 MiB", "<0.01 MiB"}));
  table.ints("short", Unit::ns) = {950, 7};
  EXPECT_EQ(format_cells(table.columns[4]), (std::vector<std::string>{"950 ns", "7 ns"}));
}

TEST(Units, WhatIsBelowZeroAndVanishesIsAboveItsBound) {
  Table table;
  table.ints("offset", Unit::ns) = {2500000000, -950, 950, -2500000000};
  EXPECT_EQ(format_cells(table.columns[0]),
            (std::vector<std::string>{"2.500 s", ">-0.001 s", "<0.001 s", "-2.500 s"}));
  table.reals("share", Unit::share) = {-0.0001, 0.0001, -0.5};
  EXPECT_EQ(format_cells(table.columns[1]), (std::vector<std::string>{">-0.1 %", "<0.1 %", "-50.0 %"}));
  EXPECT_EQ(format_value(-0.00001, Unit::share), ">-0.01 %");
}

TEST(Units, CountsInColumnsAreWrittenInFull) {
  Table table;
  table.ints("calls", Unit::count) = {12, 12345678, 1};
  EXPECT_EQ(format_cells(table.columns[0]), (std::vector<std::string>{"12", "12,345,678", "1"}));
}

TEST(Units, SharesAlignOnOneDecimal) {
  Table table;
  table.reals("share", Unit::share, Role::share) = {1, 0.123, 0.0001, 0, kNoReal};
  EXPECT_EQ(format_cells(table.columns[0]),
            (std::vector<std::string>{"100.0 %", "12.3 %", "<0.1 %", "0.0 %", ""}));
}

TEST(Units, AChangeHasTheUnitOfWhatItIsTheDifferenceOf) {
  Table table{"", Shape::table, {}};
  table.ints("bytes_a", Unit::bytes) = {950 << 20, 0};
  table.ints("bytes_b", Unit::bytes) = {1100 << 20, 51 << 20};
  table.ints("bytes_change", Unit::bytes, Role::change) = {150 << 20, 51 << 20};
  const auto cells = format_cells(table);
  EXPECT_EQ(cells[0], (std::vector<std::string>{"0.928 GiB", "0.000 GiB"}));
  EXPECT_EQ(cells[1], (std::vector<std::string>{"1.074 GiB", "0.050 GiB"}));
  EXPECT_EQ(cells[2], (std::vector<std::string>{"+0.146 GiB", "+0.050 GiB"}));
}

}  // namespace
}  // namespace stepscope::report
