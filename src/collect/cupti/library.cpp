#include "collect/cupti/library.h"

#include <dlfcn.h>
#include <link.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <string_view>
#include <vector>

namespace stepscope::collect::cupti {
namespace {

constexpr std::array kNames = {"libcupti.so.13",   "libcupti.so.12",   "libcupti.so.11.8", "libcupti.so.11.7",
                               "libcupti.so.11.6", "libcupti.so.11.5", "libcupti.so.11.4", "libcupti.so.11.3",
                               "libcupti.so.11.2", "libcupti.so.11.1", "libcupti.so.11.0", "libcupti.so"};

/// Folders of the loaded CUDA libraries.
std::vector<std::string> folders_of_cuda() {
  std::vector<std::string> folders;
  ::dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* into) {
        const std::string_view path = info->dlpi_name;
        const std::size_t slash = path.rfind('/');
        if (slash == std::string_view::npos) return 0;
        const std::string_view name = path.substr(slash + 1);
        for (const std::string_view cuda :
             {"libcudart.so", "libcublas.so", "libtorch_cuda.so", "libc10_cuda.so"})
          if (name.starts_with(cuda))
            static_cast<std::vector<std::string>*>(into)->emplace_back(path.substr(0, slash));
        return 0;
      },
      &folders);
  return folders;
}

/// Folders that may hold a copy of CUPTI, in order of preference.
std::vector<std::string> places() {
  std::vector<std::string> out;
  for (const std::string& folder : folders_of_cuda()) {
    out.push_back(folder + "/");                              // CUDA 13's package, and the toolkit's lib64
    out.push_back(folder + "/../../cuda_cupti/lib/");         // CUDA 12's packages, one folder each
    out.push_back(folder + "/../../nvidia/cuda_cupti/lib/");  // from torch/lib
    out.push_back(folder + "/../../nvidia/cu13/lib/");        // from torch/lib, CUDA 13
    out.push_back(folder + "/../extras/CUPTI/lib64/");        // the toolkit
  }
  for (const char* variable : {"CUDA_HOME", "CUDA_PATH"})
    if (const char* home = std::getenv(variable); home != nullptr && *home != '\0')
      out.push_back(std::string(home) + "/extras/CUPTI/lib64/");
  out.emplace_back("/usr/local/cuda/extras/CUPTI/lib64/");
  out.emplace_back("");  // the dynamic loader's search path
  return out;
}

void* open_library(std::string& why) {
  if (const char* path = std::getenv("STEPSCOPE_CUPTI_LIBRARY"); path != nullptr && *path != '\0') {
    void* handle = ::dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr)
      why = "the library named by STEPSCOPE_CUPTI_LIBRARY cannot be loaded: " + std::string(::dlerror());
    return handle;
  }
  for (const char* name : kNames)
    if (void* handle = ::dlopen(name, RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD)) return handle;
  for (const std::string& place : places())
    for (const char* name : kNames)
      if (void* handle = ::dlopen((place + name).c_str(), RTLD_NOW | RTLD_LOCAL)) return handle;
  why =
      "libcupti, NVIDIA's tracing library, was not found; install the package nvidia-cuda-cupti for the "
      "program's CUDA version, or the CUDA toolkit";
  return nullptr;
}

template <class Function>
bool resolve(void* handle, const char* name, Function& function) {
  void* symbol = ::dlsym(handle, name);
  std::memcpy(&function, &symbol, sizeof symbol);
  return symbol != nullptr;
}

/// The name of the first missing entry point; null: all were found.
const char* resolve_all(void* handle, Library& library) {
  const char* missing = nullptr;
  const auto need = [&](const char* name, auto& function) {
    if (!resolve(handle, name, function) && missing == nullptr) missing = name;
  };
  need("cuptiGetVersion", library.get_version);
  need("cuptiGetTimestamp", library.get_timestamp);
  need("cuptiSubscribe", library.subscribe);
  need("cuptiUnsubscribe", library.unsubscribe);
  need("cuptiActivityRegisterCallbacks", library.register_buffers);
  need("cuptiActivityEnable", library.enable);
  need("cuptiActivityDisable", library.disable);
  need("cuptiActivityFlushAll", library.flush);
  need("cuptiActivityGetNextRecord", library.next_record);
  need("cuptiActivityGetNumDroppedRecords", library.dropped);
  need("cuptiGetCallbackName", library.callback_name);
  resolve(handle, "cuptiActivityEnableAndDump", library.enable_and_dump);
  resolve(handle, "cuptiActivityRegisterTimestampCallback", library.register_timestamp);
  resolve(handle, "cuptiSetThreadIdType", library.thread_id_type);
  resolve(handle, "cuptiActivityEnableDriverApi", library.enable_driver_api);
  resolve(handle, "cuptiActivityEnableRuntimeApi", library.enable_runtime_api);
  resolve(handle, "cuptiSubscribe_v2", library.subscribe_v2);
  resolve(handle, "cuptiGetResultString", library.result_text);
  resolve(handle, "cuptiEnableCallback", library.enable_callback);
  resolve(handle, "cuptiGetGraphNodeId", library.graph_node_id);
  return missing;
}

bool resolve_shared(void* handle, Library::Shared& shared) {
  return resolve(handle, "cuptiGetTimestamp_v2", shared.get_timestamp) &&
         resolve(handle, "cuptiActivityRegisterCallbacks_v2", shared.register_buffers) &&
         resolve(handle, "cuptiActivityEnable_v2", shared.enable) &&
         resolve(handle, "cuptiActivityEnableAndDump_v2", shared.enable_and_dump) &&
         resolve(handle, "cuptiActivityDisable_v2", shared.disable) &&
         resolve(handle, "cuptiActivityGetNextRecord_v2", shared.next_record) &&
         resolve(handle, "cuptiActivityGetNumDroppedRecords_v2", shared.dropped) &&
         resolve(handle, "cuptiActivitySetAttribute_v2", shared.set_attribute) &&
         resolve(handle, "cuptiActivityEnableDriverApi_v2", shared.enable_driver_api) &&
         resolve(handle, "cuptiActivityEnableRuntimeApi_v2", shared.enable_runtime_api);
}

/// Without a driver, every call of CUDA 13.5's CUPTI fails, and CUDA 13.2's crashes when asked for its
/// version.
bool has_driver() { return ::dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL) != nullptr; }

}  // namespace

int find_library(const Library*& library, std::string& why) {
  static Library found;
  static void* handle = nullptr;  // one copy per process
  if (handle == nullptr) {
    void* opened = open_library(why);
    if (opened == nullptr) return ENOENT;
    if (!has_driver()) return why = words_of(found, kUnknownError), ENODEV;
    handle = opened;
  }
  if (const char* missing = resolve_all(handle, found); missing != nullptr) {
    why = "libcupti lacks " + std::string(missing) + ", so it is not from CUDA 11 to 13";
    return ENOENT;
  }
  if (const Result result = found.get_version(&found.version); result != kSuccess)
    return why = words_of(found, result), errno_of(result);
  if (found.version < kOldest) {
    why = "libcupti is version " + std::to_string(found.version) + ", older than CUDA 11";
    return ENOENT;
  }
  found.can_share =
      found.version >= kHasSharing && found.subscribe_v2 != nullptr && resolve_shared(handle, found.shared);
  library = &found;
  return 0;
}

namespace {

/// Errors for which we know what the user can do.
struct Known {
  Result result;
  int error;
  const char* words;
};
constexpr Known kKnown[] = {
    {kNotInitialized, ENODEV, "no working NVIDIA driver was found on this machine"},
    {kUnknownError, ENODEV, "no working NVIDIA driver was found on this machine"},
    {kHeldByAnother, EBUSY, "another tool is tracing this program through CUPTI; stop it first"},
    {33, EIO, "this virtual GPU does not allow tracing; ask the machine's administrator to allow it"},
    {35, EPERM, "the driver restricts tracing to administrators; ask an administrator to allow it"},
    {40, EPERM, "the driver restricts tracing to administrators; ask an administrator to allow it"},
    {41, EIO, "the GPU is in confidential mode, which does not allow tracing"},
    {42, EIO, "mining GPUs do not allow tracing"},
    {43, EIO, "this version of CUPTI cannot trace GPU instances (MIG)"},
    {44, EIO, "GPUs linked by SLI do not allow tracing"},
    {45, EIO, "this version of CUPTI cannot trace under Windows Subsystem for Linux"},
};

}  // namespace

int errno_of(Result result) {
  for (const Known& known : kKnown)
    if (known.result == result) return known.error;
  return EIO;
}

std::string words_of(const Library& library, Result result) {
  for (const Known& known : kKnown)
    if (known.result == result) return known.words;
  const char* text = nullptr;
  if (library.result_text != nullptr) library.result_text(result, &text);
  return "CUPTI failed with error " + std::to_string(result) +
         (text == nullptr ? "" : " (" + std::string(text) + ")");
}

}  // namespace stepscope::collect::cupti
