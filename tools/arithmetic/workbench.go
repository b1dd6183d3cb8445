package arithmetic

import (
	"context"
	"encoding/json"
	"math/big"
	"strconv"
	"strings"

	"toolgym/internal/calculator"
	"toolgym/tools"
)

// workbench is an episode with typed tools.
type workbench struct {
	expression string
	target     *big.Rat
	values     map[string]json.Number // by letter, where they are to be looked up
	memory     *big.Rat               // nil until something is stored

	answered, right bool
}

func newWorkbench(level string, p Problem) (*workbench, error) {
	value, err := calculator.Evaluate(p.Expression()) // exact at every size, as int need not be
	if err != nil {
		return nil, err
	}
	target, err := calculator.Exact(value)
	if err != nil {
		return nil, err
	}
	w := &workbench{expression: written(level, p), target: target}
	if level == grounded {
		w.values = map[string]json.Number{}
		for i := range p.shape().operands {
			w.values[letters()[i]] = json.Number(strconv.Itoa(p.Operands[i]))
		}
	}
	return w, nil
}

func (w *workbench) observe() any {
	return struct {
		Expression string `json:"expression"`
	}{w.expression}
}

// call binds the tools that act on the episode's state to it; the others keep
// none and run as they are declared.
func (w *workbench) call(ctx context.Context, call tools.Call) (tools.Result, float64, bool, error) {
	var result tools.Result
	var err error
	box := declared()
	switch {
	case call.Name == "store":
		result, err = tools.Bind(box.store, w.store).Call(ctx, call.Arguments)
	case call.Name == "recall":
		result, err = tools.Bind(box.recall, w.recall).Call(ctx, call.Arguments)
	case call.Name == "answer":
		result, err = tools.Bind(box.answer, w.answer).Call(ctx, call.Arguments)
	case call.Name == "lookup" && w.values != nil:
		result, err = tools.Bind(box.lookup, w.lookup).Call(ctx, call.Arguments)
	case w.values != nil:
		result, err = box.grounded.Call(ctx, call)
	default:
		result, err = box.typed.Call(ctx, call)
	}
	return result, float64(bit(w.right)), w.answered, err
}

func (w *workbench) say(string) (float64, bool) { return 0, false }

func (w *workbench) success() bool { return w.right }

func (w *workbench) store(_ context.Context, in value) (stored, error) {
	v, err := calculator.Exact(in.Value)
	if err != nil {
		return stored{}, err
	}
	w.memory = v
	return stored{calculator.Decimal(v)}, nil
}

func (w *workbench) recall(context.Context, nothing) (result, error) {
	if w.memory == nil {
		return result{}, tools.Mistakef("nothing is stored: call store first")
	}
	return result{calculator.Decimal(w.memory)}, nil
}

// answer never says whether the value was right.
func (w *workbench) answer(_ context.Context, in value) (accepted, error) {
	v, err := calculator.Exact(in.Value)
	if err != nil {
		return accepted{}, err
	}
	w.answered, w.right = true, v.Cmp(w.target) == 0
	return accepted{true}, nil
}

func (w *workbench) lookup(_ context.Context, in letter) (result, error) {
	v, ok := w.values[in.Name]
	if !ok {
		names := letters()
		return result{}, tools.Mistakef("the task has no such letter: its letters are %s", strings.Join(names[:len(w.values)], ", "))
	}
	return result{v}, nil
}
