package main

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"

	"toolgym/internal/refusal"

	"github.com/alecthomas/kong"
)

// configFile is the value of --config. Its settings stand behind the flags and
// the TOOLGYM_* variables.
type configFile string

// BeforeResolve reads the file when the flag was given.
func (f configFile) BeforeResolve(parser *kong.Kong, ctx *kong.Context, trace *kong.Path) error {
	path, _ := ctx.FlagValue(trace.Flag).(configFile)
	text, err := readUpTo(string(path), mostSettings)
	if err != nil {
		return refusal.New("--config", "a readable JSON file", "%v", err)
	}
	var settings map[string]any
	if err := json.Unmarshal(text, &settings); err != nil {
		return refusal.New(string(path), "one JSON object of settings", "%v", err)
	}
	if err := knownSettings(parser, string(path), settings); err != nil {
		return err
	}
	ctx.AddResolver(kong.ResolverFunc(func(_ *kong.Context, _ *kong.Path, flag *kong.Flag) (any, error) {
		if slices.ContainsFunc(flag.Envs, isSet) {
			return nil, nil
		}
		return settings[settingName(flag)], nil
	}))
	return nil
}

func isSet(variable string) bool {
	_, ok := os.LookupEnv(variable)
	return ok
}

func settingName(flag *kong.Flag) string { return strings.ReplaceAll(flag.Name, "-", "_") }

// knownSettings refuses a key that is no flag of any command.
func knownSettings(parser *kong.Kong, path string, settings map[string]any) error {
	var known []string
	err := kong.Visit(parser.Model, func(node kong.Visitable, next kong.Next) error {
		if flag, ok := node.(*kong.Flag); ok {
			known = append(known, settingName(flag))
		}
		return next(nil)
	})
	if err != nil {
		return fmt.Errorf("listing flags: %w", err)
	}
	for key := range settings {
		if !slices.Contains(known, key) {
			return refusal.New(path, "a flag's name in snake_case", "unknown setting %q", key)
		}
	}
	return nil
}
