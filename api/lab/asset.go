package lab

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"io/fs"
	"mime"
	"net/http"
	"path"

	"toolgym/tools"
)

//go:embed static
var staticFiles embed.FS

// An asset is a file that pages load. Its version is in the address under which
// they do, so that browsers may keep it.
type asset struct {
	kind    string
	version string
	text    []byte
}

// assets reads the embedded files.
func assets() (map[string]asset, error) {
	entries, err := fs.ReadDir(staticFiles, "static")
	if err != nil {
		return nil, fmt.Errorf("listing the lab's files: %w", err)
	}
	shared, err := fs.ReadFile(staticFiles, "static/"+sharedScript)
	if err != nil {
		return nil, fmt.Errorf("reading the lab's files: %w", err)
	}
	files := map[string]asset{}
	for _, entry := range entries {
		text, err := fs.ReadFile(staticFiles, "static/"+entry.Name())
		if err != nil {
			return nil, fmt.Errorf("reading the lab's files: %w", err)
		}
		text = bytes.ReplaceAll(text, []byte(`"./`+sharedScript+`"`), []byte(`"./`+sharedScript+"?v="+versionOf(shared)+`"`))
		files[entry.Name()] = asset{kindOf(entry.Name()), versionOf(text), text}
	}
	return files, nil
}

// sharedScript is what the pages' own scripts import. They must do so under the
// address by which the frame loads it: under another one it would run twice.
const sharedScript = "lab.js"

func versionOf(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:8])
}

// kindOf is a file's media type; the system's own table is asked last, since it
// differs between systems.
func kindOf(name string) string {
	switch path.Ext(name) {
	case ".js":
		return "text/javascript; charset=utf-8"
	case ".css":
		return "text/css; charset=utf-8"
	case ".svg":
		return "image/svg+xml"
	}
	return mime.TypeByExtension(path.Ext(name))
}

// file serves an asset, for good where its version is asked for.
func (l *Lab) file(w http.ResponseWriter, r *http.Request) error {
	file, ok := l.static[r.PathValue("name")]
	if !ok {
		return &tools.Error{Code: tools.NotFound, Where: "name", Message: fmt.Sprintf("the lab has no file %.80q", r.PathValue("name"))}
	}
	header := w.Header()
	header.Set("Content-Type", file.kind)
	header.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
	if r.URL.Query().Get("v") == file.version {
		header.Set("Cache-Control", "public, max-age=31536000, immutable")
	}
	_, _ = w.Write(file.text)
	return nil
}
