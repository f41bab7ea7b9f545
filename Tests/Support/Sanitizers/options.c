// Where the sanitizers' reports go, in the tests and in every program that they start: REPORTS, of Scripts/sanitize.

// As no program is stopped by a report, all of them are seen; Scripts/sanitize fails where there is one.
const char *__tsan_default_options(void) { return "log_path=" REPORTS; }

// Leaks are not looked for: that would take ptrace(2) of a process that forbids it to all (prctl(2), PR_SET_DUMPABLE).
const char *__asan_default_options(void) { return "detect_leaks=0:log_path=" REPORTS; }
