// Command toolgym is a gym for tool calling: environments whose actions are
// JSON-schema tools, a strict grader of what models write, a group scorer for
// GRPO, and one binary that serves all of it.
//
// Run toolgym --help for the commands and toolgym COMMAND --help for the flags
// of one. Results go to stdout, progress and logs to stderr. Settings come from
// the flags, then from TOOLGYM_* variables, then from the JSON file that
// --config names. Exit codes: 0 done, 1 a threshold or an audit failed, 2 usage
// or configuration, 3 something outside failed.
//
// One file holds one command; run.go parses the command line and turns errors
// into exit codes.
package main
