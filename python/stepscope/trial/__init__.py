"""`stepscope try`: applies what findings propose to copies of a program, from outside, and measures what it saves.

The conductor (`__main__`, `_trials`, `_conductor`) starts the program and its copies. Inside a copy, `_copy` counts steps and waits
for turns. Each file of `changes` is one change.
"""
