#include "write/kineto.h"

#include <utility>

#include "base/text.h"
#include "record/events/execution_trace.h"
#include "record/recording_file.h"
#include "record/text/kineto_text.h"
#include "record/text/worker_files.h"
#include "write/text_file.h"

namespace stepscope::write {
Result<KinetoWritten> kineto(const std::string& path, const std::string& target,
                             const std::vector<std::string>& metadata) {
  auto file = record::RecordingFile::open(path);
  if (!file) return file.error();
  auto output = TextFile::open(target);
  if (!output) return output.error();
  const auto take = [&](std::string_view piece) { return output->add(piece); };
  const record::Workers workers = record::workers_of(path, file->recording());
  std::vector<std::string> told{"traceName="};
  append_json(told[0], target);
  told.insert(told.end(), metadata.begin(), metadata.end());
  const record::Written written = record::write_kineto(file->recording(), take, told, workers.recordings());
  if (auto error = output->finish()) return *error;
  std::vector<std::string> notes = file->recording().notes();
  for (std::string& note : workers.notes()) notes.push_back(std::move(note));
  return KinetoWritten{written.events, std::move(notes)};
}

std::optional<Error> execution_trace(const std::string& path, const std::string& target,
                                     const std::string& process_groups) {
  auto file = record::RecordingFile::open(path);
  if (!file) return file.error();
  auto output = TextFile::open(target);
  if (!output) return output.error();
  record::write_execution_trace(file->recording(), process_groups,
                                [&](std::string_view piece) { return output->add(piece); });
  return output->finish();
}

}  // namespace stepscope::write
