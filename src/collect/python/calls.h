// The Python calls that are open on each thread. Calls are reported by a hook: the profile function up to
// Python 3.11 (profile_hook.cpp), sys.monitoring from 3.12 on (monitoring.cpp).
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <string>

namespace stepscope::collect {

/// Bits of the argument of python_start.
enum Stacks : unsigned { kCalls = 1, kModuleCalls = 2, kSamples = 4, kBuiltins = 8 };

/// The current thread begins or resumes a call (entered), or ends or suspends one (left). `frame`: the call's
/// frame; null: the innermost.
void entered(PyCodeObject* code, PyFrameObject* frame);
void left(PyCodeObject* code, PyFrameObject* frame);
/// The same for a C function that `frame` calls.
void entered_builtin(PyObject* function, PyFrameObject* frame);
void left_builtin(PyObject* function, PyFrameObject* frame);

/// Starts the hook of this Python version. Returns "", or why calls cannot be recorded.
std::string hook_start(unsigned asked);
void hook_stop();

/// Returns "", or why no samples can be taken.
std::string sampler_start();
void sampler_stop();

/// python_start(asked) -> what cannot be recorded as asked, or "". python_stop() ends the recording of calls.
PyObject* python_start(PyObject*, PyObject* asked);
PyObject* python_stop(PyObject*, PyObject*);
/// sampled_lines() -> (path, file as frames name it, line) of every line in samples that ended; each once.
PyObject* sampled_lines(PyObject*, PyObject*);

}  // namespace stepscope::collect
