package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"toolgym/internal/refusal"
	"toolgym/policy/skill"
	"toolgym/tools"
)

type skillsExtract struct {
	File string `arg:"" optional:"" help:"Trajectories as toolgym play --json prints them, one after the other; - is stdin." default:"-"`
	Out  string `help:"Directory whose library takes the skills in." placeholder:"DIR" required:""`
}

// Run makes skills of what anybody played: a person, a language model, an agent
// of another program.
func (c skillsExtract) Run(world *console) (err error) {
	in := world.in
	if c.File != "-" {
		file, err := os.Open(c.File)
		if err != nil {
			return refusal.New(c.File, "a readable file of trajectories", "%v", err)
		}
		in = file
		defer func() { err = errors.Join(err, file.Close()) }()
	}
	library, err := libraryIn(c.Out)
	if err != nil {
		return err
	}
	if library == nil {
		library = skill.NewLibrary(tools.Sound)
	}
	read, found, added, err := takeTrajectories(in, library)
	if err != nil {
		return err
	}
	if err := makeOut(c.Out); err != nil {
		return err
	}
	if err := library.Save(filepath.Join(c.Out, libraryFile)); err != nil {
		return err
	}
	return world.printf("%d trajectories, %d skills found, %d of them new, %d in the library\n", read, found, added, library.Len())
}

// takeTrajectories adds the skills of a stream of trajectories.
func takeTrajectories(in io.Reader, library *skill.Library) (read, found, added int, err error) {
	decoder := json.NewDecoder(in)
	for ; ; read++ {
		var trajectory tools.Trajectory
		if err := decoder.Decode(&trajectory); errors.Is(err, io.EOF) {
			return read, found, added, nil
		} else if err != nil {
			return read, found, added, refuseTrajectory(read, err)
		}
		has, isNew, err := library.Learn(trajectory)
		if found, added = found+has, added+isNew; err != nil {
			return read, found, added, refuseTrajectory(read, err)
		}
	}
}

func refuseTrajectory(n int, err error) error {
	return refusal.New(fmt.Sprintf("trajectory %d", n+1), "what toolgym play --json prints", "%v", err)
}
