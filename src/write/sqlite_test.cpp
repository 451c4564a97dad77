#include "write/sqlite.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "made_reports.h"
#include "make_rank.h"
#include "report/formats/csv.h"
#include "write/events.h"

namespace stepscope::write {
namespace {

trace::Trace two_events() {
  return test::open_events(
      R"({"ph":"X","cat":"cpu_op","name":"aten::add","pid":1,"tid":1,"ts":1.5,"dur":2.25,)"
      R"("args":{"External id":7,"Input Dims":[[2,3]],"note":"a \"b\"","ratio":0.5}},)"
      R"({"ph":"X","cat":"cpu_op","name":"it's \u00e9","pid":1,"tid":1,"ts":10,"dur":1,"args":{}})");
}

/// The answer of the only query.
Result<Answer> only(Database& database, const std::string& query, const AskLimits& limits = {}) {
  auto answers = database.ask(query, limits);
  if (!answers) return answers.error();
  EXPECT_EQ(answers->size(), 1u);
  return std::move(answers->front());
}

Result<report::Table> asked(const trace::Trace& trace, const std::string& query) {
  auto database = Database::in_memory();
  if (!database) return database.error();
  for (const TraceTable& table : trace_tables())
    if (auto error = database->add(table.name, trace)) return *error;
  auto answer = only(*database, query);
  if (!answer) return answer.error();
  return std::move(answer->table);
}

std::string csv(const trace::Trace& trace, const std::string& query) {
  auto answer = asked(trace, query);
  return answer ? report::to_csv(*answer) : "error: " + answer.error().message;
}

TEST(Sqlite, EventsAndArgs) {
  const trace::Trace trace = two_events();
  EXPECT_EQ(csv(trace, "SELECT name, kind, duration_ns FROM event ORDER BY start_ns"),
            "name,kind,duration_ns\r\naten::add,op,2250\r\nit's é,op,1000\r\n");
  EXPECT_EQ(csv(trace, "SELECT key, value, typeof(value) AS type FROM arg ORDER BY key"),
            "key,value,type\r\nExternal id,7,integer\r\nInput Dims,\"[[2,3]]\",text\r\n"
            "note,\"a \"\"b\"\"\",text\r\nratio,0.5,real\r\n");
  EXPECT_EQ(
      csv(trace,
          "SELECT count(*) AS n FROM event JOIN track ON track.id = event.track AND track.rank = event.rank"),
      "n\r\n2\r\n");
}

TEST(Sqlite, EveryTableHasItsColumns) {
  const trace::Trace trace = two_events();
  for (const TraceTable& table : trace_tables()) {
    const auto answer = asked(trace, "SELECT * FROM \"" + std::string(table.name) + "\"");
    ASSERT_TRUE(answer.ok()) << answer.error().message;
    ASSERT_EQ(answer->columns.size(), table.columns.size());
    for (std::size_t i = 0; i < table.columns.size(); ++i)
      EXPECT_EQ(answer->columns[i].name, table.columns[i].name);
  }
}

TEST(Sqlite, ColumnsGetTypesAndUnits) {
  const auto answer = asked(two_events(),
                            "SELECT 1 AS a, 2.5 AS b, 'x' AS c, NULL AS d, 7 AS t_ns, 1.5 AS used_bytes "
                            "UNION ALL SELECT 2, 3, 4, NULL, NULL, 2");
  ASSERT_TRUE(answer.ok());
  EXPECT_TRUE(std::holds_alternative<report::Ints>(answer->columns[0].values));
  EXPECT_EQ(std::get<report::Reals>(answer->columns[1].values), (report::Reals{2.5, 3}));
  EXPECT_EQ(std::get<report::Texts>(answer->columns[2].values), (report::Texts{"x", "4"}));
  EXPECT_TRUE(answer->columns[3].missing(0));
  EXPECT_EQ(answer->columns[4].unit, report::Unit::ns);
  EXPECT_TRUE(answer->columns[4].missing(1));
  EXPECT_EQ(answer->columns[5].unit, report::Unit::bytes);
}

TEST(Sqlite, PointsInTimeAreNoLengths) {
  const auto answer =
      asked(two_events(),
            "SELECT start_ns, max(end_ns) AS last_end_ns, sum(duration_ns) AS total_ns, min(start_ns) AS "
            "time_ns, 5 AS host_time_ns FROM event");
  ASSERT_TRUE(answer.ok());
  EXPECT_EQ(answer->columns[0].unit, report::Unit::none);
  EXPECT_EQ(answer->columns[1].unit, report::Unit::none);
  EXPECT_EQ(answer->columns[2].unit, report::Unit::ns);
  EXPECT_EQ(answer->columns[3].unit, report::Unit::none);
  EXPECT_EQ(answer->columns[4].unit, report::Unit::ns);
}

TEST(Sqlite, OnlyReadingIsAllowed) {
  const trace::Trace trace = two_events();
  for (const char* query :
       {"DELETE FROM event", "INSERT INTO event(id) VALUES (1)", "DROP TABLE event", "PRAGMA user_version",
        "CREATE TABLE x(a)", "ATTACH DATABASE 'stepscope_made_by_a_query' AS x",
        "VACUUM INTO 'stepscope_made_by_a_query'", "BEGIN", "SELECT load_extension('x')",
        "SELECT fts3_tokenizer('simple')", "PRAGMA writable_schema=1", "SELECT * FROM pragma_table_list"})
    EXPECT_FALSE(asked(trace, query).ok()) << query;
  EXPECT_FALSE(std::filesystem::exists("stepscope_made_by_a_query"));
  EXPECT_FALSE(asked(trace, "SELECT 1; DROP TABLE event").ok());
  EXPECT_EQ(asked(trace, "  ").error().message, "the query is empty");
  EXPECT_EQ(asked(trace, "SELECT * FROM elsewhere").error().message, "no such table: elsewhere");
}

constexpr const char* kNumbers =
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1500) SELECT i FROM n";
constexpr const char* kEndless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) ";

TEST(Sqlite, EachQueryHasAnAnswer) {
  auto database = Database::in_memory();
  ASSERT_TRUE(database.ok());
  const auto answers = database->ask("; SELECT 1 AS a;\nSELECT ';' AS b; -- the end");
  ASSERT_TRUE(answers.ok());
  ASSERT_EQ(answers->size(), 2u);
  EXPECT_EQ(report::to_csv((*answers)[0].table), "a\r\n1\r\n");
  EXPECT_EQ(report::to_csv((*answers)[1].table), "b\r\n;\r\n");
  EXPECT_EQ(database->ask("SELECT 1; SELECT elsewhere").error().message, "no such column: elsewhere");
}

TEST(Sqlite, RowsBehindTheLimitAreCounted) {
  auto database = Database::in_memory();
  ASSERT_TRUE(database.ok());
  const auto some = only(*database, kNumbers, {.rows = 1000}), all = only(*database, kNumbers);
  ASSERT_TRUE(some.ok() && all.ok());
  EXPECT_EQ(some->table.rows(), 1000u);
  EXPECT_EQ(some->rows, 1500u);
  EXPECT_TRUE(some->all_counted);
  EXPECT_EQ(all->table.rows(), 1500u);
  const auto endless = only(*database, std::string(kEndless) + "SELECT i FROM n", {.rows = 3});
  ASSERT_TRUE(endless.ok());
  EXPECT_EQ(std::get<report::Ints>(endless->table.columns[0].values), (report::Ints{1, 2, 3}));
  EXPECT_EQ(endless->rows, 1'000'000u);
  EXPECT_FALSE(endless->all_counted);
}

TEST(Sqlite, AQueryThatNeverEndsIsStopped) {
  auto database = Database::in_memory();
  ASSERT_TRUE(database.ok());
  const auto answer = only(*database, std::string(kEndless) + "SELECT max(i) FROM n",
                           {.rows = 10, .time = std::chrono::milliseconds(200)});
  ASSERT_FALSE(answer.ok());
  EXPECT_TRUE(answer.error().message.starts_with("the query was stopped after 0.2 s;"))
      << answer.error().message;
  EXPECT_TRUE(only(*database, "SELECT 1").ok());
}

TEST(Sqlite, WholeNumbersBesideRealOnesKeepTheirDigits) {
  auto database = Database::in_memory();
  ASSERT_TRUE(database.ok());
  const auto few = only(*database, "SELECT 3 AS a UNION ALL SELECT 0.5");
  const auto many = only(*database, "SELECT 9007199254740993 AS a UNION ALL SELECT 0.5");
  ASSERT_TRUE(few.ok() && many.ok());
  EXPECT_EQ(report::to_csv(few->table), "a\r\n3\r\n0.5\r\n");
  EXPECT_EQ(report::to_csv(many->table), "a\r\n9007199254740993\r\n0.5\r\n");
}

TEST(Sqlite, EachColumnHasAName) {
  auto database = Database::in_memory();
  ASSERT_TRUE(database.ok());
  const auto named = only(*database, "SELECT 1 AS a, 2 AS a, 3 AS a_2, 4 AS a, 5 AS b_ns, 6 AS b_ns");
  ASSERT_TRUE(named.ok());
  EXPECT_EQ(report::to_csv(named->table), "a,a_3,a_2,a_4,b_ns,b_ns_2\r\n1,2,3,4,5,6\r\n");
  EXPECT_EQ(named->table.columns[5].unit, report::Unit::ns);
}

TEST(Sqlite, ReportsAreTables) {
  auto database = Database::in_memory();
  ASSERT_TRUE(database.ok());
  const report::Report steps = test::made_steps();
  ASSERT_FALSE(database->add(steps).has_value());
  EXPECT_EQ(table_name(steps, 0), "steps");
  EXPECT_EQ(table_name(steps, 1), "steps_average_step");
  auto answer = only(*database, "SELECT role, time FROM steps_average_step WHERE share > 0.3");
  ASSERT_TRUE(answer.ok());
  EXPECT_EQ(report::to_csv(answer->table), "role,time\r\nkernel,98600000\r\ndata_loader,59300000\r\n");
  auto missing =
      only(*database,
           "SELECT count(*) AS n FROM steps WHERE total = kernel + memcpy + memset + communication + "
           "runtime + data_loader + cpu_exec + other");
  ASSERT_TRUE(missing.ok());
  EXPECT_EQ(report::to_csv(missing->table), "n\r\n6\r\n");
}

class DatabaseFile : public testing::Test {
 protected:
  void SetUp() override { std::filesystem::create_directories(folder_); }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::string start() const {
    std::ifstream in(path_);
    std::string text(6, ' ');
    in.read(text.data(), 6);
    return text;
  }
  std::ptrdiff_t files() const {
    return std::distance(std::filesystem::directory_iterator(folder_), std::filesystem::directory_iterator());
  }
  std::filesystem::path folder_ =
      std::filesystem::temp_directory_path() / ("stepscope-sqlite-" + std::to_string(::getpid()));
  std::string path_ = (folder_ / "o.sqlite").string();
};

TEST_F(DatabaseFile, TakesItsNameWhenWhole) {
  std::ofstream(path_) << "before";
  std::filesystem::create_symlink("o.sqlite", folder_ / "link.sqlite");
  for (const std::string& path : {path_, (folder_ / "link.sqlite").string()}) {
    auto database = Database::create(path);
    ASSERT_TRUE(database.ok()) << database.error().message;
    EXPECT_FALSE(database->add("event", two_events()).has_value());
    EXPECT_FALSE(database->finish().has_value());
    EXPECT_EQ(start(), "SQLite");
    EXPECT_EQ(files(), 2);
    std::ofstream(path_) << "before";
  }
  EXPECT_TRUE(std::filesystem::is_symlink(folder_ / "link.sqlite"));
  EXPECT_FALSE(Database::create("/nonexistent/directory/x.sqlite").ok());
}

TEST_F(DatabaseFile, LeavesTheOldOneWhenGivenUp) {
  std::ofstream(path_) << "before";
  EXPECT_FALSE(Database::create(path_)->add("event", two_events()).has_value());
  EXPECT_EQ(start(), "before");
  EXPECT_EQ(files(), 1);
}

TEST(Sqlite, EventsStreamWithArgsAsJson) {
  std::string text;
  events(two_events(), [&](const report::Table& piece) {
    text += report::to_csv(piece);
    return true;
  });
  EXPECT_NE(text.find(R"("{""External id"":7,""Input Dims"":[[2,3]],""note"":""a \""b\"""",""ratio"":0.5}")"),
            std::string::npos)
      << text;
}

TEST(Sqlite, EventsComeInPieces) {
  std::string many;
  for (int i = 0; i < 40000; ++i)
    many += (i == 0 ? "" : ",") +
            std::string(R"({"ph":"X","cat":"cpu_op","name":"f","pid":1,"tid":1,"ts":)") +
            std::to_string(i * 10) + R"(,"dur":1,"args":{"i":)" + std::to_string(i) + "}}";
  const trace::Trace trace = test::open_events(many);
  std::size_t pieces = 0, rows = 0;
  events(trace, [&](const report::Table& piece) {
    ++pieces;
    rows += piece.rows();
    EXPECT_EQ(std::get<report::Texts>(piece.column("args")->values).size(), piece.rows());
    return true;
  });
  EXPECT_EQ(rows, 40000u);
  EXPECT_EQ(pieces, 3u);
  pieces = 0;
  events(trace, [&](const report::Table&) { return ++pieces < 2; });
  EXPECT_EQ(pieces, 2u);
}

TEST(Events, Chosen) {
  const trace::Trace trace = two_events();
  const auto names = [&](const EventChoice& choice) { return test::cells(events(trace, choice), "name"); };
  const auto all = names({});
  ASSERT_EQ(all.size(), trace.ranks.front().events.size());
  EXPECT_EQ(names({.ranks = {{7}}}), test::Cells{});
  EXPECT_EQ(names({.ranks = {{rank_name(trace, trace.ranks.front())}}}), all);
  EXPECT_EQ(names({.ranks = std::vector<std::int64_t>()}), test::Cells{});
  EXPECT_EQ(names({.kinds = std::vector<trace::Kind>()}), test::Cells{});
  EXPECT_EQ(names({.steps = std::pair{9, 9}}), test::Cells{});
  for (const trace::Row row : {trace::Row{0}, trace::Row{1}}) {
    const std::string name(trace.name(trace.ranks.front(), row));
    EXPECT_EQ(names({.name = name}), test::Cells{name});
    EXPECT_EQ(names({.kinds = {{trace.ranks.front().events.kind[row]}}, .name = name}), test::Cells{name});
  }
  EXPECT_NE(events(trace, EventChoice{}).column("args"), nullptr);
  EXPECT_EQ(events(trace, {.args = false}).column("args"), nullptr);
}

}  // namespace
}  // namespace stepscope::write
