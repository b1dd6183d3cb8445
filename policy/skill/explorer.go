package skill

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"

	"toolgym/tools"
)

// An Explorer chooses a tool when no skill is known to help. It knows nothing
// of what tools do. It is used by one goroutine.
type Explorer interface {
	// Begin is called when an episode begins.
	Begin()
	// Choose picks one of the tools, of which none takes arguments, in a state
	// that is named by a text.
	Choose(set tools.Set, state string) tools.Call
}

// The names of the explorers.
const (
	ExploreNovelty = "novelty" // by counts: the tool that was tried least in the state
	ExploreRandom  = "random"
)

// NewExplorer makes an explorer by its name, which draws from the source. An
// unknown name is an [*tools.Error], code Invalid.
func NewExplorer(name string, source rand.Source) (Explorer, error) {
	e := &explorer{draw: rand.New(source), novelty: name == ExploreNovelty}
	if name != ExploreNovelty && name != ExploreRandom {
		return nil, invalid("explorer", fmt.Sprintf("unknown explorer %.80q", name), "novelty or random")
	}
	return e, nil
}

type explorer struct {
	draw    *rand.Rand
	novelty bool
	tried   map[[2]string]int // by state and tool, in this episode
}

func (e *explorer) Begin() { e.tried = map[[2]string]int{} }

func (e *explorer) Choose(set tools.Set, state string) tools.Call {
	var least []string
	fewest := 0
	for _, tool := range set {
		if strings.HasPrefix(tool.Name, Prefix) {
			continue
		}
		n := 0
		if e.novelty {
			n = e.tried[[2]string{state, tool.Name}]
		}
		if len(least) == 0 || n < fewest {
			least, fewest = least[:0], n
		}
		if n == fewest {
			least = append(least, tool.Name)
		}
	}
	if len(least) == 0 {
		return tools.Call{}
	}
	name := least[e.draw.Uint32N(uint32(len(least)))]
	if e.novelty {
		e.tried[[2]string{state, name}]++
	}
	return tools.Call{Name: name, Arguments: json.RawMessage("{}")}
}
