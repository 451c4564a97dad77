#include "report/formats/arrow.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "report/utf8.h"

namespace stepscope::report {
namespace {

using ArrowBuffers = std::vector<const void*>;
using ArrowMetadata = std::vector<std::pair<std::string_view, std::string>>;

template <class Struct>
struct Children {
  std::vector<Struct> structs;
  std::vector<Struct*> pointers;

  explicit Children(std::size_t count) : structs(count) {
    for (Struct& child : structs) pointers.push_back(&child);
  }
  /// A receiver may have moved a child away, which then has no release.
  void release() {
    for (Struct& child : structs)
      if (child.release != nullptr) child.release(&child);
  }
};

struct ArrayOwner {
  std::shared_ptr<const void> kept;
  ArrowBuffers buffers;
  Children<ArrowArray> children;
};

struct SchemaOwner {
  std::string name, metadata;
  Children<ArrowSchema> children;
};

struct StreamOwner {
  ArrowTable table;
  bool done = false;
};

template <class Owner, class Struct>
void release(Struct* released) {
  auto* owner = static_cast<Owner*>(released->private_data);
  owner->children.release();
  delete owner;
  released->release = nullptr;
}

void put_number(std::string& out, std::size_t number) {
  const auto value = static_cast<std::int32_t>(number);
  char bytes[sizeof value];
  std::memcpy(bytes, &value, sizeof value);
  out.append(bytes, sizeof value);
}

std::string encoded(const ArrowMetadata& metadata) {
  std::string out;
  put_number(out, metadata.size());
  for (const auto& [key, value] : metadata) {
    for (const std::string_view text : {key, std::string_view(value)}) {
      put_number(out, text.size());
      out += text;
    }
  }
  return out;
}

StreamOwner& owner_of(ArrowArrayStream* stream) { return *static_cast<StreamOwner*>(stream->private_data); }

int next_of(ArrowArrayStream* stream, ArrowArray* out) {
  *out = {};  // no release: the end of the stream
  if (!std::exchange(owner_of(stream).done, true)) owner_of(stream).table.array_to(out);
  return 0;
}

int schema_of(ArrowArrayStream* stream, ArrowSchema* out) {
  owner_of(stream).table.schema_to(out);
  return 0;
}

void release_stream(ArrowArrayStream* stream) {
  delete &owner_of(stream);
  stream->release = nullptr;
}

/// An array of length 0 with `children` empty structs, which the caller fills.
void fill_array(ArrowArray* out, std::shared_ptr<const void> kept, ArrowBuffers buffers,
                std::size_t children) {
  auto* owner = new ArrayOwner{std::move(kept), std::move(buffers), Children<ArrowArray>(children)};
  *out = {};
  out->n_buffers = static_cast<std::int64_t>(owner->buffers.size());
  out->buffers = owner->buffers.data();
  out->n_children = static_cast<std::int64_t>(children);
  out->children = owner->children.pointers.data();
  out->release = release<ArrayOwner, ArrowArray>;
  out->private_data = owner;
}

/// `format` lives as long as the program.
void fill_schema(ArrowSchema* out, const char* format, std::string name, const ArrowMetadata& metadata,
                 std::size_t children) {
  auto* owner = new SchemaOwner{std::move(name), encoded(metadata), Children<ArrowSchema>(children)};
  *out = {};
  out->format = format;
  out->name = owner->name.c_str();
  out->metadata = owner->metadata.data();
  out->n_children = static_cast<std::int64_t>(children);
  out->children = owner->children.pointers.data();
  out->release = release<SchemaOwner, ArrowSchema>;
  out->private_data = owner;
}

/// A stream of one array.
void fill_stream(ArrowArrayStream* out, const ArrowTable& table) {
  *out = {schema_of, next_of, [](ArrowArrayStream*) -> const char* { return nullptr; }, release_stream,
          new StreamOwner{table, false}};
}

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
