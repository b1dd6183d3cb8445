package research

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"strings"
	"time"
)

// A company is an index into the corpus, which combines all stems with all lines of
// business.
type company int

// stems returns the first words of company names. Their first three letters are
// unique, for the tickers.
func stems() []string {
	return []string{
		"Halden", "Ardova", "Brivane", "Corvent", "Delmira", "Elstow", "Fenwick", "Gravora", "Istmark", "Jorven", "Kestane", "Lumora",
		"Marloff", "Nordane", "Orlanda", "Pelvaro", "Quillon", "Rostand", "Silvane", "Tarnow", "Umbrant", "Veldane", "Westral", "Zelmark",
	}
}

// lines returns the second words of company names.
func lines() []string { return []string{"Robotics", "Energy", "Foods", "Logistics", "Medical"} }

// companies returns the number of companies.
func companies() int { return len(stems()) * len(lines()) }

func (c company) name() string {
	return stems()[int(c)/len(lines())] + " " + lines()[int(c)%len(lines())]
}

// ticker returns three letters of the stem and one of the line, such as HALR.
func (c company) ticker() string {
	stem, line, _ := strings.Cut(c.name(), " ")
	return strings.ToUpper(stem[:3] + line[:1])
}

// find returns the company with the given name or ticker, or else all companies whose
// names contain the text. It ignores case.
func find(text string) (found company, ok bool, similar []company) {
	text = strings.Join(strings.Fields(strings.ToLower(text)), " ")
	for c := range company(companies()) {
		name := strings.ToLower(c.name())
		switch {
		case text == name || text == strings.ToLower(c.ticker()):
			return c, true, nil
		case text != "" && strings.Contains(name, text):
			similar = append(similar, c)
		}
	}
	return 0, false, similar
}

// A quarter is an index: 0 is the first quarter of the corpus.
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

// A report has all data of the corpus about a quarter of a company.
type report struct {
	company    company
	quarter    quarter
	afterHours bool       // published after the close of its day, otherwise before the opening
	days       [6]closing // consecutive trading days; days[reportDay] is that of the report

	revenue   int // in 100,000 dollars
	growth    int // of the revenue over a year, in tenths of a percent
	earnings  int // per share, in cents
	target    int // the analysts' price target, in cents
	premarket int // the move before the opening, in tenths of a percent
}

// reportDay is the index of the report's day.
const reportDay = 2

// The ranges of price changes in basis points: on a report from minReaction to
// maxReaction, on other days up to maxDrift. The reaction is clearly larger, so that
// the prices of wrong days give a wrong answer.
const (
	minReaction = 200
	maxReaction = 2200
	maxDrift    = 120
)

// corpusSeed is the seed of the corpus.
const corpusSeed = 0x7265706f727473 // "reports"

// reportOf returns the report of a quarter of a company. It is deterministic.
func reportOf(c company, q quarter) report {
	draw := rand.New(rand.NewPCG(corpusSeed, uint64(c)<<8|uint64(q)))
	h := newHistory(c)
	now := h.at(q)
	r := report{company: c, quarter: q, revenue: now.revenue, growth: h.growth(q), afterHours: draw.Uint32N(2) == 1}
	reaction := between(draw, minReaction, maxReaction)
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

// trade sets the trading days around the report and their prices.
func (r *report) trade(draw *rand.Rand, before, after int) {
	day := reportDate(draw, r.quarter)
	for i := range r.days {
		r.days[i].day = tradingDay(day, i-reportDay)
	}
	last := r.lastBefore()
	r.days[last].cents, r.days[last+1].cents = before, after
	for i := last - 1; i >= 0; i-- {
		r.days[i].cents = moved(r.days[i+1].cents, between(draw, -maxDrift, maxDrift))
	}
	for i := last + 2; i < len(r.days); i++ {
		r.days[i].cents = moved(r.days[i-1].cents, between(draw, -maxDrift, maxDrift))
	}
}

// lastBefore returns the index of the last closing before the report.
func (r *report) lastBefore() int {
	if r.afterHours {
		return reportDay
	}
	return reportDay - 1
}

func (r *report) before() closing { return r.days[r.lastBefore()] }

func (r *report) after() closing { return r.days[r.lastBefore()+1] }

// change returns the exact reaction in percent, 100·(after − before)/before.
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

// tradingDay returns the trading day that is after trading days later than day, or
// earlier if after is negative.
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

// between draws an integer from low to high inclusive.
func between(draw *rand.Rand, low, high int) int {
	return low + int(draw.Uint32N(uint32(high-low+1)))
}

// moved returns a price after a change in basis points, rounded to the cent.
func moved(cents, points int) int { return (cents*(10_000+points) + 5_000) / 10_000 }

// earlier is the number of quarters before the first quarter of the corpus, for which
// the growth over a year needs figures.
const earlier = 4

// figures are the figures of a company in a quarter.
type figures struct {
	price   int // before the report, in cents
	revenue int // in 100,000 dollars
}

// A history has the figures of a company by quarter. Those of the corpus start at
// index earlier.
type history [earlier + quarters]figures

// newHistory returns the random walk of a company. That of the published company is
// scaled to have the published price in the published quarter.
func newHistory(c company) (h history) {
	draw := rand.New(rand.NewPCG(corpusSeed, uint64(c)<<8|0xff)) // no quarter has that number
	now := figures{between(draw, 1_500, 30_000), between(draw, 2_000, 60_000)}
	for i := range h {
		h[i] = now
		now.price = moved(now.price, between(draw, -1_200, 1_500))
		now.revenue = moved(now.revenue, between(draw, -400, 800))
	}
	if c == publishedCompany {
		through := h[earlier+publishedQuarter].price
		for i := range h {
			h[i].price = h[i].price * publishedBefore / through
		}
	}
	return h
}

func (h *history) at(q quarter) figures { return h[earlier+q] }

// growth returns the growth of the revenue over a year,
//
//	1000·(now − then)/then,
//
// in tenths of a percent, rounded half up.
func (h *history) growth(q quarter) int {
	now, then := h[earlier+q].revenue, h[q].revenue
	return (2_000*now+then)/(2*then) - 1_000
}
