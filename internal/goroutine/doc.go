// Package goroutine starts goroutines that recover from panics, so that a
// defect met by one request or run fails that request or run only:
//
//	goroutine.Go(&running, func() { run.train(ctx) }, run.fail)
//
// All goroutines of the module start here; a test of package internal finds go
// statements and calls of [sync.WaitGroup.Go] elsewhere.
package goroutine
