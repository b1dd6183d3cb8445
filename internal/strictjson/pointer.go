package strictjson

import "strings"

// Pointer writes a path of keys and indices as a JSON pointer (RFC 6901).
func Pointer(path ...string) string {
	var b strings.Builder
	escape := strings.NewReplacer("~", "~0", "/", "~1")
	for _, part := range path {
		b.WriteString("/" + escape.Replace(part))
	}
	return b.String()
}

// Path is the path that a JSON pointer names; Pointer(Path(p)...) is p. What
// stands before the pointer's first slash is left out.
func Path(pointer string) []string {
	path := strings.Split(pointer, "/")[1:]
	unescape := strings.NewReplacer("~1", "/", "~0", "~")
	for i, part := range path {
		path[i] = unescape.Replace(part)
	}
	return path
}
