package lab

import (
	"encoding/csv"
	"fmt"
	"io"
	"strconv"

	"toolgym/internal/chart"
	"toolgym/internal/plain"
	"toolgym/policy/telemetry"
)

// write writes the runs that are shown as a file: drawn, or every update of
// every run as a line of CSV.
func (s *selection) write(w io.Writer, format string) error {
	runs := s.laid()
	if format == "csv" {
		return writeTable(w, runs)
	}
	spread := spread(runs)
	var charts []chart.Chart
	for _, m := range measures(stagesOf(runs)) {
		c, _ := m.chartOf(runs, spread, s.bound)
		for i, run := range runs {
			c.Lines[i].Name = run.Short() + " · " + titleOf(run.Config)
		}
		charts = append(charts, c)
	}
	return chart.Write(w, format, charts)
}

// writeTable writes the updates as they were, not as they are drawn.
func writeTable(w io.Writer, runs []laidRun) error {
	columns := append(measures(stagesOf(runs)), []measure{
		{Key: "call_prob", of: func(r telemetry.Record) *float64 { return &r.CallProb }},
		{Key: "start_call_prob", of: func(r telemetry.Record) *float64 { return r.StartCallProb }},
		{Key: "policy_loss", of: func(r telemetry.Record) *float64 { return &r.PolicyLoss }},
		{Key: "advantage", of: func(r telemetry.Record) *float64 { return &r.Advantage }},
		{Key: "grad_norm", of: func(r telemetry.Record) *float64 { return &r.GradNorm }},
		{Key: "updates_per_second", of: func(r telemetry.Record) *float64 { return &r.UpdatesPerSecond }},
	}...)
	heading := []string{"run", "title", "update"}
	for _, column := range columns {
		heading = append(heading, column.Key)
	}
	table := csv.NewWriter(w)
	lines := [][]string{heading}
	for _, run := range runs {
		for _, record := range run.records {
			line := []string{plain.Cell(run.ID), plain.Cell(titleOf(run.Config)), strconv.Itoa(record.Update)}
			for _, column := range columns {
				cell := ""
				if v := column.of(record); v != nil {
					cell = strconv.FormatFloat(*v, 'g', -1, 64)
				}
				line = append(line, cell)
			}
			lines = append(lines, line)
		}
	}
	if err := table.WriteAll(lines); err != nil {
		return fmt.Errorf("writing CSV: %w", err)
	}
	return nil
}
