#include "derive/places/own_frames.h"

#include <string>

#include "base/text.h"

namespace stepscope::derive {
namespace {

/// Modules of Python's library that training programs call, as recorders shorten their files.
constexpr std::string_view kLibrary[] = {"_bootlocale",  "_collections_abc",
                                         "_compression", "_weakrefset",
                                         "abc",          "argparse",
                                         "ast",          "asyncio",
                                         "base64",       "bdb",
                                         "bisect",       "bz2",
                                         "cProfile",     "codecs",
                                         "collections",  "concurrent",
                                         "configparser", "contextlib",
                                         "copy",         "copyreg",
                                         "csv",          "ctypes",
                                         "dataclasses",  "datetime",
                                         "decimal",      "difflib",
                                         "dis",          "email",
                                         "encodings",    "enum",
                                         "fnmatch",      "fractions",
                                         "functools",    "genericpath",
                                         "getpass",      "glob",
                                         "gzip",         "hashlib",
                                         "heapq",        "html",
                                         "http",         "importlib",
                                         "inspect",      "io",
                                         "ipaddress",    "json",
                                         "keyword",      "linecache",
                                         "locale",       "logging",
                                         "lzma",         "multiprocessing",
                                         "ntpath",       "numbers",
                                         "opcode",       "operator",
                                         "os",           "pathlib",
                                         "pdb",          "pickle",
                                         "pkgutil",      "platform",
                                         "posixpath",    "pprint",
                                         "profile",      "queue",
                                         "random",       "re",
                                         "reprlib",      "runpy",
                                         "sched",        "secrets",
                                         "selectors",    "shlex",
                                         "shutil",       "signal",
                                         "site",         "socket",
                                         "socketserver", "sqlite3",
                                         "sre_compile",  "sre_parse",
                                         "ssl",          "stat",
                                         "statistics",   "string",
                                         "struct",       "subprocess",
                                         "symtable",     "sysconfig",
                                         "tarfile",      "tempfile",
                                         "textwrap",     "threading",
                                         "timeit",       "token",
                                         "tokenize",     "traceback",
                                         "tracemalloc",  "types",
                                         "typing",       "unittest",
                                         "urllib",       "uuid",
                                         "warnings",     "weakref",
                                         "xml",          "zipfile",
                                         "zipimport",    "zoneinfo"};

/// Packages that training programs call: torch.profiler writes their files without the folder they are in.
/// None whose name programs give to folders of their own, such as datasets.
constexpr std::string_view kPackages[] = {"PIL",
                                          "_pytest",
                                          "accelerate",
                                          "albumentations",
                                          "bitsandbytes",
                                          "cv2",
                                          "dask",
                                          "dateutil",
                                          "deepspeed",
                                          "dgl",
                                          "diffusers",
                                          "einops",
                                          "filelock",
                                          "fsspec",
                                          "gensim",
                                          "gym",
                                          "gymnasium",
                                          "h5py",
                                          "huggingface_hub",
                                          "imageio",
                                          "jinja2",
                                          "joblib",
                                          "librosa",
                                          "lightgbm",
                                          "lightning",
                                          "lightning_fabric",
                                          "matplotlib",
                                          "mlflow",
                                          "narwhals",
                                          "networkx",
                                          "nltk",
                                          "numba",
                                          "numpy",
                                          "omegaconf",
                                          "packaging",
                                          "pandas",
                                          "peft",
                                          "polars",
                                          "psutil",
                                          "pyarrow",
                                          "pytest",
                                          "pytorch_lightning",
                                          "pytz",
                                          "ray",
                                          "requests",
                                          "rich",
                                          "s3fs",
                                          "safetensors",
                                          "scipy",
                                          "sentencepiece",
                                          "skimage",
                                          "sklearn",
                                          "soundfile",
                                          "spacy",
                                          "stable_baselines3",
                                          "sympy",
                                          "tensorboard",
                                          "threadpoolctl",
                                          "tiktoken",
                                          "timm",
                                          "tokenizers",
                                          "torch_geometric",
                                          "torchaudio",
                                          "torchmetrics",
                                          "torchtext",
                                          "torchvision",
                                          "tqdm",
                                          "transformers",
                                          "triton",
                                          "urllib3",
                                          "vllm",
                                          "wandb",
                                          "xformers",
                                          "xgboost",
                                          "yaml",
                                          "zarr"};

bool is_library(std::string_view file) {
  if (has(file, "/lib/python3") || file.starts_with("lib/python3")) return true;
  const std::size_t folder = file.find('/');
  const std::string_view top = file.substr(0, folder);
  return is_one_of(top.ends_with(".py") ? top.substr(0, top.size() - 3) : top, kLibrary) ||
         (folder != std::string_view::npos && is_one_of(top, kPackages));
}

}  // namespace

std::string_view file_and_line(std::string_view frame) {
  const std::size_t close = frame.find("): ");
  return frame.starts_with('<') || close == std::string_view::npos ? std::string_view{}
                                                                   : frame.substr(0, close + 1);
}

bool is_own_file(std::string_view file) {
  return !file.starts_with("torch/") && !file.starts_with("stepscope/") && !has(file, "site-packages/") &&
         !has(file, "dist-packages/") && !has(file, "torchinductor_") && !is_library(file);
}

OwnFrames::OwnFrames(const trace::Trace& trace, const trace::Rank& rank)
    : rank_(rank), own_(trace.strings, Ask{&rank}) {}

bool OwnFrames::Ask::operator()(std::string_view frame) const {
  const std::string_view place = file_and_line(frame);
  if (place.empty()) return false;
  if (!rank->source_lines.empty()) return rank->source_lines.contains(std::string(place));
  return is_own_file(place.substr(0, place.rfind('(')));
}

std::string_view OwnFrames::text(std::string_view frame) const {
  const auto line = rank_.source_lines.find(std::string(file_and_line(frame)));
  return line == rank_.source_lines.end() ? std::string_view{} : std::string_view(line->second);
}

}  // namespace stepscope::derive
