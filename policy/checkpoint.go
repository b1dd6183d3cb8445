package policy

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"slices"
	"strings"

	"github.com/nlpodyssey/safetensors"

	"toolgym/internal/atomicfile"
	"toolgym/internal/refusal"
	"toolgym/policy/internal/nn"
	"toolgym/tools"
)

// Checkpoint is the content of the JSON file that accompanies the weights, named
// like the safetensors file with the extension .json.
type Checkpoint struct {
	Config Config `json:"config"`
	Env    string `json:"env,omitempty"` // the environment it was trained on
	Rules  string `json:"rules"`         // sound or documented
	Seed   uint64 `json:"seed"`
	Update int    `json:"update"` // updates made
	// Random is the state of the training loop's random source, from
	// [math/rand/v2.PCG.MarshalBinary].
	Random []byte `json:"random,omitempty"`
	// Progress is other state that the training loop needs to resume.
	Progress json.RawMessage `json:"progress,omitempty"`

	// Optimizer and Start, the weights of the initial policy, are written by
	// [Learner.Save] and missing from a checkpoint for acting only. Numbers are
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

// sidecar returns the name of the JSON file of a safetensors file.
func sidecar(path string) string { return strings.TrimSuffix(path, ".safetensors") + ".json" }

// next is the extension of a sidecar whose weights are about to be written.
const next = ".next"

// Save writes the weights to path, and a JSON file with what is needed to act.
// Env, Rules, Seed, Random and Progress are taken from c, the rest from the
// network.
func (n *Net) Save(path string, c Checkpoint) error {
	c.Config, c.Optimizer, c.Start = n.config, nil, nil
	return n.save(path, c)
}

// Save writes the weights to path, and a JSON file with what is needed to continue
// training bit for bit. Env, Rules, Seed, Random and Progress are taken from c, the
// rest from the learner. If the machine stops, the files hold the old checkpoint or
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

// save writes the sidecar under another name, then the weights, and then renames
// the sidecar: a reader takes the one whose digest matches the weights.
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
	if err := atomicfile.Write(sidecar(path)+next, append(text, '\n')); err != nil {
		return fmt.Errorf("writing the sidecar: %w", err)
	}
	if err := atomicfile.Write(path, weights); err != nil {
		return fmt.Errorf("writing the weights: %w", errors.Join(err, os.Remove(sidecar(path)+next)))
	}
	if err := os.Rename(sidecar(path)+next, sidecar(path)); err != nil {
		return fmt.Errorf("renaming the sidecar: %w", err)
	}
	return nil
}

func digest(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])
}

// LoadNet reads the network of a checkpoint. A missing or invalid file is a
// [*tools.Error].
func LoadNet(path string) (*Net, Checkpoint, error) {
	weights, err := readFile(path)
	if err != nil {
		return nil, Checkpoint{}, err
	}
	if text, err := os.ReadFile(sidecar(path) + next); err == nil {
		// The writer was stopped between the two files, or before them.
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

// decodeAt is DecodeNet with the file in its errors.
func decodeAt(path string, weights, text []byte) (*Net, Checkpoint, error) {
	n, c, err := DecodeNet(weights, text)
	if err != nil {
		return nil, Checkpoint{}, at(path, err)
	}
	return n, c, nil
}

// LoadLearner reads a checkpoint to continue training. A checkpoint for acting
// only is a [*tools.Error].
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

// restore returns the learner of a checkpoint.
func restore(n *Net, c Checkpoint) (*Learner, error) {
	if c.Optimizer == nil {
		return nil, refusal.New("optimizer", "a checkpoint of a learner", "missing: this checkpoint is for acting only")
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

// DecodeNet decodes a checkpoint: the safetensors file and its JSON file. Invalid
// content is a [*tools.Error].
func DecodeNet(weights, text []byte) (*Net, Checkpoint, error) {
	c, err := decodeSidecar(text)
	if err != nil {
		return nil, Checkpoint{}, err
	}
	if c.Weights != "" && c.Weights != digest(weights) {
		return nil, Checkpoint{}, refusal.New("weights", "the file whose SHA-256 is "+c.Weights, "the weights do not match the sidecar")
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
		return Checkpoint{}, refusal.New("sidecar", "the JSON that was saved", "more data after the JSON value")
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

// at prepends the file to the place of an error.
func at(path string, err error) error {
	if _, ok := errors.AsType[*tools.Error](err); !ok {
		return fmt.Errorf("%s: %w", path, err)
	}
	return refusal.Below(path+": ", err)
}

// float is the size of a weight in bytes.
const float = 4

// encode encodes weights in little-endian order.
func encode(values []float32) []byte {
	content := make([]byte, 0, float*len(values))
	for _, x := range values {
		content = binary.LittleEndian.AppendUint32(content, math.Float32bits(x))
	}
	return content
}

// decode decodes what encode wrote, and returns a [*tools.Error] for another
// length and for numbers that are not finite.
func decode(name string, content []byte, values []float32) error {
	if len(content) != float*len(values) {
		return refusal.New(name, "a number for each weight", "%d bytes for %d weights", len(content), len(values))
	}
	for i := range values {
		x := math.Float32frombits(binary.LittleEndian.Uint32(content[float*i:]))
		if math.IsNaN(float64(x)) || math.IsInf(float64(x), 0) {
			return refusal.New(name, "finite numbers", "number %d is %v", i, x)
		}
		values[i] = x
	}
	return nil
}

// serialize encodes parameters as a safetensors file.
func serialize(parameters []nn.Parameter[float32]) ([]byte, error) {
	tensors := map[string]safetensors.TensorView{}
	for _, q := range parameters {
		view, err := safetensors.NewTensorView(safetensors.F32, shape(q), encode(q.Values))
		if err != nil {
			return nil, err
		}
		tensors[q.Name] = view
	}
	return safetensors.Serialize(tensors, map[string]string{"format": "pt"})
}

func shape(q nn.Parameter[float32]) []uint64 {
	var sides []uint64
	for _, side := range q.Shape {
		sides = append(sides, uint64(side))
	}
	return sides
}

// deserialize decodes a safetensors file that holds exactly the parameters.
func deserialize(content []byte, parameters []nn.Parameter[float32]) error {
	const want = "the safetensors file that was saved"
	file, err := safetensors.Deserialize(content)
	if err != nil {
		return refusal.New("weights", want, "%v", err)
	}
	for _, q := range parameters {
		tensor, ok := file.Tensor(q.Name)
		switch {
		case !ok:
			return refusal.New(q.Name, want, "the tensor is missing")
		case tensor.DType() != safetensors.F32:
			return refusal.New(q.Name, "F32", "the tensor is of type %v", tensor.DType())
		case !slices.Equal(tensor.Shape(), shape(q)):
			return refusal.New(q.Name, "the shape of the configuration", "the tensor has shape %v, the configuration %v", tensor.Shape(), q.Shape)
		}
		if err := decode(q.Name, tensor.Data(), q.Values); err != nil {
			return err
		}
	}
	if file.Len() != len(parameters) {
		return refusal.New("weights", "no other tensors than the network's", "%d tensors, the network has %d", file.Len(), len(parameters))
	}
	return nil
}
