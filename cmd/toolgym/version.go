package main

import (
	"fmt"
	"runtime"
	"runtime/debug"
)

type versionCommand struct{}

func (versionCommand) Run(world *console) error {
	_, err := fmt.Fprintf(world.out, "toolgym %s %s %s/%s\n", version(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
	return err
}

// version is that of the module the binary was built from.
func version() string {
	if build, ok := debug.ReadBuildInfo(); ok && build.Main.Version != "" {
		return build.Main.Version
	}
	return "(devel)"
}
