package research

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"strings"
	"time"
)

// A company is an index into the corpus: every stem in every line of business.
type company int

// stems begin with three letters each that no other has, for the tickers.
func stems() []string {
	return []string{
		"Halden", "Ardova", "Brivane", "Corvent", "Delmira", "Elstow", "Fenwick", "Gravora", "Istmark", "Jorven", "Kestane", "Lumora",
		"Marloff", "Nordane", "Orlanda", "Pelvaro", "Quillon", "Rostand", "Silvane", "Tarnow", "Umbrant", "Veldane", "Westral", "Zelmark",
	}
}

func lines() []string { return []string{"Robotics", "Energy", "Foods", "Logistics", "Medical"} }

// companies is how many there are.
func companies() int { return len(stems()) * len(lines()) }

func (c company) name() string {
	return stems()[int(c)/len(lines())] + " " + lines()[int(c)%len(lines())]
}

// ticker is three letters of the stem and one of the line, as in HALR.
func (c company) ticker() string {
	stem, line, _ := strings.Cut(c.name(), " ")
	return strings.ToUpper(stem[:3] + line[:1])
}

// find returns the company of that name or ticker, and otherwise every company
// whose name holds the text. Case does not count, as in any search.
func find(text string) (found company, ok bool, like []company) {
	text = strings.Join(strings.Fields(strings.ToLower(text)), " ")
	for c := range company(companies()) {
		name := strings.ToLower(c.name())
		switch {
		case text == name || text == strings.ToLower(c.ticker()):
			return c, true, nil
		case text != "" && strings.Contains(name, text):
			like = append(like, c)
		}
	}
	return 0, false, like
}

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

// years of history that lie before the first quarter, so that growth over a
// year is known from the start.
const earlier = 4

// A standing is how a company stands when it reports.
type standing struct {
	price   int // before the report, in cents
	revenue int // of the quarter, in 100,000 dollars
}

// A history is a company's standing quarter by quarter, the first one of the
// corpus at index earlier.
type history [earlier + quarters]standing

// historyOf draws a company's walk. The published company is scaled so that its
// walk passes the published price.
func historyOf(c company) (h history) {
	draw := rand.New(rand.NewPCG(corpusSeed, uint64(c)<<8|0xff)) // no quarter has that number
	now := standing{between(draw, 1_500, 30_000), between(draw, 2_000, 60_000)}
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

func (h *history) at(q quarter) standing { return h[earlier+q] }

// growth is the revenue's over a year, in tenths of a percent, rounded.
func (h *history) growth(q quarter) int {
	now, then := h[earlier+q].revenue, h[q].revenue
	return (2_000*now+then)/(2*then) - 1_000
}
