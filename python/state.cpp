#include "python/state.h"

#include <concepts>
#include <cstring>
#include <iterator>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "advise/analyses.h"
#include "python/ask.h"
#include "report/verdict.h"

namespace stepscope::python {
namespace {

constexpr std::string_view kVersion = "stepscope " STEPSCOPE_VERSION;

template <class Value>
concept Plain = std::is_arithmetic_v<Value> || std::is_enum_v<Value>;

class Writer {
 public:
  static constexpr bool kReads = false;
  const std::string& bytes() const { return bytes_; }
  template <Plain Value>
  void operator()(Value& value) {
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  void operator()(std::string& text) {
    std::uint64_t size = text.size();
    (*this)(size);
    bytes_ += text;
  }
  template <class Value>
  std::uint64_t count(const std::vector<Value>& values) {
    std::uint64_t size = values.size();
    (*this)(size);
    return size;
  }

 private:
  std::string bytes_;
};

class Reader {
 public:
  static constexpr bool kReads = true;
  explicit Reader(std::string_view bytes) : bytes_(bytes) {}
  template <Plain Value>
  void operator()(Value& value) {
    std::memcpy(&value, take(sizeof value).data(), sizeof value);
  }
  void operator()(std::string& text) {
    std::uint64_t size = 0;
    (*this)(size);
    text = take(size);
  }
  /// Every value takes a byte or more, which bounds what damaged bytes can allocate.
  template <class Value>
  std::uint64_t count(std::vector<Value>& values) {
    std::uint64_t size = 0;
    (*this)(size);
    if (size > bytes_.size()) refuse_state();
    values.resize(size);
    return size;
  }
  void end() const {
    if (!bytes_.empty()) refuse_state();
  }
  [[noreturn]] static void refuse_state() {
    throw Refusal("UsageError",
                  "these bytes were not pickled by stepscope " STEPSCOPE_VERSION
                  ": pickles are for programs that use the same version; keep JSON or CSV instead");
  }

 private:
  std::string_view take(std::uint64_t size) {
    if (size > bytes_.size()) refuse_state();
    const std::string_view taken = bytes_.substr(0, size);
    bytes_.remove_prefix(size);
    return taken;
  }
  std::string_view bytes_;
};

/// An enum whose last value is `last`.
template <class Archive, class Enum>
void pass_enum(Archive& archive, Enum& value, Enum last) {
  archive(value);
  if (static_cast<std::int64_t>(value) < 0 || value > last) Reader::refuse_state();
}

template <class Archive, class Value>
void pass(Archive& archive, std::vector<Value>& values);

template <class Archive, class Value>
  requires Plain<Value> || std::same_as<Value, std::string>
void pass(Archive& archive, Value& value) {
  archive(value);
}

/// A bool of damaged bytes could be neither.
template <class Archive>
void pass(Archive& archive, bool& value) {
  auto byte = static_cast<std::uint8_t>(value);
  archive(byte);
  value = byte != 0;
}

template <class Archive>
void pass(Archive& archive, report::Column& column) {
  archive(column.name);
  pass_enum(archive, column.unit, report::Unit::flop_per_byte);
  pass_enum(archive, column.role, report::Role::change);
  pass_enum(archive, column.tag, report::Tag::whole);
  auto type = static_cast<std::uint8_t>(column.values.index());
  archive(type);
  if constexpr (Archive::kReads) {
    if (type == 0)
      column.values = report::Ints();
    else if (type == 1)
      column.values = report::Reals();
    else if (type == 2)
      column.values = report::Texts();
    else
      Reader::refuse_state();
  }
  std::visit([&](auto& values) { pass(archive, values); }, column.values);
}

template <class Archive>
void pass(Archive& archive, report::Table& table) {
  archive(table.title);
  pass_enum(archive, table.shape, report::Shape::timeline);
  pass(archive, table.divides_step);
  pass(archive, table.columns);
  for (const report::Column& column : table.columns)
    if (column.size() != table.rows()) Reader::refuse_state();
}

template <class Archive>
void pass(Archive& archive, report::Report& report) {
  archive(report.name);
  archive(report.question);
  pass(archive, report.tables);
  pass(archive, report.notes);
}

template <class Archive>
void pass(Archive& archive, report::Range& range) {
  archive(range.low);
  archive(range.high);
}

/// The name of the analysis is a view of the program's own text.
template <class Archive>
void pass(Archive& archive, report::Proof& proof) {
  std::string name(proof.analysis);
  archive(name);
  archive(proof.what);
  if constexpr (Archive::kReads) {
    const analyze::Analysis* analysis = advise::find_analysis(name);
    if (analysis == nullptr && !name.empty()) Reader::refuse_state();
    proof.analysis = analysis == nullptr ? std::string_view() : analysis->name;
  }
}

template <class Archive>
void pass(Archive& archive, report::Finding& f) {
  pass_enum(archive, f.id, static_cast<report::RuleId>(std::size(report::kRuleNames) - 1));
  archive(f.title);
  archive(f.rank);
  pass(archive, f.per_step);
  pass(archive, f.saving);
  pass(archive, f.after);
  pass_enum(archive, f.when, report::When::small);
  archive(f.aside);
  pass_enum(archive, f.confidence, report::Confidence::high);
  archive(f.because);
  pass(archive, f.evidence);
  archive(f.remedy);
  archive(f.verify);
}

template <class Archive>
void pass(Archive& archive, report::Health& h) {
  pass_enum(archive, h.id, static_cast<report::HealthId>(std::size(report::kHealthNames) - 1));
  archive(h.grade);
  if (h.grade < report::HealthClass::A || h.grade > report::HealthClass::C) Reader::refuse_state();
  archive(h.rank);
  archive(h.what);
  archive(h.suffers);
  archive(h.remedy);
}

template <class Archive>
void pass(Archive& archive, report::RankVerdict& r) {
  archive(r.rank);
  pass_enum(archive, r.bound, report::Bound::mixed);
  pass_enum(archive, r.outcome, report::Outcome::no_step);
  archive(r.headline);
  archive(r.step);
  archive(r.steps);
  archive(r.found_by);
  archive(r.saved_from);
  pass(archive, r.together);
  pass(archive, r.evidence);
}

template <class Archive>
void pass(Archive& archive, report::Verdict& verdict) {
  pass(archive, verdict.several);
  pass(archive, verdict.ranks);
  pass(archive, verdict.findings);
  pass(archive, verdict.health);
  pass(archive, verdict.notes);
}

template <class Archive, class Value>
void pass(Archive& archive, std::optional<Value>& value) {
  bool has = value.has_value();
  pass(archive, has);
  if (Archive::kReads && has) value.emplace();
  if (has) pass(archive, *value);
}

template <class Archive>
void pass(Archive& archive, report::Page& page) {
  archive(page.title);
  pass(archive, page.reports);
  pass(archive, page.next);
  pass(archive, page.verdict);
  archive(page.headline);
  if (page.reports.empty()) Reader::refuse_state();
}

template <class Archive, class Value>
void pass(Archive& archive, std::vector<Value>& values) {
  archive.count(values);
  for (Value& value : values) pass(archive, value);
}

template <class Value>
void pass_all(Writer& writer, Value value) {
  pass(writer, value);
}

Writer begun(std::string_view what) {
  Writer writer;
  std::string head = std::string(kVersion) + " " + std::string(what);
  writer(head);
  return writer;
}

Reader opened(std::string_view state, std::string_view what) {
  Reader reader(state);
  std::string head;
  reader(head);
  if (head != std::string(kVersion) + " " + std::string(what)) Reader::refuse_state();
  return reader;
}

}  // namespace

std::string state_of(const Table& table) {
  Writer writer = begun("table");
  pass_all(writer, table.table());
  return writer.bytes();
}

std::string state_of(const Report& report) {
  Writer writer = begun("report");
  pass_all(writer, *report.report);
  pass_all(writer, report.headline);
  pass_all(writer, report.verdict ? std::optional(*report.verdict) : std::nullopt);
  return writer.bytes();
}

std::string state_of(const Page& page) {
  Writer writer = begun("page");
  pass_all(writer, *page.page);
  return writer.bytes();
}

std::shared_ptr<Table> restored_table(std::string_view state) {
  Reader reader = opened(state, "table");
  auto table = std::make_shared<report::Table>();
  pass(reader, *table);
  reader.end();
  return std::make_shared<Table>(std::move(table));
}

Report restored_report(std::string_view state) {
  Reader reader = opened(state, "report");
  auto report = std::make_shared<report::Report>();
  std::string headline;
  std::optional<report::Verdict> verdict;
  pass(reader, *report);
  pass(reader, headline);
  pass(reader, verdict);
  reader.end();
  Report out{std::move(report), nullptr, std::move(headline)};
  if (verdict) out.verdict = std::make_shared<const report::Verdict>(std::move(*verdict));
  return out;
}

Page restored_page(std::string_view state) {
  Reader reader = opened(state, "page");
  auto page = std::make_shared<report::Page>();
  pass(reader, *page);
  reader.end();
  return {std::move(page)};
}

}  // namespace stepscope::python
