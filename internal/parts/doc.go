// Package parts decides what becomes of a test that needs a program from
// outside: a real Ollama, a browser, a Python with PyTorch, or without anything.
//
// A test asks with [Need] and gets the program's path:
//
//	chromium := parts.Need(t, parts.Chromium)
//
// Where the program is missing the test is skipped with the reason and the
// way to get it, so that "go test ./..." works for a person who has only Go.
// Two environment variables change that:
//
//   - TOOLGYM_REQUIRE_PARTS=1 fails the test instead. CI sets it: a green run
//     there means that every real part took part.
//   - TOOLGYM_NO_PARTS=1 hides the programs. CI sets it to test what a person
//     without them gets.
//
// Setting both is a contradiction and fails.
//
// A program is looked for where its own variable points (TOOLGYM_PART_OLLAMA,
// TOOLGYM_PART_CHROMIUM, TOOLGYM_PART_PYTHON), then on the PATH, then where its usual
// installer puts it. A variable that points to nothing usable does not fall
// back to the rest: what was asked for is what is tested.
//
// On Linux, [LimitFiles] and [SmallDisk] make a full disk, in a process of the test's
// own ([OwnProcess]).
//
// Set the two variables for a whole run, not within a test: the Go test cache
// does notice a change of them, but a shared server that is running does not.
package parts
