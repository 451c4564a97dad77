#include "write/events.h"

#include <fmt/format.h>

#include "base/text.h"
#include "write/sqlite.h"
#include "write/trace_rows.h"

namespace stepscope::write {
namespace {

constexpr std::size_t kRowsAtOnce = 16384;

report::Table empty_table() {
  report::Table table{"Events", report::Shape::table, {}};
  for (const ColumnNote& c : trace_tables().front().columns) {
    const bool time = c.name.ends_with("_ns"), depth = c.name == "depth";
    if (c.type == "TEXT")
      table.texts(std::string(c.name), report::Role::value);
    else
      table.ints(std::string(c.name), time    ? report::Unit::ns
                                      : depth ? report::Unit::count
                                              : report::Unit::none);
  }
  table.texts("args", report::Role::detail);
  return table;
}

std::string number(double value) { return std::isfinite(value) ? fmt::format("{}", value) : "null"; }

/// The args of a row as one JSON object; "" if there are none.
std::string args_of(const trace::Trace& trace, const trace::Rank& rank, trace::Row row) {
  std::string out;
  trace::for_each_arg(trace, rank, row, [&](const trace::ArgField& field, std::int64_t value) {
    out += (out.empty() ? "{" : ",") + json_text(trace.text(field.key)) + ":";
    switch (field.type) {
      case trace::ArgType::integer:
        out += std::to_string(value);
        break;
      case trace::ArgType::real:
        out += number(trace::as_real(value));
        break;
      case trace::ArgType::text:
        out += json_text(trace.text(static_cast<trace::StringId>(value)));
        break;
      case trace::ArgType::raw:
        out += trace.text(static_cast<trace::StringId>(value));
        break;
    }
  });
  return out.empty() ? out : out + "}";
}

/// Fills tables from the rows of the table `event`, in order, and adds the args of each row.
class Pieces final : public RowSink {
 public:
  Pieces(const trace::Trace& trace, const std::function<bool(const report::Table&)>& take)
      : trace_(trace), take_(take), table_(empty_table()) {}
  void integer(std::int64_t value) override { std::get<report::Ints>(next().values).push_back(value); }
  void real(double) override { CHECK(false); }
  void text(std::string_view value) override { std::get<report::Texts>(next().values).emplace_back(value); }
  void nothing() override {
    std::visit([](auto& values) { values.push_back(absent(values)); }, next().values);
  }
  bool end_row() override {
    while (row_ == trace_.ranks[rank_].events.size()) {
      ++rank_;
      row_ = 0;
    }
    std::get<report::Texts>(next().values).push_back(args_of(trace_, trace_.ranks[rank_], row_++));
    at_ = 0;
    return table_.rows() < kRowsAtOnce || flush();
  }
  bool flush() {
    const bool more = take_(table_);
    table_ = empty_table();
    given_ = true;
    return more;
  }
  bool unfinished() const { return table_.rows() > 0 || !given_; }

 private:
  static std::int64_t absent(const report::Ints&) { return report::kNoInt; }
  static double absent(const report::Reals&) { return report::kNoReal; }
  static std::string absent(const report::Texts&) { return ""; }
  report::Column& next() { return table_.columns[at_++]; }

  const trace::Trace& trace_;
  const std::function<bool(const report::Table&)>& take_;
  report::Table table_;
  std::size_t at_ = 0, rank_ = 0;
  trace::Row row_ = 0;
  bool given_ = false;
};

}  // namespace

void events(const trace::Trace& trace, const std::function<bool(const report::Table&)>& take) {
  bool wanted = true;
  const std::function<bool(const report::Table&)> relay = [&](const report::Table& table) {
    return wanted = take(table);
  };
  Pieces pieces(trace, relay);
  put_rows("event", trace, pieces);
  if (wanted && pieces.unfinished()) pieces.flush();
}

}  // namespace stepscope::write
