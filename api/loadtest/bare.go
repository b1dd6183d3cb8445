package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"sync"
	"time"

	"github.com/labstack/echo/v4"

	"toolgym/api/client"
	"toolgym/internal/goroutine"
	"toolgym/tools"
)

// bareCommand makes this program be the bare handler.
const bareCommand = "bare"

// serveBare answers calls with what an episode would answer, knowing nothing.
func serveBare() {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(fmt.Sprintf("loadtest: no free port: %v", err))
	}
	e := echo.New()
	e.POST("/call", func(c echo.Context) error {
		var in client.Call
		if err := c.Bind(&in); err != nil {
			return err
		}
		return c.JSON(http.StatusOK, client.Answer{Result: &tools.Result{Content: json.RawMessage(`{"row":1,"column":2}`)}, Reward: -0.1, Step: 7})
	})
	fmt.Println("http://" + listener.Addr().String())
	_ = http.Serve(listener, e) // until it is killed
}

// measureBare sends calls to the bare handler for a tenth of the time.
func measureBare(ctx context.Context, p plan) (figures, error) {
	self, err := os.Executable()
	if err != nil {
		return figures{}, fmt.Errorf("finding this program: %w", err)
	}
	server, err := start(ctx, os.Stderr, self, bareCommand)
	if err != nil {
		return figures{}, err
	}
	defer func() { _ = server.kill() }()
	sender := newSender(p.clients)
	defer sender.CloseIdleConnections()
	var group sync.WaitGroup
	waits, failed := make([][]time.Duration, p.clients), make([]error, p.clients)
	began := time.Now()
	for i := range p.clients {
		goroutine.Go(&group, func() {
			for n := 0; time.Since(began) < p.duration/10 && ctx.Err() == nil; n++ {
				sent := time.Now()
				var answer client.Answer
				if _, err := post(ctx, sender, server.address+"/call", client.Call{Name: "move_up", RequestID: fmt.Sprintf("%d-%d", i, n)}, &answer); err == nil {
					waits[i] = append(waits[i], time.Since(sent))
				}
			}
		}, func(err error) { failed[i] = err })
	}
	group.Wait()
	return figuresOf(waits, time.Since(began)), errors.Join(errors.Join(failed...), ctx.Err())
}
