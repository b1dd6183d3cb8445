package research

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"toolgym/tools"
)

// The topics of a search, and when in its day a report was published.
const (
	sharePrice = "share_price"
	results    = "results"

	beforeOpening = "before the opening"
	afterClose    = "after the close"
)

type query struct {
	Company string `json:"company" jsonschema:"minLength=1,maxLength=80,description=Name or ticker symbol of the company."`
	Quarter string `json:"quarter" jsonschema:"enum=Q1 2022,enum=Q2 2022,enum=Q3 2022,enum=Q4 2022,enum=Q1 2023,enum=Q2 2023,enum=Q3 2023,enum=Q4 2023,enum=Q1 2024,enum=Q2 2024,enum=Q3 2024,enum=Q4 2024,description=The quarter that the report is about."`
	Topic   string `json:"topic" jsonschema:"enum=share_price,enum=results,description=share_price: closing prices around the report. results: what the report says."`
}

// A finding is what a search returns; a topic leaves the other's fields out.
type finding struct {
	Company  string      `json:"company"`
	Ticker   string      `json:"ticker"`
	Quarter  string      `json:"quarter"`
	Topic    string      `json:"topic"`
	Currency string      `json:"currency"`
	Report   publication `json:"report"`

	Before    *price      `json:"last_close_before,omitempty"`
	After     *price      `json:"first_close_after,omitempty"`
	Closes    []price     `json:"closing_prices,omitempty"`
	Premarket json.Number `json:"premarket_move_percent,omitempty"`
	Target    json.Number `json:"analysts_price_target,omitempty"`

	Revenue  json.Number `json:"revenue_millions,omitempty"`
	Growth   json.Number `json:"revenue_growth_percent,omitempty"`
	Earnings json.Number `json:"earnings_per_share,omitempty"`
}

type publication struct {
	Date string `json:"date"`
	Time string `json:"time"`
}

type price struct {
	Date  string      `json:"date"`
	Price json.Number `json:"price"`
}

// newSearch declares the search. On its own it gives the plain view; an
// episode binds it to what it wants to know and show.
func newSearch() tools.Tool {
	return tools.New("financial_search", "Looks up a listed company's quarterly report: closing prices around it, or its results.",
		func(_ context.Context, in query) (finding, error) {
			r, err := in.report()
			if err != nil {
				return finding{}, err
			}
			return describe(&r, in.Topic, false), nil
		})
}

// report finds the report that is asked for. A name that leaves several
// companies open is the agent's mistake, and is answered with their names.
func (in query) report() (report, error) {
	c, ok, like := find(in.Company)
	switch {
	case ok:
	case len(like) == 0:
		return report{}, tools.Mistakef("no company is called %q; give its full name or its ticker", in.Company)
	default:
		return report{}, tools.Mistakef("%q leaves open which company is meant: %s; give the full name or the ticker", in.Company, named(like))
	}
	for q := range quarter(quarters) {
		if q.String() == in.Quarter {
			return reportOf(c, q), nil
		}
	}
	return report{}, fmt.Errorf("finding %q: the schema lets a quarter through that the corpus does not have", in.Quarter)
}

// named lists a few companies.
func named(list []company) string {
	const most = 5
	var names []string
	for i, c := range list {
		if i == most {
			names = append(names, fmt.Sprintf("and %d more", len(list)-most))
			break
		}
		names = append(names, c.name()+" ("+c.ticker()+")")
	}
	return strings.Join(names, ", ")
}

// describe writes a report as a search shows it: plainly, or with the days
// around it and what else a page of market data is full of.
func describe(r *report, topic string, crowded bool) finding {
	f := finding{
		Company: r.company.name(), Ticker: r.company.ticker(), Quarter: r.quarter.String(), Topic: topic, Currency: "USD",
		Report: publication{Date: dateOf(r.days[reportDay]), Time: beforeOpening},
	}
	if r.evening {
		f.Report.Time = afterClose
	}
	switch {
	case topic == results:
		f.Revenue, f.Growth, f.Earnings = decimals(r.revenue, 1), decimals(r.growth, 1), decimals(r.earnings, 2)
	case crowded:
		for _, day := range r.days {
			f.Closes = append(f.Closes, quote(day))
		}
		f.Premarket, f.Target = decimals(r.premarket, 1), decimals(r.target, 2)
	default:
		before, after := quote(r.before()), quote(r.after())
		f.Before, f.After = &before, &after
	}
	return f
}

func quote(c closing) price { return price{dateOf(c), decimals(c.cents, 2)} }

func dateOf(c closing) string { return c.day.Format("2006-01-02") }

// decimals writes n/10^places with all its places.
func decimals(n, places int) json.Number {
	sign, digits := "", strconv.Itoa(n)
	if n < 0 {
		sign, digits = "-", digits[1:]
	}
	if short := places + 1 - len(digits); short > 0 {
		digits = strings.Repeat("0", short) + digits
	}
	point := len(digits) - places
	return json.Number(sign + digits[:point] + "." + digits[point:])
}
