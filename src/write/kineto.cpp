#include "write/kineto.h"

#include <utility>

#include "base/gzip_member.h"
#include "record/kineto_text.h"
#include "record/recording_file.h"
#include "record/worker_files.h"
#include "write/output.h"

namespace stepscope::write {
namespace {

constexpr std::size_t kMember = std::size_t{4} << 20;  // bytes of text that are compressed together

}  // namespace

Result<KinetoWritten> kineto(const std::string& path, const std::string& target,
                             const std::vector<std::string>& metadata) {
  auto file = record::RecordingFile::open(path);
  if (!file) return file.error();
  auto output = Output::open(target);
  if (!output) return output.error();
  const bool gzip = target.ends_with(".gz");
  std::string text;
  const auto pass_on = [&] {
    output->write(gzip && !text.empty() ? gzip_member(text) : text);
    text.clear();
  };
  const auto take = [&](std::string_view piece) {
    text += piece;
    if (text.size() >= kMember) pass_on();
    return !output->closed_early();
  };
  const record::Workers workers = record::workers_of(path, file->recording());
  const record::Written written =
      record::write_kineto(file->recording(), take, metadata, workers.recordings());
  pass_on();
  if (auto error = output->finish()) return *error;
  std::vector<std::string> notes = file->recording().notes();
  for (std::string& note : workers.notes()) notes.push_back(std::move(note));
  return KinetoWritten{written.events, std::move(notes)};
}

}  // namespace stepscope::write
