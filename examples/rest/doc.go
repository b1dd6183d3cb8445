// Rest plays an episode of arithmetic over REST with the Go client.
//
//	go run ./examples/rest                            # against a server of its own
//	go run ./examples/rest -url http://127.0.0.1:8080 # against a running one
//
// It reads the problem out of the prompt, calls the tools step by step with
// what the tools before answered, and shows what the server kept of it.
package main
