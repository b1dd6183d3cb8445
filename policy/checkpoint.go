package policy

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"toolgym/internal/refusal"
	"toolgym/policy/internal/disk"
	"toolgym/tools"
)

// Checkpoint is what stands beside the weights: a JSON file that goes by the
// name of the safetensors file, with the ending .json.
type Checkpoint struct {
	Config Config `json:"config"`
	Env    string `json:"env,omitempty"` // the environment it was trained on
	Rules  string `json:"rules"`         // sound or documented
	Seed   uint64 `json:"seed"`
	Update int    `json:"update"` // updates made
	// Random is the state of the training loop's random source, as
	// [math/rand/v2.PCG.MarshalBinary] writes it.
	Random []byte `json:"random,omitempty"`
	// Progress is what else the training loop needs to go on.
	Progress json.RawMessage `json:"progress,omitempty"`

	// Optimizer and Start, the weights of the starting policy, are written by
	// [Learner.Save] and missing from a checkpoint that only acts. Numbers are
	// little-endian float32 in the order of the weights.
	Optimizer *optimizer `json:"optimizer,omitempty"`
	Start     []byte     `json:"start,omitempty"`
	// Weights is the SHA-256 of the safetensors file; empty means unchecked.
	Weights string `json:"weights"`
}

// optimizer is the state of Adam.
type optimizer struct {
	Steps  int    `json:"steps"`
	Mean   []byte `json:"mean"`
	Square []byte `json:"square"`
}

// sidecar returns the name of the JSON file beside a safetensors file.
func sidecar(path string) string { return strings.TrimSuffix(path, ".safetensors") + ".json" }

// next is the ending of a sidecar whose weights are about to be written.
const next = ".next"

// Save writes the weights to path, and beside them what is needed to act. Env,
// Rules, Seed, Random and Progress are taken from c, the rest from the network.
func (n *Net) Save(path string, c Checkpoint) error {
	c.Config, c.Optimizer, c.Start = n.config, nil, nil
	return n.save(path, c)
}

// Save writes the weights to path, and beside them what is needed to train on
// bit for bit. Env, Rules, Seed, Random and Progress are taken from c, the rest
// from the learner. Whenever the machine stops, the files hold the old checkpoint or
// the new one.
func (l *Learner) Save(path string, c Checkpoint) error {
	c.Config, c.Update = l.net.config, l.updates
	c.Optimizer = &optimizer{Steps: l.adam.Steps, Mean: encode(l.adam.Mean), Square: encode(l.adam.Square)}
	c.Start = nil
	if l.start != nil {
		c.Start = encode(l.start.params.Flat)
	}
	return l.net.save(path, c)
}

// save writes the sidecar under a second name, the weights, and then renames
// the sidecar: a reader takes the one whose digest fits the weights.
func (n *Net) save(path string, c Checkpoint) error {
	weights, err := serialize(n.params.List())
	if err != nil {
		return fmt.Errorf("serializing the weights: %w", err)
	}
	c.Weights = digest(weights)
	text, err := json.Marshal(c)
	if err != nil {
		return fmt.Errorf("encoding the sidecar: %w", err)
	}
	if err := disk.Write(sidecar(path)+next, append(text, '\n')); err != nil {
		return fmt.Errorf("writing the sidecar: %w", err)
	}
	if err := disk.Write(path, weights); err != nil {
		return fmt.Errorf("writing the weights: %w", errors.Join(err, os.Remove(sidecar(path)+next)))
	}
	if err := os.Rename(sidecar(path)+next, sidecar(path)); err != nil {
		return fmt.Errorf("putting the sidecar in place: %w", err)
	}
	return nil
}

func digest(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])
}

// LoadNet reads the network of a checkpoint. A file that is missing or can not
// be used is a [*tools.Error] with the reason.
func LoadNet(path string) (*Net, Checkpoint, error) {
	weights, err := readFile(path)
	if err != nil {
		return nil, Checkpoint{}, err
	}
	if text, err := os.ReadFile(sidecar(path) + next); err == nil {
		// The writer was stopped between the two files, or before.
		if c, err := decodeSidecar(text); err == nil && c.Weights == digest(weights) {
			return decodeAt(path, weights, text)
		}
	}
	text, err := readFile(sidecar(path))
	if err != nil {
		return nil, Checkpoint{}, err
	}
	return decodeAt(path, weights, text)
}

// decodeAt is DecodeNet of a file.
func decodeAt(path string, weights, text []byte) (*Net, Checkpoint, error) {
	n, c, err := DecodeNet(weights, text)
	if err != nil {
		return nil, Checkpoint{}, at(path, err)
	}
	return n, c, nil
}

// LoadLearner reads a checkpoint to train on. One that only acts is refused.
func LoadLearner(path string) (*Learner, Checkpoint, error) {
	n, c, err := LoadNet(path)
	if err != nil {
		return nil, Checkpoint{}, err
	}
	l, err := restore(n, c)
	if err != nil {
		return nil, Checkpoint{}, at(path, err)
	}
	return l, c, nil
}

// restore puts a learner together again.
func restore(n *Net, c Checkpoint) (*Learner, error) {
	if c.Optimizer == nil {
		return nil, refusal.New("optimizer", "a checkpoint of a learner", "missing: this checkpoint only acts")
	}
	if c.Optimizer.Steps != c.Update {
		return nil, refusal.New("optimizer/steps", fmt.Sprint(c.Update), "%d after %d updates", c.Optimizer.Steps, c.Update)
	}
	l, err := NewLearner(n)
	if err != nil {
		return nil, err
	}
	l.updates, l.adam.Steps = c.Update, c.Optimizer.Steps
	if err := decode("optimizer/mean", c.Optimizer.Mean, l.adam.Mean); err != nil {
		return nil, err
	}
	if err := decode("optimizer/square", c.Optimizer.Square, l.adam.Square); err != nil {
		return nil, err
	}
	for i, x := range l.adam.Square {
		if x < 0 {
			return nil, refusal.New("optimizer/square", "at least 0", "number %d is %v", i, x)
		}
	}
	if l.start != nil {
		if err := decode("start", c.Start, l.start.params.Flat); err != nil {
			return nil, err
		}
		l.freeze(l.start)
	}
	return l, nil
}

// DecodeNet reads a checkpoint from memory: the safetensors file and its
// sidecar. Content that can not be used is a [*tools.Error] with the reason.
func DecodeNet(weights, text []byte) (*Net, Checkpoint, error) {
	c, err := decodeSidecar(text)
	if err != nil {
		return nil, Checkpoint{}, err
	}
	if c.Weights != "" && c.Weights != digest(weights) {
		return nil, Checkpoint{}, refusal.New("weights", "the file whose SHA-256 is "+c.Weights, "the weights are not those that the sidecar describes")
	}
	n, err := emptyNet(c.Config)
	if err != nil {
		return nil, Checkpoint{}, err
	}
	if err := deserialize(weights, n.params.List()); err != nil {
		return nil, Checkpoint{}, err
	}
	return n, c, nil
}

func decodeSidecar(text []byte) (Checkpoint, error) {
	var c Checkpoint
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&c); err != nil {
		return Checkpoint{}, refusal.New("sidecar", "the JSON that was saved", "%v", err)
	}
	if _, err := d.Token(); err != io.EOF {
		return Checkpoint{}, refusal.New("sidecar", "the JSON that was saved", "something follows the JSON value")
	}
	if c.Update < 0 {
		return Checkpoint{}, refusal.New("update", "at least 0", "%d updates", c.Update)
	}
	return c, c.Config.Validate()
}

func readFile(path string) ([]byte, error) {
	content, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, &tools.Error{Code: tools.NotFound, Where: path, Message: "no such file", Want: "a checkpoint"}
	}
	if err != nil {
		return nil, fmt.Errorf("reading a checkpoint: %w", err)
	}
	return content, nil
}

// at puts the file before the place in it.
func at(path string, err error) error {
	if _, ok := errors.AsType[*tools.Error](err); !ok {
		return fmt.Errorf("%s: %w", path, err)
	}
	return refusal.Below(path+": ", err)
}
