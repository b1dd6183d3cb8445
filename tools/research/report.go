package research

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"time"
)

// A quarter counts from the first one of the corpus.
type quarter int

const (
	firstYear = 2022
	quarters  = 12
)

func (q quarter) year() int { return firstYear + int(q)/4 }

func (q quarter) String() string { return fmt.Sprintf("Q%d %d", int(q)%4+1, q.year()) }

// The report of the published lab: 120.00 before, 137.00 after, 14.17 %.
const (
	publishedCompany = company(0)
	publishedQuarter = quarter(10) // Q3 2024
	publishedBefore  = 12000
	publishedAfter   = 13700
)

// A closing is the last price of a trading day, in cents.
type closing struct {
	day   time.Time
	cents int
}

// A report is everything that the corpus knows about a company's quarter.
type report struct {
	company company
	quarter quarter
	evening bool       // published after the close of its day, otherwise before the opening
	days    [6]closing // neighbouring trading days; the report's own is days[reportDay]

	revenue   int // in 100,000 dollars
	growth    int // of the revenue over a year, in tenths of a percent
	earnings  int // per share, in cents
	target    int // the analysts' price target, in cents
	premarket int // the move before the opening, in tenths of a percent
}

const reportDay = 2

// The draws of a report, in basis points: the reaction is well above what the
// price moves on other days, so that the wrong days give a wrong answer.
const (
	leastReaction = 200
	mostReaction  = 2200
	mostDrift     = 120
)

// corpusSeed makes this corpus and no other.
const corpusSeed = 0x7265706f727473 // "reports"

// reportOf draws the report of a company's quarter, the same one every time.
func reportOf(c company, q quarter) report {
	draw := rand.New(rand.NewPCG(corpusSeed, uint64(c)<<8|uint64(q)))
	h := historyOf(c)
	now := h.at(q)
	r := report{company: c, quarter: q, revenue: now.revenue, growth: h.growth(q), evening: draw.Uint32N(2) == 1}
	reaction := between(draw, leastReaction, mostReaction)
	if draw.Uint32N(5) < 2 {
		reaction = -reaction
	}
	after := moved(now.price, reaction)
	if c == publishedCompany && q == publishedQuarter {
		after, reaction = publishedAfter, (publishedAfter-publishedBefore)*10_000/publishedBefore
	}
	r.trade(draw, now.price, after)
	r.earnings = now.price * between(draw, -60, 170) / 10_000
	r.target = moved(now.price, between(draw, -1_500, 3_500)) / 100 * 100
	r.premarket = reaction/10 + between(draw, 7, 40)
	return r
}

// trade fills in the trading days around the report.
func (r *report) trade(draw *rand.Rand, before, after int) {
	day := reportDate(draw, r.quarter)
	for i := range r.days {
		r.days[i].day = tradingDay(day, i-reportDay)
	}
	last := r.lastBefore()
	r.days[last].cents, r.days[last+1].cents = before, after
	for i := last - 1; i >= 0; i-- {
		r.days[i].cents = moved(r.days[i+1].cents, between(draw, -mostDrift, mostDrift))
	}
	for i := last + 2; i < len(r.days); i++ {
		r.days[i].cents = moved(r.days[i-1].cents, between(draw, -mostDrift, mostDrift))
	}
}

// lastBefore is the index of the last closing before the report.
func (r *report) lastBefore() int {
	if r.evening {
		return reportDay
	}
	return reportDay - 1
}

func (r *report) before() closing { return r.days[r.lastBefore()] }

func (r *report) after() closing { return r.days[r.lastBefore()+1] }

// change is the reaction in percent, 100·(after − before)/before, exactly.
func (r *report) change() *big.Rat {
	before, after := int64(r.before().cents), int64(r.after().cents)
	return big.NewRat(100*(after-before), before)
}

// reportDate draws a weekday in the second half of the month after the quarter.
func reportDate(draw *rand.Rand, q quarter) time.Time {
	day := time.Date(q.year(), time.Month(int(q)%4*3+4), 15+int(draw.Uint32N(14)), 0, 0, 0, 0, time.UTC)
	for weekend(day) {
		day = day.AddDate(0, 0, 1)
	}
	return day
}

// tradingDay is the trading day so many after a day, or before it.
func tradingDay(day time.Time, after int) time.Time {
	step := 1
	if after < 0 {
		step, after = -1, -after
	}
	for after > 0 {
		if day = day.AddDate(0, 0, step); !weekend(day) {
			after--
		}
	}
	return day
}

func weekend(day time.Time) bool {
	return day.Weekday() == time.Saturday || day.Weekday() == time.Sunday
}

// between draws a whole number, both ends included.
func between(draw *rand.Rand, least, most int) int {
	return least + int(draw.Uint32N(uint32(most-least+1)))
}

// moved is a price after a move in basis points, rounded to the cent.
func moved(cents, points int) int { return (cents*(10_000+points) + 5_000) / 10_000 }
