package parts

import (
	"os"
	"testing"
)

// The variables that decide what a missing part does to a test.
const (
	RequireVariable = "TOOLGYM_REQUIRE_PARTS"
	HideVariable    = "TOOLGYM_NO_PARTS"
)

// Need returns the path of the program that p stands for. Without it the test
// ends here: skipped, or failed where parts are required.
func Need(t testing.TB, p Part) string {
	t.Helper()
	required, hidden := os.Getenv(RequireVariable) != "", os.Getenv(HideVariable) != ""
	switch {
	case required && hidden:
		t.Fatalf("%s and %s contradict each other", RequireVariable, HideVariable)
	case hidden:
		t.Skipf("%s is hidden by %s", p, HideVariable)
	}
	path, err := p.find()
	switch {
	case err == nil:
		return path
	case required:
		t.Fatalf("%s is set: %v", RequireVariable, err)
	default:
		t.Skip(err)
	}
	return ""
}
