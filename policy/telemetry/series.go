package telemetry

import "toolgym/internal/chart"

// most is how many points a curve has.
const most = 300

// pick gathers a figure of all records that have it, as means over neighbours
// so that at most about 300 points are left. A point lies at the last of the
// updates that it stands for.
func pick(name string, records []Record, figure func(Record) *float64) chart.Line {
	line := chart.Line{Name: name}
	span := (len(records) + most - 1) / most
	for i := 0; i < len(records); i += span {
		sum, n := 0.0, 0
		part := records[i:min(i+span, len(records))]
		for _, r := range part {
			if value := figure(r); value != nil {
				sum += *value
				n++
			}
		}
		if n > 0 {
			line.X = append(line.X, float64(part[len(part)-1].Update))
			line.Y = append(line.Y, sum/float64(n))
		}
	}
	return line
}

// successes are the curves of all stages.
func successes(records []Record) []chart.Line {
	var all []chart.Line
	if len(records) == 0 {
		return nil
	}
	for i, stage := range records[0].Stages {
		line := pick("stage "+stage, records, func(r Record) *float64 { return r.SuccessOf(stage) })
		line.Look = i
		all = append(all, line)
	}
	return all
}
