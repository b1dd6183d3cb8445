package research

import "strings"

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
