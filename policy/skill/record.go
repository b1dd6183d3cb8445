package skill

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
)

// mostEpisodes is the number of a course's last episode at the most.
const mostEpisodes = 100_000

// mostLine bounds a line of a record.
const mostLine = 1 << 20

// ReadEpisodes reads a course's record, a line an episode. A line that is none
// is an [*tools.Error], code Invalid, that names it.
func ReadEpisodes(r io.Reader) ([]Episode, error) {
	var episodes []Episode
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, mostLine)
	for n := 1; lines.Scan(); n++ {
		var e Episode
		decoder := json.NewDecoder(bytes.NewReader(lines.Bytes()))
		decoder.DisallowUnknownFields()
		if err := decoder.Decode(&e); err != nil {
			return nil, invalid(fmt.Sprintf("line %d", n), err.Error(), "an episode as toolgym skills learn writes it")
		}
		if e.Number < 1 || e.Number > mostEpisodes {
			return nil, invalid(fmt.Sprintf("line %d", n), fmt.Sprintf("episode %d", e.Number), fmt.Sprintf("1 to %d", mostEpisodes))
		}
		episodes = append(episodes, e)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("reading a record of episodes: %w", err)
	}
	return episodes, nil
}
