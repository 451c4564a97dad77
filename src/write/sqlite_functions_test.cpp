// What stepscope adds to SQLite: functions, views, and the events of flows.
#include <gtest/gtest.h>

#include "make_rank.h"
#include "report/formats/csv.h"
#include "write/query.h"

namespace stepscope::write {
namespace {

std::string csv(const std::string& query, const trace::Trace& trace = {}) {
  auto answers = write::query(trace, {}, query, {});
  return answers ? report::to_csv(answers->front().table) : "error: " + answers.error().message;
}

std::string of_numbers(const std::string& call, const std::string& values) {
  return csv("SELECT " + call + " AS a FROM (WITH v(x) AS (VALUES " + values + ") SELECT x FROM v)");
}

TEST(SqlFunctions, Median) {
  EXPECT_EQ(of_numbers("median(x)", "(5),(1),(9)"), "a\r\n5\r\n");
  EXPECT_EQ(of_numbers("median(x)", "(5),(1),(9),(NULL),(8)"), "a\r\n6.5\r\n");
  EXPECT_EQ(of_numbers("median(x)", "(0.5),(1)"), "a\r\n0.75\r\n");
  EXPECT_EQ(of_numbers("median(x)", "(1700000000000000001),(1700000000000000001)"),
            "a\r\n1700000000000000001\r\n");
  EXPECT_EQ(of_numbers("median(x)", "(NULL)"), "a\r\n\"\"\r\n");
  EXPECT_EQ(csv("SELECT median(1) AS a WHERE 0"), "a\r\n\"\"\r\n");
  EXPECT_EQ(of_numbers("median(x)", "('x')"), "error: median, percentile and stddev need numbers, not texts");
}

TEST(SqlFunctions, PercentileIsTheNearestRank) {
  const std::string ten = "(10),(9),(8),(7),(6),(5),(4),(3),(2),(1)";
  EXPECT_EQ(of_numbers("percentile(x, 90)", ten), "a\r\n9\r\n");
  EXPECT_EQ(of_numbers("percentile(x, 91)", ten), "a\r\n10\r\n");
  EXPECT_EQ(of_numbers("percentile(x, 0)", ten), "a\r\n1\r\n");
  EXPECT_EQ(of_numbers("percentile(x, 100)", ten), "a\r\n10\r\n");
  EXPECT_EQ(of_numbers("percentile(x, 101)", ten), "error: percentile(x, p) needs a p from 0 to 100");
}

TEST(SqlFunctions, DeviationIsOfASample) {
  EXPECT_EQ(of_numbers("stddev(x)", "(2),(4),(4),(4),(5),(5),(7),(9)").substr(0, 9), "a\r\n2.1380");
  EXPECT_EQ(of_numbers("stddev(x)", "(3)"), "a\r\n\"\"\r\n");
}

TEST(SqlFunctions, Regexp) {
  EXPECT_EQ(csv("SELECT 'ampere_sgemm_128x64' REGEXP '^ampere.*[0-9]+x64$' AS a"), "a\r\n1\r\n");
  EXPECT_EQ(csv("SELECT regexp('^sgemm', 'ampere_sgemm') AS a"), "a\r\n0\r\n");
  EXPECT_EQ(csv("SELECT regexp('x', NULL) AS a"), "a\r\n\"\"\r\n");
  EXPECT_EQ(
      csv("SELECT sum(x REGEXP 'a|b') AS a FROM (SELECT 'a' AS x UNION ALL SELECT 'c' UNION ALL SELECT 'b')"),
      "a\r\n2\r\n");
}

TEST(SqlFunctions, PatternsThatTakeForeverAreRefused) {
  const auto refused = [](const std::string& pattern, const std::string& why) {
    const std::string answer = csv("SELECT regexp('" + pattern + "', 'aaaaaaaa')");
    EXPECT_NE(answer.find(why), std::string::npos) << answer;
  };
  refused("(a*)*\\1", "refers back to a group");
  refused("((a{100}){100}){100}", "repeats more than 1000 times");
  refused("a{99999999999999999999}", "repeats more than 1000 times");
  refused(std::string(1001, '('), "longer than 1000 bytes");
  refused("(", "the pattern of regexp is wrong: ");
  EXPECT_EQ(csv("SELECT regexp('(a*)*(a|aa)*$', hex(zeroblob(500000))) AS a"), "a\r\n1\r\n");
}

trace::Trace launched() {
  return test::open_events(
      R"({"ph":"X","cat":"user_annotation","name":"ProfilerStep#4","pid":1,"tid":1,"ts":0,"dur":100},)"
      R"({"ph":"X","cat":"cpu_op","name":"aten::mm","pid":1,"tid":1,"ts":10,"dur":20,"args":{"External id":7}},)"
      R"({"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,"tid":1,"ts":12,"dur":5,)"
      R"("args":{"External id":7,"correlation":3}},)"
      R"({"ph":"X","cat":"kernel","name":"gemm","pid":0,"tid":9,"ts":40,"dur":30,)"
      R"("args":{"External id":7,"correlation":3,"device":0,"stream":9}},)"
      R"({"ph":"s","cat":"ac2g","name":"ac2g","id":3,"pid":1,"tid":1,"ts":12},)"
      R"({"ph":"f","cat":"ac2g","name":"ac2g","id":3,"pid":0,"tid":9,"ts":40,"bp":"e"},)"
      R"({"ph":"f","cat":"ac2g","name":"ac2g","id":5,"pid":0,"tid":9,"ts":41,"bp":"e"},)"
      R"({"ph":"s","cat":"other","name":"other","id":3,"pid":1,"tid":1,"ts":99})");
}

TEST(SqlFlows, NameTheEventsThatTheyConnect) {
  EXPECT_EQ(csv("SELECT phase, f.category, a.name AS leaves, b.name AS reaches FROM flow f "
                "LEFT JOIN event a ON a.id = from_event LEFT JOIN event b ON b.id = to_event "
                "ORDER BY f.category, f.id, time_ns",
                launched()),
            "phase,category,leaves,reaches\r\n"
            "s,ac2g,cudaLaunchKernel,gemm\r\nf,ac2g,cudaLaunchKernel,gemm\r\nf,ac2g,,gemm\r\n"
            "s,other,ProfilerStep#4,\r\n");
}

TEST(SqlViews, KernelsHaveTheirOpAndLaunch) {
  EXPECT_EQ(
      csv("SELECT name, device, stream, duration_ns, step, op_name, launch_name, launch_delay_ns FROM Kernel",
          launched()),
      "name,device,stream,duration_ns,step,op_name,launch_name,launch_delay_ns\r\n"
      "gemm,0,9,30000,4,aten::mm,cudaLaunchKernel,28000\r\n");
}

TEST(SqlViews, RanksHaveTheirSums) {
  EXPECT_EQ(
      csv("SELECT rank, events, step_count, mean_step_ns, kernel_count, kernel_ns FROM ranks", launched()),
      "rank,events,step_count,mean_step_ns,kernel_count,kernel_ns\r\n0,4,1,100000,1,30000\r\n");
  EXPECT_EQ(csv("SELECT count(*) AS n FROM event", launched()), "n\r\n4\r\n");
}

}  // namespace
}  // namespace stepscope::write
