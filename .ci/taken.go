// Taken runs a command while the port of toolgym serve's default address is in
// use, over IPv4 and IPv6, and ends as the command does:
//
//	taken COMMAND ARGUMENT...
package main

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
)

func main() {
	for network, address := range map[string]string{"tcp4": "127.0.0.1:8080", "tcp6": "[::]:8080"} {
		listener, err := net.Listen(network, address)
		if err != nil { // in use by another program, which does as well, or there is no IPv6
			fmt.Fprintln(os.Stderr, "taken:", err)
			continue
		}
		defer func() { _ = listener.Close() }()
		fmt.Fprintln(os.Stderr, "taken:", listener.Addr())
	}
	command := exec.Command(os.Args[1], os.Args[2:]...)
	command.Stdin, command.Stdout, command.Stderr = os.Stdin, os.Stdout, os.Stderr
	err := command.Run()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		os.Exit(exit.ExitCode())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "taken:", err)
		os.Exit(1)
	}
}
