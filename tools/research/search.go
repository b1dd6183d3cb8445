package research

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"toolgym/tools"
)

// The topics of a search, and the times of day at which reports are published.
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

// A searchResult is the result of a search. Fields of the other topic are omitted.
type searchResult struct {
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

// newSearch returns the search tool. Its own handler returns the two prices; an episode
// binds another one.
func newSearch() tools.Tool {
	return tools.New("financial_search", "Looks up a listed company's quarterly report: closing prices around it, or its results.",
		func(_ context.Context, in query) (searchResult, error) {
			r, err := in.report()
			if err != nil {
				return searchResult{}, err
			}
			return describe(&r, in.Topic, false), nil
		})
}

// report returns the report of the query. A name of no or several companies is the
// agent's mistake.
func (in query) report() (report, error) {
	c, ok, similar := find(in.Company)
	switch {
	case ok:
	case len(similar) == 0:
		return report{}, tools.Mistakef("unknown company %q; give its full name or its ticker", in.Company)
	default:
		return report{}, tools.Mistakef("%q matches several companies: %s; give the full name or the ticker", in.Company, list(similar))
	}
	for q := range quarter(quarters) {
		if q.String() == in.Quarter {
			return reportOf(c, q), nil
		}
	}
	return report{}, fmt.Errorf("finding quarter %q: allowed by the schema but not in the corpus", in.Quarter)
}

// list returns the names of the first five companies.
func list(companies []company) string {
	const limit = 5
	var names []string
	for i, c := range companies {
		if i == limit {
			names = append(names, fmt.Sprintf("and %d more", len(companies)-limit))
			break
		}
		names = append(names, c.name()+" ("+c.ticker()+")")
	}
	return strings.Join(names, ", ")
}

// describe returns a report as a search result. A detailed one has the prices of all
// trading days around the report and other market data.
func describe(r *report, topic string, detailed bool) searchResult {
	f := searchResult{
		Company: r.company.name(), Ticker: r.company.ticker(), Quarter: r.quarter.String(), Topic: topic, Currency: "USD",
		Report: publication{Date: dateOf(r.days[reportDay]), Time: beforeOpening},
	}
	if r.afterHours {
		f.Report.Time = afterClose
	}
	switch {
	case topic == results:
		f.Revenue, f.Growth, f.Earnings = decimals(r.revenue, 1), decimals(r.growth, 1), decimals(r.earnings, 2)
	case detailed:
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

// quote returns a closing with its price in dollars.
func quote(c closing) price { return price{dateOf(c), decimals(c.cents, 2)} }

func dateOf(c closing) string { return c.day.Format("2006-01-02") }

// decimals formats n/10^places with the given number of decimals.
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
