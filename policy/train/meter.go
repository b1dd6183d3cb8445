package train

import "time"

// meter measures a run by the clocks that it was handed.
type meter struct {
	now    func() time.Time
	cpu    func() time.Duration
	before float64 // seconds of CPU spent by earlier sessions of the run
	start  time.Duration
	last   time.Time
}

func newMeter(o Options, before float64) *meter {
	m := &meter{now: o.Now, cpu: o.CPU, before: before}
	if m.now != nil {
		m.last = m.now()
	}
	if m.cpu != nil {
		m.start = m.cpu()
	}
	return m
}

// speed is the number of updates a second, by the time since the last one; 0
// without a clock.
func (m *meter) speed() float64 {
	if m.now == nil {
		return 0
	}
	last := m.last
	m.last = m.now()
	if seconds := m.last.Sub(last).Seconds(); seconds > 0 {
		return 1 / seconds
	}
	return 0
}

// spent is the CPU time of the whole run in seconds; 0 without a clock.
func (m *meter) spent() float64 {
	if m.cpu == nil {
		return m.before
	}
	return m.before + (m.cpu() - m.start).Seconds()
}
