package research_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"toolgym/internal/testkit"
	"toolgym/tools"
	"toolgym/tools/envtest"
	"toolgym/tools/research"
)

// play plays moves, see [move], and returns the steps.
func play(t *testing.T, level string, seed uint64, moves ...string) (steps []tools.Step, success bool) {
	t.Helper()
	spec := research.Spec()
	task, err := spec.Task("", level, seed)
	if err != nil {
		t.Fatal(err)
	}
	env := spec.New()
	if _, err := env.Reset(t.Context(), task); err != nil {
		t.Fatal(err)
	}
	for _, text := range moves {
		step, err := move(t.Context(), env, text)
		if err != nil {
			t.Fatal(err)
		}
		steps = append(steps, step)
	}
	return steps, env.Success()
}

// move makes a call, given as "NAME ARGUMENTS" with the name of a tool, or sends any
// other text as a message.
func move(ctx context.Context, env tools.Env, text string) (tools.Step, error) {
	name, arguments, _ := strings.Cut(text, " ")
	if _, ok := env.Tools().Lookup(name); ok {
		return env.Step(ctx, tools.Call{Name: name, Arguments: json.RawMessage(arguments)})
	}
	return env.(tools.Speaker).Say(ctx, text)
}

func search(company, quarter, topic string) string {
	return fmt.Sprintf(`financial_search {"company":%q,"quarter":%q,"topic":%q}`, company, quarter, topic)
}

func prices(company, quarter string) string { return search(company, quarter, "share_price") }

const calculation = `calculator {"expression":"(137.00-120.00)/120.00*100"}`

// halden is the search of the published task.
func halden() string { return prices("Halden Robotics", "Q3 2024") }

func TestPublishedEpisode(t *testing.T) {
	steps, success := play(t, "0", 0, halden(), calculation, "The stock rose by 14.17 % after the report.")
	if !success {
		t.Error("not solved")
	}
	want := []tools.Step{
		tools.Transition(tools.Call{Name: "financial_search", Arguments: json.RawMessage(`{"company":"Halden Robotics","quarter":"Q3 2024","topic":"share_price"}`)},
			tools.Result{Content: json.RawMessage(`{"company":"Halden Robotics","ticker":"HALR","quarter":"Q3 2024","topic":"share_price","currency":"USD","report":{"date":"2024-10-21","time":"after the close"},` +
				`"last_close_before":{"date":"2024-10-21","price":120.00},"first_close_after":{"date":"2024-10-22","price":137.00}}`)}, 0),
		tools.Transition(tools.Call{Name: "calculator", Arguments: json.RawMessage(`{"expression":"(137.00-120.00)/120.00*100"}`)},
			tools.Result{Content: json.RawMessage(`{"result":14.1666666667}`)}, 0),
		tools.Termination(tools.Call{}, tools.Result{}, 1).Spoken("The stock rose by 14.17 % after the report."),
	}
	if diff := cmp.Diff(want, steps); diff != "" {
		t.Error(diff)
	}
}

func TestAnswers(t *testing.T) {
	tests := []struct {
		name, text string
		want       bool
	}{
		{"number", "14.17", true},
		{"percent", "14.17%", true},
		{"signed", "+14.17 %", true},
		{"lower bound", "14.16%", true},
		{"upper bound", "14.18%", true},
		{"below the bound", "14.159%", false},
		{"above the bound", "14.181%", false},
		{"all digits", "14.1666666667%", true},
		{"sentence", "The share price of Halden Robotics rose 14.17% after its Q3 2024 report.", true},
		{"explained", "It closed at 120.00 on 2024-10-21 and at 137.00 on 2024-10-22, so it rose by (137 - 120) / 120 × 100 = **14.17%**.", true},
		{"explained without a mark", "(137.00 - 120.00) / 120.00 * 100 = 14.17", true},
		{"step by step without a mark", "137.00 - 120.00 = 17.00; 17.00 / 120.00 = 0.1417; times 100 is 14.17", true},
		{"with the formula's percent", "(137-120)/120 × 100% = 14.17%", true},
		{"rounded, then precise", "About 14%, precisely 14.17%.", true},
		{"decimal, then percent", "0.1417, that is 14.17%", true},
		{"fraction only", "0.1417", false},
		{"rounded only", "About 14%.", false},
		{"wrong rounding, then precise", "About 15%, precisely 14.17%.", false},
		{"another number", "14.71%", false},
		{"negative", "-14.17%", false},
		{"fell", "The price fell by 14.17%.", false},
		{"both signs", "14.17% or -14.17%", false},
		{"two guesses", "14.17% or 14.27%", false},
		{"guesses, the correct one last", "It may be 12%, 13%, 15% or 14.17%.", false},
		{"a list of plain numbers", "10 11 12 13 14.17 15", false},
		{"a percentage among plain guesses", "14.27 14.37 14.17", false},
		{"the unit price", "120.00 USD", false},
		{"no number", "It rose.", false},
		{"empty", "", false},
		{"exponent", "1.417e1%", false},
		{"too long", strings.Repeat("so ", 30_000) + "14.17%", false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			steps, success := play(t, "0", 0, halden(), calculation, test.text)
			if last := steps[2]; success != test.want || !last.Terminated || last.Reward != map[bool]float64{true: 1}[test.want] {
				t.Errorf("success %v, want %v; reward %v, terminated %v", success, test.want, last.Reward, last.Terminated)
			}
		})
	}
}

func TestNegativeAnswers(t *testing.T) {
	texts := map[string]bool{"SIGNED": true, "The price fell by UNSIGNED%.": true, "UNSIGNED% lower": true, "UNSIGNED%": false, "It rose by UNSIGNED%.": false}
	task, err := research.Spec().Task("", "0", fallingSeed(t))
	if err != nil {
		t.Fatal(err)
	}
	trajectory, err := tools.Rollout(t.Context(), research.Spec().New(), task, research.Spec().Oracle)
	if err != nil {
		t.Fatal(err)
	}
	signed := said(trajectory)
	for text, want := range texts {
		t.Run(text, func(t *testing.T) {
			moves := []string{"financial_search " + string(trajectory.Steps[0].Call.Arguments)}
			moves = append(moves, strings.NewReplacer("UNSIGNED", strings.TrimPrefix(signed, "-"), "SIGNED", signed).Replace(text))
			if _, success := play(t, "0", task.Seed, moves...); success != want {
				t.Errorf("success %v, want %v (%s)", success, want, signed)
			}
		})
	}
}

// said returns the number of the oracle's answer.
func said(trajectory tools.Trajectory) string {
	message := trajectory.Steps[len(trajectory.Steps)-1].Message
	return strings.TrimSuffix(strings.TrimPrefix(message, "The answer is "), " %.")
}

// fallingSeed returns the seed of a task of level 0 in which the price fell.
func fallingSeed(t *testing.T) uint64 {
	t.Helper()
	for seed := range uint64(100) {
		if trajectory := testkit.Solve(t, research.Spec(), "0", seed); strings.HasPrefix(said(trajectory), "-") {
			return seed
		}
	}
	t.Fatal("no price falls")
	return 0
}

func TestAnswersNeedSearches(t *testing.T) {
	const right = "It rose by 14.17 %."
	tests := []struct {
		name  string
		moves []string
		want  bool
	}{
		{"nothing looked up", nil, false},
		{"only calculated", []string{calculation}, false},
		{"looked up, calculated", []string{halden(), calculation}, true},
		{"looked up, not calculated", []string{halden()}, true},
		{"by ticker", []string{prices("halr", "Q3 2024")}, true},
		{"by name in capitals", []string{prices(" HALDEN  robotics ", "Q3 2024")}, true},
		{"another company", []string{prices("Halden Energy", "Q3 2024"), calculation}, false},
		{"another quarter", []string{prices("Halden Robotics", "Q2 2024"), calculation}, false},
		{"another topic", []string{search("Halden Robotics", "Q3 2024", "results"), calculation}, false},
		{"a failed search", []string{prices("Halden", "Q3 2024"), calculation}, false},
		{"an invalid search", []string{prices("Halden Robotics", "Q3 2034"), calculation}, false},
		{"a failed search, then a valid one", []string{prices("Halden", "Q3 2024"), halden()}, true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if _, success := play(t, "0", 0, append(test.moves, right)...); success != test.want {
				t.Errorf("success %v, want %v", success, test.want)
			}
		})
	}
}

// TestSearchesOfEarlierEpisodes checks that only searches of the episode count.
func TestSearchesOfEarlierEpisodes(t *testing.T) {
	spec := research.Spec()
	task, err := spec.Task("", "0", 0)
	if err != nil {
		t.Fatal(err)
	}
	env := spec.New()
	for range 2 {
		if _, err := env.Reset(t.Context(), task); err != nil {
			t.Fatal(err)
		}
		if _, err := move(t.Context(), env, halden()); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := env.Reset(t.Context(), task); err != nil {
		t.Fatal(err)
	}
	if _, err := move(t.Context(), env, "14.17 %"); err != nil || env.Success() {
		t.Errorf("success %v, %v", env.Success(), err)
	}
}

func TestComparison(t *testing.T) {
	trajectory := testkit.Solve(t, research.Spec(), "1", 0)
	answer := said(trajectory)
	first, second := "financial_search "+string(trajectory.Steps[0].Call.Arguments), "financial_search "+string(trajectory.Steps[1].Call.Arguments)
	tests := []struct {
		name  string
		moves []string
		want  bool
	}{
		{"both looked up", []string{first, second, answer + " percentage points"}, true},
		{"with both changes", []string{first, second, "14.17% against 11.55%: " + answer + " percentage points"}, true},
		{"with a wrong change", []string{first, second, "14.17% against 11.75%: " + answer + " percentage points"}, false},
		{"a change instead of the difference", []string{first, second, "14.17%"}, false},
		{"only one looked up", []string{first, answer}, false},
		{"one looked up twice", []string{second, second, answer}, false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if _, success := play(t, "1", 0, test.moves...); success != test.want {
				t.Errorf("success %v, want %v", success, test.want)
			}
		})
	}
}

func TestSearchResults(t *testing.T) {
	tests := []struct{ name, level, move, want string }{
		{"results", "0", search("HALR", "Q3 2024", "results"), `{"company":"Halden Robotics","ticker":"HALR","quarter":"Q3 2024","topic":"results","currency":"USD","report":{"date":"2024-10-21","time":"after the close"},"revenue_millions":7050.9,"revenue_growth_percent":-1.8,"earnings_per_share":0.16}`},
		{"detailed", "2", halden(), `{"company":"Halden Robotics","ticker":"HALR","quarter":"Q3 2024","topic":"share_price","currency":"USD","report":{"date":"2024-10-21","time":"after the close"},"closing_prices":[{"date":"2024-10-17","price":120.76},{"date":"2024-10-18","price":119.56},{"date":"2024-10-21","price":120.00},{"date":"2024-10-22","price":137.00},{"date":"2024-10-23","price":135.51},{"date":"2024-10-24","price":135.29}],"premarket_move_percent":17.4,"analysts_price_target":125.00}`},
		{"several companies", "0", prices("halden", "Q3 2024"), `{"error":"\"halden\" matches several companies: Halden Robotics (HALR), Halden Energy (HALE), Halden Foods (HALF), Halden Logistics (HALL), Halden Medical (HALM); give the full name or the ticker"}`},
		{"many companies", "0", prices("robotics", "Q3 2024"), `{"error":"\"robotics\" matches several companies: Halden Robotics (HALR), Ardova Robotics (ARDR), Brivane Robotics (BRIR), Corvent Robotics (CORR), Delmira Robotics (DELR), and 19 more; give the full name or the ticker"}`},
		{"no company", "0", prices("Acme", "Q3 2024"), `{"error":"unknown company \"Acme\"; give its full name or its ticker"}`},
		{"a blank", "0", prices(" ", "Q3 2024"), `{"error":"unknown company \" \"; give its full name or its ticker"}`},
		{"another quarter", "0", prices("HALR", "2024-Q3"), `{"error":"invalid arguments for financial_search: /quarter: value must be one of 'Q1 2022', 'Q2 2022', 'Q3 2022', 'Q4 2022', 'Q1 2023', 'Q2 2023', 'Q3 2023', 'Q4 2023', 'Q1 2024', 'Q2 2024', 'Q3 2024', 'Q4 2024'"}`},
		{"calculator", "0", `calculator {"expression":"85/6"}`, `{"result":14.1666666667}`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			steps, _ := play(t, test.level, 0, test.move)
			got := steps[0].Result
			if diff := cmp.Diff(test.want, string(got.Content)); diff != "" {
				t.Error(diff)
			}
			if got.IsError != strings.HasPrefix(test.want, `{"error"`) {
				t.Errorf("is_error %v", got.IsError)
			}
		})
	}
}

// TestToolsWithoutEpisode calls tools as POST /v1/tools/{name}/calls does.
func TestToolsWithoutEpisode(t *testing.T) {
	set := research.Spec().Tools("", "")
	for _, tool := range set {
		if !tool.Callable() {
			t.Errorf("%s is not callable", tool.Name)
		}
	}
	name, arguments, _ := strings.Cut(halden(), " ")
	result, err := set.Call(t.Context(), tools.Call{Name: name, Arguments: json.RawMessage(arguments)})
	if err != nil || !strings.Contains(string(result.Content), `"price":137.00`) {
		t.Errorf("%s, %v", result.Content, err)
	}
}

func TestLimitTruncates(t *testing.T) {
	moves := make([]string, 16)
	for i := range moves {
		moves[i] = halden()
	}
	steps, success := play(t, "0", 0, moves...)
	if last := steps[15]; !last.Truncated || last.Terminated || success {
		t.Errorf("%+v, success %v", last, success)
	}
}

func TestOracleNeedsSpeaker(t *testing.T) {
	task, err := research.Spec().Task("", "0", 0)
	if err != nil {
		t.Fatal(err)
	}
	err = research.Spec().Oracle.Play(t.Context(), task, nil, noSpeaker{})
	if e := (*tools.Error)(nil); !errors.As(err, &e) || e.Code != tools.Invalid {
		t.Errorf("got error %v, want one with code invalid", err)
	}
}

type noSpeaker struct{ tools.Caller }

func TestContract(t *testing.T) { envtest.Run(t, research.Spec()) }
