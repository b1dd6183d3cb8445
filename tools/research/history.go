package research

import "math/rand/v2"

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
