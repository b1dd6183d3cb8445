package skill

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/rogpeppe/go-internal/lockedfile"

	"toolgym/internal/atomicfile"
	"toolgym/internal/strictjson"
	"toolgym/tools"
)

// fileVersion is the version of the format that is written, and the only one
// that is read.
const fileVersion = 1

// mostBytes bounds what is read of a library file.
const mostBytes = 64 << 20

// written is a library as its file holds it.
type written struct {
	Version       int     `json:"version"`
	Rules         string  `json:"rules"`
	EmbeddingSize int     `json:"embedding_size"`
	Skills        []Skill `json:"skills"`
}

// Load reads a library. A file that is no library, or that holds what no
// library can hold, is an [*tools.Error] that says what is wrong, where in the
// file, and what would be right.
func Load(path string) (*Library, error) {
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, &tools.Error{Code: tools.NotFound, Where: path, Message: "there is no such file", Want: "a library that toolgym skills learn has written"}
	}
	if err != nil {
		return nil, fmt.Errorf("opening a skill library: %w", err)
	}
	text, err := io.ReadAll(io.LimitReader(file, mostBytes+1))
	if err := errors.Join(err, file.Close()); err != nil {
		return nil, fmt.Errorf("reading a skill library: %w", err)
	}
	l, err := Decode(text)
	if err != nil {
		return nil, within(path+"#", err)
	}
	return l, nil
}

// within puts the place of a caller's mistake into a larger one.
func within(where string, err error) error {
	e := (*tools.Error)(nil)
	if !errors.As(err, &e) {
		return err
	}
	moved := *e
	moved.Where = where + e.Where
	return &moved
}

// Decode is Load for a text.
func Decode(text []byte) (*Library, error) {
	w, err := decodeFile(text)
	if err != nil {
		return nil, err
	}
	switch {
	case w.Version != fileVersion:
		return nil, invalid("/version", fmt.Sprintf("version %d", w.Version), fmt.Sprintf("%d; a newer file needs a newer toolgym", fileVersion))
	case w.Rules != tools.Sound && w.Rules != tools.Documented:
		return nil, invalid("/rules", fmt.Sprintf("unknown rules %.80q", w.Rules), "sound or documented")
	case w.EmbeddingSize != EmbeddingSize:
		return nil, invalid("/embedding_size", fmt.Sprintf("embeddings of %d numbers", w.EmbeddingSize), fmt.Sprint(EmbeddingSize))
	}
	l := NewLibrary(w.Rules)
	for i := range w.Skills {
		s := w.Skills[i]
		s.compact()
		at := fmt.Sprintf("/skills/%d", i)
		if err := s.Validate(); err != nil {
			return nil, within(at, err)
		}
		if first, taken := l.byName[s.Name]; taken {
			return nil, invalid(at+"/name", fmt.Sprintf("the name %q stands already at /skills/%d", s.Name, first), "each name once")
		}
		l.append(s)
	}
	l.markSaved()
	return l, nil
}

// compact takes the file's indentation out of arguments, so that equal ones have
// equal bytes.
func (s *Skill) compact() {
	for i := range s.Actions {
		var b bytes.Buffer
		if err := json.Compact(&b, s.Actions[i].Arguments); err == nil {
			s.Actions[i].Arguments = b.Bytes()
		}
	}
}

// decodeFile reads the text strictly: no unknown field, no key twice, nothing
// behind.
func decodeFile(text []byte) (w written, err error) {
	const want = "a library that toolgym skills learn has written"
	if len(text) > mostBytes {
		return w, &tools.Error{Code: tools.TooLarge, Message: fmt.Sprintf("more than %d bytes", mostBytes), Want: want}
	}
	if _, err := strictjson.Decode(text); err != nil {
		return w, invalid("", err.Error(), want)
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	var wrong *json.UnmarshalTypeError
	switch err := decoder.Decode(&w); {
	case errors.As(err, &wrong):
		return w, invalid(fmt.Sprintf(" at byte %d", wrong.Offset), fmt.Sprintf("a JSON %s in the field %q", wrong.Value, wrong.Field), "a "+wrong.Type.String())
	case err != nil:
		return w, invalid("", err.Error(), want)
	}
	return w, nil
}

// Encode writes the library as its file holds it.
func (l *Library) Encode() ([]byte, error) {
	w := written{Version: fileVersion, Rules: l.rules, EmbeddingSize: EmbeddingSize, Skills: l.skills}
	if w.Skills == nil {
		w.Skills = []Skill{}
	}
	text, err := json.MarshalIndent(w, "", " ")
	if err != nil {
		return nil, fmt.Errorf("encoding a skill library: %w", err)
	}
	return append(text, '\n'), nil
}

// Save brings what was learnt since the library was loaded, or saved last,
// into the file, and takes over what others have saved there meanwhile. The file
// is locked from reading to writing, so that of two processes neither loses
// anything; its name means the old content or the new one, never a part. The
// lock is a file beside it, PATH.lock.
func (l *Library) Save(path string) error {
	unlock, err := lockedfile.MutexAt(path + ".lock").Lock()
	if err != nil {
		return fmt.Errorf("locking a skill library: %w", err)
	}
	defer unlock()
	current, err := Load(path)
	if e := (*tools.Error)(nil); errors.As(err, &e) && e.Code == tools.NotFound {
		current, err = NewLibrary(l.rules), nil
	}
	if err != nil {
		return err
	}
	if err := current.mergeLearnt(l); err != nil {
		return err
	}
	text, err := current.Encode()
	if err != nil {
		return err
	}
	if err := atomicfile.Write(path, text); err != nil {
		return fmt.Errorf("writing a skill library: %w", err)
	}
	current.markSaved()
	*l = *current
	return nil
}
