#include "analyze/tracelens_call.h"

#include "derive/arg_text.h"

namespace stepscope::analyze::lens {

using report::Role;
using report::Unit;
using trace::Row;
using trace::StringId;

Arguments::Arguments(const Lens& lens)
    : lens_(lens),
      dims_(lens.trace, lens.rank, "Input Dims"),
      old_dims_(lens.trace, lens.rank, "Input dims"),
      types_(lens.trace, lens.rank, "Input type"),
      strides_(lens.trace, lens.rank, "Input Strides"),
      concrete_(lens.trace, lens.rank, "Concrete Inputs") {
  std::map<std::pair<std::string, std::string>, std::uint32_t> numbers;
  for (const trace::Track& track : lens.rank.tracks) {
    const auto next = static_cast<std::uint32_t>(numbers.size());
    thread_.push_back(numbers.try_emplace({track.process, track.name}, next).first->second);
  }
}

Arguments::Texts Arguments::of(Row row) const {
  const StringId dims = dims_.id(row);
  return {dims != trace::kEmptyString ? dims : old_dims_.id(row), types_.id(row), strides_.id(row),
          concrete_.id(row)};
}

ArgumentColumns::ArgumentColumns(report::Table& table, Role role)
    : process_(table.texts("process", role)),
      thread_(table.texts("thread", role)),
      dims_(table.texts("input_dims", role)),
      types_(table.texts("input_types", role)),
      strides_(table.texts("input_strides", role)),
      concrete_(table.texts("concrete_inputs", role)) {}

void ArgumentColumns::add(const Lens& lens, const Arguments& arguments, Row row) {
  const trace::Track& track = lens.rank.tracks[lens.e.track[row]];
  const Arguments::Texts texts = arguments.of(row);
  process_.push_back(track.process);
  thread_.push_back(track.name);
  dims_.push_back(derive::on_one_line(lens.trace.text(texts.dims)));
  types_.push_back(derive::on_one_line(lens.trace.text(texts.types)));
  strides_.push_back(derive::on_one_line(lens.trace.text(texts.strides)));
  concrete_.push_back(derive::on_one_line(lens.trace.text(texts.concrete)));
}

std::uint32_t CallGroups::of(Row op, StringId kernel, std::string_view category) {
  const auto next = static_cast<std::uint32_t>(categories_.size());
  const Arguments::Texts texts = arguments_.of(op);
  return keys_.of({lens_.e.name[op], kernel, categories_.try_emplace(category, next).first->second,
                   arguments_.thread(op), texts.dims, texts.types, texts.strides, texts.concrete,
                   lens_.recomputed(op)});
}

void ShareColumns::add(double part) {
  so_far_ += part;
  share_.push_back(total_ > 0 ? part / total_ : report::kNoReal);
  cumulative_.push_back(total_ > 0 ? so_far_ / total_ : report::kNoReal);
}

KernelDetails::KernelDetails(const trace::Trace& trace)
    : rank_(table_, trace),
      first_event_(table_.ints("first_event", Unit::none, Role::key)),
      place_(table_.ints("place", Unit::none, Role::key)),
      name_(table_.texts("kernel", Role::value)),
      stream_(table_.ints("stream", Unit::none)),
      count_(table_.ints("count", Unit::count)),
      sum_(table_.ints("duration_sum", Unit::ns)),
      duration_(table_, "duration", Unit::ns) {}

void KernelDetails::add(const Lens& lens, std::uint32_t first_event,
                        const std::vector<std::vector<Row>>& calls) {
  if (calls.empty()) return;
  for (std::size_t place = 0; place < calls.front().size(); ++place) {
    std::vector<double> durations;
    std::int64_t sum = 0;
    for (const std::vector<Row>& call : calls) {
      if (call.size() != calls.front().size()) continue;
      sum += lens.e.duration(call[place]);
      durations.push_back(static_cast<double>(lens.e.duration(call[place])));
    }
    const Row row = calls.front()[place];
    rank_.add(lens.rank);
    first_event_.push_back(first_event);
    place_.push_back(static_cast<std::int64_t>(place));
    name_.emplace_back(lens.name(row));
    stream_.push_back(lens.rank.tracks[lens.e.track[row]].stream);
    count_.push_back(static_cast<std::int64_t>(durations.size()));
    sum_.push_back(sum);
    duration_.add(spread_of(std::move(durations)), true);
  }
}

}  // namespace stepscope::analyze::lens
