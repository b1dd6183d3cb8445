package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"

	"toolgym/api"
)

type tokenCommand struct {
	Name  string   `arg:"" help:"Whose it is; stands in the log and beside episodes."`
	Roles []string `arg:"" help:"What it may do: play, score, train, admin."`
	File  string   `help:"Token file to add the line to; it is made when it is not there." placeholder:"FILE"`
	JSON  bool     `help:"Print JSON."`
}

// Run prints the secret, which is shown this once, and the line that the token
// file needs, which does not give it away.
func (c tokenCommand) Run(world *console) error {
	secret, token, err := api.Issue(c.Name, c.Roles...)
	if err != nil {
		return err
	}
	if c.File != "" {
		if err := c.add(token); err != nil {
			return err
		}
	}
	if c.JSON {
		return world.printJSON(struct {
			Name  string   `json:"name"`
			Roles []string `json:"roles"`
			Token string   `json:"token"`
			Line  string   `json:"line"`
		}{token.Name, token.Roles, secret, token.String()})
	}
	return world.printf("%s\n%s\n", secret, token)
}

// add appends the token to the file, unless its name is there already.
func (c tokenCommand) add(token api.Token) (err error) {
	refuse := func(err error) error {
		return unwritable(c.File, "a token file that can be read and written", err)
	}
	file, err := os.OpenFile(c.File, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return refuse(err)
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	text, err := io.ReadAll(file)
	if err != nil {
		return refuse(err)
	}
	there, err := api.ParseTokens(bytes.NewReader(text))
	if err != nil {
		return fmt.Errorf("%s: %w", c.File, err)
	}
	for _, other := range there {
		if other.Name == token.Name {
			return refuse(fmt.Errorf("there is a token %s already", token.Name))
		}
	}
	line := token.String() + "\n"
	if len(text) > 0 && text[len(text)-1] != '\n' {
		line = "\n" + line
	}
	if _, err := file.WriteString(line); err != nil {
		return refuse(errors.Join(err, file.Truncate(int64(len(text))))) // no part of a line
	}
	return nil
}
