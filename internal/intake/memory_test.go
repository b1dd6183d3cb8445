package intake

import (
	"fmt"
	"testing"
)

// TestRememberedListsAreBoundedByWhatTheyCompileTo reads lists of 2 kB whose
// patterns compile to far more.
func TestRememberedListsAreBoundedByWhatTheyCompileTo(t *testing.T) {
	var desk Desk
	read := 0
	for i := range 40 {
		list := "["
		for j := range 20 {
			list += fmt.Sprintf(`{"name":"f%d_%d","parameters":{"properties":{"a":{"pattern":"^([a-z]x{900})%d$"}}}},`, i, j, i)
		}
		set, err := desk.Tools([]byte(list[:len(list)-1] + "]"))
		if err != nil {
			t.Fatal(err)
		}
		read += set.Memory()
		remembered := 0
		for text, found := range desk.known {
			remembered += len(text) + found.set.Memory()
		}
		if remembered > maxBytes || desk.bytes > maxBytes || desk.bytes < remembered {
			t.Fatalf("%d bytes are remembered, %d are counted; want at most %d", remembered, desk.bytes, maxBytes)
		}
		if len(desk.known) == 0 {
			t.Fatal("nothing is remembered")
		}
	}
	if read <= maxBytes {
		t.Fatalf("the lists take %d bytes together; want more than %d", read, maxBytes)
	}
}
