#include "report/formats/arrow.h"

#include <utility>

#include "report/formats/arrow_parts.h"
#include "report/utf8.h"

namespace stepscope::report {
namespace {

void mark_present(const Column& column, ArrowTable::Beside& beside) {
  const std::size_t rows = column.size();
  for (std::size_t row = 0; row < rows; ++row) beside.missing += column.missing(row) ? 1 : 0;
  if (beside.missing == 0) return;
  beside.present.assign((rows + 7) / 8, 0);
  for (std::size_t row = 0; row < rows; ++row)
    if (!column.missing(row))
      beside.present[row / 8] = static_cast<std::uint8_t>(beside.present[row / 8] | (1U << (row % 8)));
}

void gather(const Texts& texts, ArrowTable::Beside& beside) {
  beside.text_starts.reserve(texts.size() + 1);
  beside.text_starts.push_back(0);
  for (const std::string& text : texts) {
    beside.text += valid_utf8(text);
    beside.text_starts.push_back(static_cast<std::int64_t>(beside.text.size()));
  }
}

void export_column(const std::shared_ptr<const ArrowTable::Kept>& kept, std::size_t index, ArrowArray* out) {
  const Column& column = kept->table->columns[index];
  const ArrowTable::Beside& beside = kept->beside[index];
  ArrowBuffers buffers = {beside.present.empty() ? nullptr : beside.present.data()};
  if (const auto* ints = std::get_if<Ints>(&column.values))
    buffers.push_back(ints->data());
  else if (const auto* reals = std::get_if<Reals>(&column.values))
    buffers.push_back(reals->data());
  else
    buffers.insert(buffers.end(), {beside.text_starts.data(), beside.text.data()});
  fill_array(out, kept, std::move(buffers), 0);
  out->length = static_cast<std::int64_t>(column.size());
  out->null_count = beside.missing;
}

const char* format_of(const Column& column) {
  constexpr const char* kFormats[] = {"l", "g", "U"};  // int64, float64, large_utf8
  return kFormats[column.values.index()];
}

}  // namespace

ArrowTable::ArrowTable(std::shared_ptr<const Table> table) {
  auto kept = std::make_shared<Kept>();
  for (const Column& column : table->columns) {
    Beside& beside = kept->beside.emplace_back();
    mark_present(column, beside);
    if (const auto* texts = std::get_if<Texts>(&column.values)) gather(*texts, beside);
  }
  kept->table = std::move(table);
  kept_ = std::move(kept);
}

void ArrowTable::schema_to(ArrowSchema* out) const {
  const Table& table = *kept_->table;
  fill_schema(out, "+s", "",
              {{"title", valid_utf8(table.title)}, {"shape", std::string(name_of(table.shape))}},
              table.columns.size());
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    const Column& column = table.columns[i];
    fill_schema(out->children[i], format_of(column), valid_utf8(column.name),
                {{"unit", std::string(name_of(column.unit))}, {"role", std::string(name_of(column.role))}},
                0);
    out->children[i]->flags = kArrowNullable;
  }
}

void ArrowTable::array_to(ArrowArray* out) const {
  const std::size_t columns = kept_->table->columns.size();
  fill_array(out, kept_, {nullptr}, columns);
  out->length = static_cast<std::int64_t>(kept_->table->rows());
  for (std::size_t i = 0; i < columns; ++i) export_column(kept_, i, out->children[i]);
}

void ArrowTable::stream_to(ArrowArrayStream* out) const { fill_stream(out, *this); }

}  // namespace stepscope::report
