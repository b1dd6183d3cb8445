package telemetry

import "gonum.org/v1/plot/plotter"

// most is how many points a curve has.
const most = 300

// series is a curve.
type series struct {
	name   string
	points plotter.XYs
}

// pick gathers a figure of all records that have it, as means over neighbours
// so that at most about 300 points are left.
func pick(name string, records []Record, figure func(Record) *float64) series {
	s := series{name: name}
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
			s.points = append(s.points, plotter.XY{X: float64(part[len(part)-1].Update), Y: sum / float64(n)})
		}
	}
	return s
}

// successes are the curves of all stages.
func successes(records []Record) []series {
	var all []series
	if len(records) == 0 {
		return nil
	}
	for i, stage := range records[0].Stages {
		all = append(all, pick("stage "+stage, records, func(r Record) *float64 { return r.Success[i] }))
	}
	return all
}
