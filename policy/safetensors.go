package policy

import (
	"encoding/binary"
	"math"
	"slices"

	"github.com/nlpodyssey/safetensors"

	"toolgym/internal/refusal"
	"toolgym/policy/internal/network"
)

// float is the size of a weight in bytes.
const float = 4

// encode writes weights as little-endian bytes.
func encode(values []float32) []byte {
	content := make([]byte, 0, float*len(values))
	for _, x := range values {
		content = binary.LittleEndian.AppendUint32(content, math.Float32bits(x))
	}
	return content
}

// decode reads what encode wrote. Another length, and numbers that are not
// finite, are refused.
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

// serialize writes parameters as a safetensors file.
func serialize(parameters []network.Parameter[float32]) ([]byte, error) {
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

func shape(q network.Parameter[float32]) []uint64 {
	var sides []uint64
	for _, side := range q.Shape {
		sides = append(sides, uint64(side))
	}
	return sides
}

// deserialize reads a safetensors file that holds exactly the parameters.
func deserialize(content []byte, parameters []network.Parameter[float32]) error {
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
