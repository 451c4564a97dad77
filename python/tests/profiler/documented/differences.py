"""The cases in which stepscope.profiler differs from PyTorch 2.15 on purpose. docs/profiler.md gives each difference a row, with its reason."""

from __future__ import annotations

DIFFERENCES = {
    "Python calls": [
        "event_fields_test.py::test_activity_type_of_a_python_call",
        "event_fields_test.py::test_python_calls_are_events",
        "event_fields_test.py::test_name_of_a_python_call",
        "event_fields_test.py::test_functions_written_in_c_are_events",
        "event_fields_test.py::test_python_call_has_the_id_of_its_caller",
        "event_fields_test.py::test_modules_are_events",
        "event_fields_test.py::test_modules_of_a_class_are_numbered",
        "event_fields_test.py::test_op_is_a_child_of_the_python_call",
        "event_fields_test.py::test_averages_with_python_calls",
        "garbage_test.py::test_each_collection_is_an_event",
        "kineto_results_test.py::test_python_calls_are_nodes",
    ],
    "functions written in C": [
        "call_stacks_test.py::test_entry_of_a_function_written_in_c",
        "call_stacks_test.py::test_functions_written_in_c_are_in_the_file",
        "call_stacks_test.py::test_exported_stacks_begin_with_the_outermost_call",
        "garbage_test.py::test_call_of_the_collector_is_in_the_file",
    ],
    "entries of stacks": [
        "call_stacks_test.py::test_entry_of_a_method_is_its_plain_name",
        "call_stacks_test.py::test_no_stacks_of_ops_unless_verbose",
        "call_stacks_test.py::test_stack_in_the_file",
        "call_stacks_test.py::test_call_has_the_line_that_made_it",
    ],
    "threads": [
        "which_threads_test.py::test_only_the_thread_of_the_profiler",
        "which_threads_test.py::test_only_ops_of_the_thread_of_the_profiler",
    ],
    "errors": [
        "file_test.py::test_missing_folder_does_not_end_the_program",
        "refusals_test.py::test_is_refused_with_this_class[activities: an empty list]",
        "refusals_test.py::test_is_refused_with_this_class[activities: an empty dict]",
        "refusals_test.py::test_is_refused_with_this_class[activities: an unknown key]",
        "refusals_test.py::test_is_refused_with_this_class[use_cuda]",
        "refusals_test.py::test_is_refused_with_this_class[experimental_config: a dict]",
        "refusals_test.py::test_is_refused_with_this_class[execution_trace_observer: a text]",
        "refusals_test.py::test_is_refused_with_this_class[schedule(): no active step]",
        "refusals_test.py::test_is_refused_with_this_class[schedule(): wait below 0]",
        "refusals_test.py::test_is_refused_with_this_class[schedule(): step below 0]",
        "refusals_test.py::test_is_refused_with_this_class[events() before the start]",
        "refusals_test.py::test_is_refused_with_this_class[key_averages() before the start]",
        "refusals_test.py::test_is_refused_with_this_class[export_chrome_trace() before the start]",
        "refusals_test.py::test_is_refused_with_this_class[export_stacks() before the start]",
        "refusals_test.py::test_is_refused_with_this_class[stop() before the start]",
        "refusals_test.py::test_is_refused_with_this_class[table(): sorted by something unknown]",
        "refusals_test.py::test_is_refused_with_this_class[export_stacks(): without stacks]",
        "refusals_test.py::test_is_refused_with_this_class[export_chrome_trace(): a number]",
        "refusals_test.py::test_is_refused_with_this_class[add_metadata(): a number]",
        "refusals_test.py::test_is_refused_with_this_class[events() of a trace_only profiler]",
        "refusals_test.py::test_is_refused_with_this_class[key_averages() of a trace_only profiler]",
        "schedules_test.py::test_step_before_the_start",
        "second_profiler_test.py::test_second_profiler_takes_over",
        "second_profiler_test.py::test_start_while_recording_begins_anew",
        "second_profiler_test.py::test_stop_may_be_called_again",
    ],
    "accepted here": [
        "cycles_test.py::test_no_time_to_read_gives_no_events",
        "fast_ranges_test.py::test_range_left_before_it_is_entered_is_an_error",
        "refusals_test.py::test_is_refused[activities: an empty list]",
        "refusals_test.py::test_is_refused[activities: an empty dict]",
        "refusals_test.py::test_is_refused[use_cuda]",
        "refusals_test.py::test_is_refused[events() of a trace_only profiler]",
        "refusals_test.py::test_is_refused[key_averages() of a trace_only profiler]",
    ],
    "not deprecated here": [
        "warnings_test.py::test_with_modules_is_deprecated",
        "warnings_test.py::test_adjust_profiler_step_is_deprecated",
        "warnings_test.py::test_memory_timeline_is_deprecated",
    ],
    "classes": [
        "surface_test.py::test_events_are_lists_of_pytorchs_class",
        "surface_test.py::test_events_are_of_pytorchs_class",
        "surface_test.py::test_profiler_is_of_pytorchs_class",
    ],
    "`_RecordFunctionFast`": [
        "fast_ranges_test.py::test_range_of_a_name_imported_earlier_is_an_event",
        "fast_ranges_test.py::test_range_made_before_the_profiler_is_an_event",
    ],
    "`Record function id`": [
        "file_args_test.py::test_record_function_id_without_an_observer",
    ],
    "inputs of custom Functions": [
        "input_kinds_test.py::test_inputs_of_a_custom_function",
        "input_kinds_test.py::test_values_of_a_custom_function",
    ],
    "memory in `kineto_results`": [
        "kineto_results_test.py::test_raw_event_of_memory_has_bytes",
        "kineto_results_test.py::test_allocations_are_nodes",
        "kineto_results_test.py::test_memory_profile_of_pytorch_reads_the_results",
    ],
    "loaders": [
        "loops_test.py::test_loader_marks_nothing_else",
        "loops_test.py::test_ops_of_a_batch_belong_to_the_loader",
    ],
    "execution traces": [
        "observers_test.py::test_file_is_there_after_unregistering",
        "observers_test.py::test_outputs_of_a_node",
        "observers_test.py::test_schema_of_a_node",
        "observers_test.py::test_output_of_one_op_is_the_input_of_the_next",
        "observers_test.py::test_keys_of_the_trace",
        "observers_test.py::test_folder_of_resources",
    ],
    "complex products": [
        "operations_test.py::test_operations_of[complex mm]",
    ],
    "ranges": [
        "ranges_test.py::test_arguments_of_a_range_are_one_input",
        "ranges_test.py::test_unusual_name[long]",
        "ranges_test.py::test_range_open_at_the_end_is_an_event",
        "second_profiler_test.py::test_ranges_reach_the_profiler_of_autograd",
    ],
}
OF_CASE = {case: difference for difference, cases in DIFFERENCES.items() for case in cases}
