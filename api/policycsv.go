package api

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"net/http"
	"strconv"

	"github.com/labstack/echo/v4"

	"toolgym/policy/telemetry"
)

// csvRun sends the telemetry as a table.
func (s *Server) csvRun(c echo.Context) error {
	run, err := s.findRun(c.Request().Context(), c.Param("id"))
	if err != nil {
		return edgeFailure(err)
	}
	text, err := telemetryTable(run.State().Config.Levels, run.Records())
	if err != nil {
		return err
	}
	return c.Blob(http.StatusOK, "text/csv; charset=utf-8", text)
}

// exportRun sends a run's folder.
func (s *Server) exportRun(c echo.Context) error {
	run, err := s.findRun(c.Request().Context(), c.Param("id"))
	if err != nil {
		return edgeFailure(err)
	}
	header := c.Response().Header()
	header.Set(echo.HeaderContentType, "application/x-tar")
	header.Set(echo.HeaderContentDisposition, `attachment; filename="run.tar"`)
	if err := run.Export(c.Response()); err != nil {
		return edgeFailure(err)
	}
	return nil
}

// telemetryTable has a line an update, under the names of the records; what was
// not measured is empty.
func telemetryTable(stages []string, records []telemetry.Record) ([]byte, error) {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	heading := []string{"update", "reward", "advantage", "policy_loss", "value_loss", "entropy", "loss", "grad_norm",
		"kl", "clip_low", "clip_high", "tool_mass", "call_prob", "start_call_prob", "restarts", "updates_per_second"}
	for _, stage := range stages {
		heading = append(heading, "success/"+stage, "greedy_success/"+stage, "greedy_reward/"+stage)
	}
	lines := [][]string{heading}
	for _, r := range records {
		lines = append(lines, telemetryLine(stages, r))
	}
	if err := w.WriteAll(lines); err != nil {
		return nil, fmt.Errorf("writing CSV: %w", err)
	}
	return b.Bytes(), nil
}

func telemetryLine(stages []string, r telemetry.Record) []string {
	number := func(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
	maybe := func(v *float64) string {
		if v == nil {
			return ""
		}
		return number(*v)
	}
	line := []string{strconv.Itoa(r.Update), number(r.Reward), number(r.Advantage), number(r.PolicyLoss), number(r.ValueLoss), number(r.Entropy),
		number(r.Loss), number(r.GradNorm), maybe(r.KL), maybe(r.ClipLow), maybe(r.ClipHigh), number(r.ToolMass), number(r.CallProb),
		maybe(r.StartCallProb), strconv.Itoa(r.Restarts), number(r.UpdatesPerSecond)}
	for i, stage := range stages {
		cells := []string{"", "", ""}
		if i < len(r.Success) {
			cells[0] = maybe(r.Success[i])
		}
		for _, g := range r.Greedy {
			if g.Stage == stage {
				cells[1], cells[2] = number(g.Success), number(g.Reward)
			}
		}
		line = append(line, cells...)
	}
	return line
}
