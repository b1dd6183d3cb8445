package telemetry

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"toolgym/internal/atomicfile"
	"toolgym/tools"
)

// The files of a folder.
const (
	linesName = "telemetry.jsonl"
	pngName   = "curves.png"
	svgName   = "curves.svg"
)

// Folder holds the telemetry of a run. It is used by one goroutine.
type Folder struct {
	dir    string
	lines  *atomicfile.Appender
	events *events
	drawn  bool // the curves have all records
}

// Open creates a folder, or opens that of a run that continues after the given update.
// An invalid path is a [*tools.Error].
func Open(dir string, update int, now func() time.Time) (*Folder, error) {
	if err := os.MkdirAll(dir, 0o755); atomicfile.IsFull(err) {
		return nil, fmt.Errorf("making the folder of the telemetry: %w", err)
	} else if err != nil {
		return nil, &tools.Error{Code: tools.Invalid, Where: dir, Message: err.Error(), Want: "a writable directory"}
	}
	path := filepath.Join(dir, linesName)
	if err := truncate(path, update); err != nil {
		return nil, err
	}
	file, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, fmt.Errorf("opening the telemetry: %w", err)
	}
	lines, err := atomicfile.NewAppender(file)
	if err != nil {
		return nil, fmt.Errorf("opening the telemetry: %w", errors.Join(err, file.Close()))
	}
	events, err := openEvents(dir, update, now)
	if err != nil {
		return nil, errors.Join(err, lines.Close())
	}
	return &Folder{dir: dir, lines: lines, events: events}, nil
}

// Write adds a record. It is on disk after [Folder.Flush]. A record that the disk has
// no room for ([atomicfile.IsFull]) is not to be written again: Flush does that.
func (f *Folder) Write(r Record) error {
	text, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("encoding a record: %w", err)
	}
	f.drawn = false
	_, err = f.lines.Write(append(text, '\n'))
	if err := errors.Join(err, f.events.write(r)); err != nil { // both have it, also after an error
		return fmt.Errorf("writing telemetry: %w", err)
	}
	if len(r.Greedy) > 0 {
		return f.Flush()
	}
	return nil
}

// Flush writes buffered records to the files. Write does so after every record with an
// evaluation.
func (f *Folder) Flush() error {
	if err := errors.Join(f.lines.Flush(), f.events.file.Flush()); err != nil {
		return fmt.Errorf("writing telemetry: %w", err)
	}
	return nil
}

// Draw flushes, and draws the curves of all records.
func (f *Folder) Draw() error {
	if err := f.Flush(); err != nil || f.drawn {
		return err
	}
	records, err := ReadFolder(f.dir)
	if err != nil || len(records) == 0 {
		return err
	}
	for name, format := range map[string]string{pngName: "png", svgName: "svg"} {
		content, err := Curves(records, format)
		if err != nil {
			return err
		}
		if err := atomicfile.Write(filepath.Join(f.dir, name), content); err != nil {
			return fmt.Errorf("writing the curves: %w", err)
		}
	}
	f.drawn = true
	return nil
}

// Close draws the curves, unless Draw has done so, and closes the files.
func (f *Folder) Close() error {
	err := f.Draw()
	closed := errors.Join(f.lines.Close(), f.events.file.Close())
	if err != nil { // which closed repeats
		return err
	}
	return closed
}

// ReadFolder reads the records of a folder.
func ReadFolder(dir string) ([]Record, error) { return Read(filepath.Join(dir, linesName)) }

// Read reads a file of records. It ignores an incomplete last line; any other invalid
// line is an error.
func Read(path string) ([]Record, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("reading telemetry: %w", err)
	}
	var records []Record
	for n := 1; len(content) > 0; n++ {
		line, rest, whole := splitLine(content)
		content = rest
		if !whole {
			break
		}
		var r Record
		if err := json.Unmarshal(line, &r); err != nil {
			return nil, fmt.Errorf("%s: line %d: %w", path, n, err)
		}
		records = append(records, r)
	}
	return records, nil
}

// splitLine splits off the first line; whole reports whether it has a line end.
func splitLine(content []byte) (line, rest []byte, whole bool) {
	for i, c := range content {
		if c == '\n' {
			return content[:i], content[i+1:], true
		}
	}
	return content, nil, false
}

// truncate removes the records after an update.
func truncate(path string, update int) error {
	records, err := Read(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	var kept []byte
	for _, r := range records {
		if r.Update > update {
			break
		}
		text, err := json.Marshal(r)
		if err != nil {
			return fmt.Errorf("encoding a record: %w", err)
		}
		kept = append(append(kept, text...), '\n')
	}
	if err := atomicfile.Write(path, kept); err != nil {
		return fmt.Errorf("truncating telemetry after update %d: %w", update, err)
	}
	return nil
}
