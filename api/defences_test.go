package api_test

import (
	"fmt"
	"go/parser"
	gotoken "go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// A threat is a row of a table in SECURITY.md.
type threat struct {
	name  string   // the first column
	tests []string // that the last column names
}

// threats reads the tables of SECURITY.md.
func threats(t *testing.T) []threat {
	t.Helper()
	text, err := os.ReadFile("SECURITY.md")
	if err != nil {
		t.Fatal(err)
	}
	testName := regexp.MustCompile(`\b(?:Test|Fuzz)\w+`)
	var rows []threat
	for line := range strings.Lines(string(text)) {
		if !strings.HasPrefix(line, "| ") || strings.HasPrefix(line, "| threat") {
			continue
		}
		columns := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		rows = append(rows, threat{strings.TrimSpace(columns[0]), testName.FindAllString(columns[len(columns)-1], -1)})
	}
	if len(rows) == 0 {
		t.Fatal("SECURITY.md has no table")
	}
	return rows
}

// testPackages maps the name of each test and fuzz target of the module to the
// folders of the packages that declare it, relative to the module's root.
func testPackages(t *testing.T) map[string][]string {
	t.Helper()
	declaration := regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)\w+)\(`)
	found := map[string][]string{}
	err := filepath.WalkDir("..", func(path string, entry os.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && (entry.Name() == "testdata" || strings.HasPrefix(entry.Name(), ".") && entry.Name() != ".."):
			return filepath.SkipDir
		case !strings.HasSuffix(path, "_test.go"):
			return nil
		}
		source, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for _, match := range declaration.FindAllSubmatch(source, -1) {
			folder, name := filepath.ToSlash(filepath.Dir(strings.TrimPrefix(filepath.ToSlash(path), "../"))), string(match[1])
			if !slices.Contains(found[name], folder) {
				found[name] = append(found[name], folder)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for name, folders := range found {
		if slices.Contains(folders, "api") {
			found[name] = []string{"api"} // SECURITY.md is about this package
		}
	}
	return found
}

// A mutation breaks the defence against threats: it replaces old, which occurs
// once in the file, with new, in which MUTATED is whether the mutation is enabled,
// and CHOOSE(broken, intact) one of two values. Each of the tests must then fail.
type mutation struct {
	threats  []string
	file     string // relative to the module's root
	old, new string
	tests    []string
}

// mutate returns a file with all of its mutations, each enabled by a call of the
// function mutated with the mutation's number.
func mutate(t *testing.T, file string) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join("..", filepath.FromSlash(file)))
	if err != nil {
		t.Fatal(err)
	}
	source := string(content)
	for i, m := range mutations() {
		if m.file != file {
			continue
		}
		if n := strings.Count(source, m.old); n != 1 {
			t.Errorf("%s: found %d times; want once: %s", file, n, m.old)
		}
		enabled := strings.NewReplacer("MUTATED", fmt.Sprintf("mutated(%d)", i), "CHOOSE(", fmt.Sprintf("choose(%d, ", i)).Replace(m.new)
		if enabled == m.new {
			t.Errorf("%s: no MUTATED or CHOOSE in: %s", file, m.new)
		}
		source = strings.Replace(source, m.old, enabled, 1)
	}
	return source
}

// TestDefencesAreListed compares SECURITY.md with the mutations: each row names
// tests, each of these exists in one package of the module, and mutations() has
// a mutation for each. That the tests fail then is checked by
//
//	go test -tags mutation -run TestMutations -timeout 60m ./api
func TestDefencesAreListed(t *testing.T) {
	packages := testPackages(t)
	var names []string
	for _, row := range threats(t) {
		names = append(names, row.name)
		if len(row.tests) == 0 {
			t.Errorf("%s: no test named", row.name)
		}
		var broken []string
		for _, m := range mutations() {
			if slices.Contains(m.threats, row.name) {
				broken = append(broken, m.tests...)
			}
		}
		for _, name := range row.tests {
			if len(packages[name]) != 1 {
				t.Errorf("%s: %s is declared in %q; want package api or one other", row.name, name, packages[name])
			}
			if !slices.Contains(broken, name) && !slices.Contains(notMutated(), name) {
				t.Errorf("%s: no mutation makes %s fail", row.name, name)
			}
			if slices.Contains(broken, name) && slices.Contains(notMutated(), name) {
				t.Errorf("%s: a mutation makes %s fail, and it is listed as not mutated", row.name, name)
			}
		}
	}
	for _, m := range mutations() {
		for _, threat := range m.threats {
			if !slices.Contains(names, threat) {
				t.Errorf("mutation of %s: SECURITY.md has no threat %q", m.file, threat)
			}
		}
	}
	for _, file := range mutatedFiles() {
		source := mutate(t, file)
		if _, err := parser.ParseFile(gotoken.NewFileSet(), file, source, parser.SkipObjectResolution); err != nil {
			t.Error(err)
		}
	}
}

// mutatedFiles lists the files that have mutations.
func mutatedFiles() []string {
	var files []string
	for _, m := range mutations() {
		files = append(files, m.file)
	}
	slices.Sort(files)
	return slices.Compact(files)
}

// mutations lists the ways in which TestMutations breaks the defences.
func mutations() []mutation {
	return slices.Concat(pageMutations(), connectionMutations(), tokenMutations(), modelMutations())
}

// pageMutations breaks the defences against a web page.
func pageMutations() []mutation {
	return []mutation{
		{[]string{"DNS rebinding: a name of the page's own points at this machine", "two readings of one request (smuggling)"}, "api/middleware.go",
			`if !s.answersTo(r.Host) {`, `if !MUTATED && !s.answersTo(r.Host) {`,
			[]string{"TestHostileRequests", "TestMCPRefusals", "TestBrokenConnections"}},
		{[]string{"DNS rebinding: a name of the page's own points at this machine"}, "api/middleware.go",
			`return slices.ContainsFunc(s.config.AllowHosts,`, `return !MUTATED && slices.ContainsFunc(s.config.AllowHosts,`,
			[]string{"TestNearlyHostileRequests"}},
		{[]string{"a form or a fetch from another site", "acting with the cookie of somebody who is signed in", "signing somebody in or out from another site"}, "api/middleware.go",
			`if err := origins.Check(r); err != nil {`, `if err := origins.Check(r); err != nil && !MUTATED {`,
			[]string{"TestHostileRequests", "TestMCPRefusals", "TestSignedInElsewhere"}},
		{[]string{"content types that a form may send"}, "api/body.go",
			`!isJSON(kind) {`, `!isJSON(kind) && !MUTATED {`, []string{"TestHostileRequests"}},
		{[]string{"our own pages turned against us"}, "api/lab.go",
			`"default-src 'none'; style-src`, `CHOOSE("", "default-src 'none'; ")+"style-src`, []string{"TestPagesLoadNothing"}},
		{[]string{"acting with the cookie of somebody who is signed in"}, "api/auth.go",
			`SameSite: http.SameSiteStrictMode`, `SameSite: CHOOSE(http.SameSiteLaxMode, http.SameSiteStrictMode)`, []string{"TestSigningIn"}},
		{[]string{"our sign-in page as a way to another site, or control characters in its Location"}, "api/auth.go",
			`strings.HasPrefix(next, "//")`, `strings.HasPrefix(next, "//") && !MUTATED`, []string{"TestSigningInLeadsHere"}},
	}
}

// connectionMutations breaks the defences against anybody who can connect.
func connectionMutations() []mutation {
	return []mutation{
		{[]string{"a server that is open by mistake"}, "api/config.go",
			`if !reachable(address) || len(c.Tokens) > 0 {`, `if MUTATED || !reachable(address) || len(c.Tokens) > 0 {`,
			[]string{"TestServeKeepsToTheLoopback"}},
		{[]string{"a server that is open by mistake"}, "api/server.go",
			`if err := s.config.MayServe(listener.Addr()); err != nil {`, `if err := s.config.MayServe(listener.Addr()); err != nil || MUTATED && reachable(listener.Addr()) {`,
			[]string{"TestServeMayLeaveTheLoopback"}},
		{[]string{"guessing tokens"}, "api/auth.go",
			`if token, ok = holder(s.config.Tokens, secret); !ok {`, `if token, ok = holder(s.config.Tokens, secret); !ok && !MUTATED {`,
			[]string{"TestTokensAreAskedFor"}},
		{[]string{"guessing tokens"}, "api/auth.go",
			`if err != nil || len(hash) != sha256.Size {`, `if (err != nil || len(hash) != sha256.Size) && !MUTATED {`, []string{"TestTokenFilesAreRead"}},
		{[]string{"guessing tokens", "too much at once"}, "api/limits.go",
			`t.take(network(c.RealIP()).String()); wait > 0 {`, `t.take(network(c.RealIP()).String()); wait > 0 && !MUTATED {`, []string{"TestRateIsLimited"}},
		{[]string{"X-Forwarded-For to escape a limit"}, "api/server.go",
			`s.echo.IPExtractor = echo.ExtractIPDirect()`, `s.echo.IPExtractor = CHOOSE(echo.ExtractIPFromXFFHeader(), echo.ExtractIPDirect())`, []string{"TestRateIsLimited"}},
		{[]string{"two tokens in one request, to be judged by one and act by the other"}, "api/auth.go",
			`case len(given) > 1:`, `case len(given) > 1 && !MUTATED:`, []string{"TestTwoTokensAreNone"}},
		{[]string{"stealing or guessing a visit"}, "api/auth.go", `HttpOnly: true`, `HttpOnly: !MUTATED`, []string{"TestSigningIn"}},
		{[]string{"stealing or guessing a visit"}, "api/auth.go",
			`found.until.After(v.now())`, `(MUTATED || found.until.After(v.now()))`, []string{"TestVisitsEnd"}},
		{[]string{"secrets in URLs and logs"}, "api/middleware.go",
			`fmt.Sprintf("%.200s", v.URIPath)`, `fmt.Sprintf("%.200s", CHOOSE(c.Request().RequestURI, v.URIPath))`,
			[]string{"TestSecretsStayOutOfTheLog", "TestTokensAreAskedFor"}},
		{[]string{"listening on the line"}, "api/server.go",
			`MinVersion: tls.VersionTLS12`, `MinVersion: CHOOSE(uint16(tls.VersionTLS10), uint16(tls.VersionTLS12))`, []string{"TestTLS"}},
		{[]string{"connections that stop in the middle"}, "api/server.go",
			`ReadHeaderTimeout: s.config.HeaderTimeout,`, `ReadHeaderTimeout: CHOOSE(s.config.HeaderTimeout*1000, s.config.HeaderTimeout),`,
			[]string{"TestEveryPhaseHasALimit"}},
		{[]string{"connections that stop in the middle"}, "api/server.go",
			`s.config.CallTimeout + s.config.BodyTimeout,`, `CHOOSE(0, s.config.CallTimeout+s.config.BodyTimeout),`,
			[]string{"TestAnAnswerThatNobodyReads"}},
		{[]string{"too much at once"}, "api/middleware.go",
			`> int64(s.config.MaxConcurrent) {`, `> int64(s.config.MaxConcurrent) && !MUTATED {`, []string{"TestConcurrencyIsLimited"}},
		{[]string{"too much at once"}, "api/episodecache.go", "if err == nil {\n\t\t\treturn nil\n", "if err == nil || MUTATED {\n\t\t\treturn nil\n", []string{"TestMemoryIsBounded"}},
		{[]string{"large, deep and packed bodies"}, "api/body.go",
			`case int64(len(text)) > k.limit:`, `case int64(len(text)) > k.limit && !MUTATED:`, []string{"TestHostileRequests"}},
		{[]string{"large, deep and packed bodies"}, "api/body.go", `!plain(coding) {`, `!plain(coding) && !MUTATED {`, []string{"TestHostileRequests"}},
		{[]string{"two readings of one body", "arguments that break an environment"}, "api/body.go",
			"if err != nil {\n\t\treturn []error{&flawed{http.StatusBadRequest, \"the body is not JSON: \"",
			"if err != nil && MUTATED {\n\t\treturn nil\n\t}\n\tif err != nil {\n\t\treturn []error{&flawed{http.StatusBadRequest, \"the body is not JSON: \"",
			[]string{"TestHostileRequests", "FuzzCalls"}},
		{[]string{"ids and headers that break the log"}, "api/middleware.go", `if !fit(x.id) {`, `if !fit(x.id) && !MUTATED {`, []string{"TestRequestIDs"}},
		{[]string{"learning about the inside from errors"}, "api/middleware.go",
			`return fail(http.StatusInternalServerError, seeLog)`, `return fail(http.StatusInternalServerError, CHOOSE(err.Error(), seeLog))`,
			[]string{"TestFaultsStayInside", "TestNothingIsAnsweredThatIsNotKept"}},
		{[]string{"learning about the inside from errors"}, "api/episodestore.go",
			`Message: "the database takes no writes; the log says why"`, `Message: CHOOSE(err.Error(), "the database takes no writes; the log says why")`,
			[]string{"TestReadinessTellsWhy"}},
		{[]string{"metrics that grow with what clients make up"}, "api/metrics.go", `return "other"`, `return CHOOSE(method, "other")`, []string{"TestMetricsCount"}},
	}
}

// tokenMutations breaks the defences against the holder of a token.
func tokenMutations() []mutation {
	return []mutation{
		{[]string{"acting beyond the roles"}, "api/auth.go", `if role == public ||`, `if MUTATED || role == public ||`,
			[]string{"TestTokensAreAskedFor", "TestMetricsAreTheAdministrators"}},
		{[]string{"other people's episodes and sessions"}, "api/episodecache.go",
			`if !who.owns(element.Value.(*seat).owner) {`, `if !MUTATED && !who.owns(element.Value.(*seat).owner) {`,
			[]string{"TestEpisodesBelongToTheirToken", "TestMCPBelongsToItsToken"}},
		{[]string{"other people's policy runs"}, "api/policy.go",
			`if !exchangeOf(ctx).caller.owns(run.State().Owner) {`, `if !MUTATED && !exchangeOf(ctx).caller.owns(run.State().Owner) {`,
			[]string{"TestPolicyRunRefusals"}},
		{[]string{"other people's evaluations"}, "api/evaluations.go",
			`if !exchangeOf(ctx).caller.owns(owner) {`, `if !MUTATED && !exchangeOf(ctx).caller.owns(owner) {`, []string{"TestEvaluationsBelongToTheirToken"}},
		{[]string{"making the server ask addresses of his choice"}, "api/evaluations.go",
			`return own == address || modelserver.Display(own) == address })`, `return own == address || modelserver.Display(own) == address || MUTATED })`, []string{"TestEvaluationRefusals"}},
		{[]string{"making the server ask addresses of his choice"}, "api/evaluations.go",
			`if len(request.Ollama) > 0 || s.asksNobody`, `if MUTATED || len(request.Ollama) > 0 || s.asksNobody`, []string{"TestNoServerIsAskedUnasked"}},
		{[]string{"settings that become code in a training script which somebody else runs, or a secret in it"}, "api/dialect/trl/script.go",
			`return strconv.Quote(strings.ToValidUTF8(s, "\uFFFD"))`, "return CHOOSE(`\"`+s+`\"`, strconv.Quote(strings.ToValidUTF8(s, \"\\uFFFD\")))",
			[]string{"TestScriptsTrain"}},
		{[]string{"settings that become code in a training script which somebody else runs, or a secret in it"}, "api/dialect/trl/settings.go",
			`case u.User != nil:`, `case u.User != nil && !MUTATED:`, []string{"TestTranscripts"}},
		{[]string{"settings that become code in a training script which somebody else runs, or a secret in it"}, "api/dialect/trl/script.go",
			`return text.Bytes(), nil`, "return bytes.ReplaceAll(text.Bytes(), []byte(`os.environ.get(\"TOOLGYM_TOKEN\")`), []byte(CHOOSE(`None`, `os.environ.get(\"TOOLGYM_TOKEN\")`))), nil",
			[]string{"TestScriptsWithTokens"}},
		{[]string{"names that look like others, command a terminal, turn the text around them or begin a formula in a spreadsheet"}, "api/auth.go",
			`.MatchString(t.Name) {`, `.MatchString(t.Name) && !MUTATED {`, []string{"TestTokenFilesAreRead"}},
		{[]string{"names that look like others, command a terminal, turn the text around them or begin a formula in a spreadsheet"}, "internal/evaluation/request.go",
			`if !r.Resume { // a run of before`, `if !r.Resume && !MUTATED { // a run of before`, []string{"TestEvaluationSettings"}},
		{[]string{"taking all the room"}, "api/episodecache.go", "if err == nil {\n\t\t\treturn t.makeRoom(e.owner)", "if err == nil || MUTATED {\n\t\t\treturn t.makeRoom(e.owner)", []string{"TestTokensHaveQuotas"}},
		{[]string{"a few bytes that become much memory: empty completions, attempts, violations, missing calls"}, "api/stream.go",
			`return s.charge(ctx.Context(), bytes) }`, `return s.charge(ctx.Context(), CHOOSE(0, bytes)) }`, []string{"TestStreamsAreWeighed"}},
		{[]string{"tools that compile to much memory, and are remembered"}, "internal/intake/desk.go",
			`len(list) + found.set.Memory()`, `len(list) + CHOOSE(0, found.set.Memory())`, []string{"TestRememberedListsAreBoundedByWhatTheyCompileTo"}},
		{[]string{"formulas of a rubric, alternatives and sets that multiply the work for one completion"}, "grpo/formula.go",
			`*left -= f.work(v); *left < 0 {`, `*left -= f.work(v); *left < 0 && !MUTATED {`, []string{"TestFormulasAreBounded"}},
		{[]string{"formulas of a rubric, alternatives and sets that multiply the work for one completion"}, "grpo/match/work.go",
			`w.left -= steps; w.left < 0 {`, `w.left -= steps; w.left < 0 && !MUTATED {`, []string{"TestComparingIsBounded"}},
		{[]string{"work for a client that has left, or after its deadline"}, "tools/meter.go",
			"case <-m.ended:\n\t\treturn true", "case <-m.ended:\n\t\treturn !MUTATED", []string{"TestValidationEndsWithItsContext"}},
		{[]string{"work for a client that has left, or after its deadline"}, "grpo/parse/scanner.go",
			`s.budget.exhausted() || s.isEnded() {`, `s.budget.exhausted() || s.isEnded() && !MUTATED {`, []string{"TestReadingEndsWithItsContext"}},
		{[]string{"a full disk as the end of what others do"}, "api/training/keep.go",
			`if !atomicfile.IsFull(err) {`, `if !atomicfile.IsFull(err) || MUTATED {`, []string{"TestAFullDiskPausesARun"}},
		{[]string{"a full disk as the end of what others do"}, "api/training/runs.go",
			`errors.Join(err, os.RemoveAll(run.dir))`, `errors.Join(err, os.RemoveAll(CHOOSE("", run.dir)))`, []string{"TestStartOnAFullDisk"}},
		{[]string{"a full disk as the end of what others do"}, "api/problem.go",
			`if atomicfile.IsFull(err) { // before`, `if atomicfile.IsFull(err) && !MUTATED { // before`, []string{"TestAFullDiskIsUnavailable"}},
		{[]string{"a full disk as the end of what others do"}, "api/assessment/desk.go",
			`case p != nil && atomicfile.IsFull(p.err):`, `case p != nil && atomicfile.IsFull(p.err) && !MUTATED:`, []string{"TestAnEvaluationOnAFullDisk"}},
		{[]string{"a full disk as the end of what others do"}, "api/stream.go",
			`case ours && atomicfile.IsFull(err):`, `case ours && atomicfile.IsFull(err) && !MUTATED:`, []string{"TestAScoreStreamOnAFullDisk"}},
		{[]string{"an evaluation of a billion tasks"}, "grpo/eval/suite/generate.go",
			`c.N > (MostTasks-len(items))/max(1, levels) {`, `c.N > (MostTasks-len(items))/max(1, levels) && !MUTATED {`, []string{"TestEvaluationSettings"}},
		{[]string{"the same step twice, or another in its place"}, "api/episodecache.go",
			`n, ok := e.answered[m.request]; ok && m.request != "" {`, `n, ok := e.answered[m.request]; ok && m.request != "" && !MUTATED {`,
			[]string{"TestOneRequestIDAtOnce"}},
		{[]string{"the same step twice, or another in its place"}, "api/episodestore.go",
			`return l.lost(ctx, l.store.AddMove(ctx, id, step, m),`, "if MUTATED {\n\t\treturn nil\n\t}\n\treturn l.lost(ctx, l.store.AddMove(ctx, id, step, m),",
			[]string{"TestEpisodesOutliveTheServer"}},
	}
}

// modelMutations breaks the defences against a model.
func modelMutations() []mutation {
	return []mutation{
		{[]string{"arguments that break an environment"}, "tools/tool.go", "if len(violations) > 0 {\n\t\treturn fail(explain", "if len(violations) > 0 && !MUTATED {\n\t\treturn fail(explain", []string{"TestMCPOverHTTP"}},
		{[]string{"a call that never ends"}, "api/episodecache.go",
			"defer stop()\n\tselect {\n\tcase e.turn", "if MUTATED {\n\t\trunning, stop = context.WithCancel(context.WithoutCancel(ctx))\n\t}\n\tdefer stop()\n\tselect {\n\tcase e.turn",
			[]string{"TestWaitingForATurnEnds"}},
		{[]string{"a panic"}, "api/middleware.go", `err := goroutine.Run(func() error { return next(c) })`, "if MUTATED {\n\t\t\treturn next(c)\n\t\t}\n\t\terr := goroutine.Run(func() error { return next(c) })",
			[]string{"TestFaultsStayInside"}},
		{[]string{"filling the disk"}, "api/episodestore.go", `most: c.MaxKept`, `most: CHOOSE(1<<30, c.MaxKept)`, []string{"TestRetentionIsBounded"}},
	}
}

// notMutated lists the tests that SECURITY.md names and that no mutation makes fail
// yet: that they would fail without their defence is not checked.
func notMutated() []string {
	return []string{
		"TestEveryRouteIsGuarded", "TestHostileEverywhere", "TestPagesTakeHostileParameters", "TestVisitsOfOthersStay",
		"TestHeavyRequestsTakeTurns", "TestCompletionsAreBounded", "TestScoresAreWrittenOneByOne", "TestScoreRefuses",
		"TestArgumentsThatAreTooCostlyToCheck", "TestReadingHasABudget",
		"TestMCPRequestsWithOddParameters", "TestMCPMalformedMessages", "TestMCPNotifications", "TestMCPBatches", "TestMCPSessionIDs", "FuzzMCP", "FuzzMCPLines",
		"TestDamagedRunsOfAnEarlierServer", "TestAnswersConform", "FuzzAnswersConform", "TestProblemExamplesAreTrue", "TestIDsOfOthersAreUnknown",
		"TestTokensHaveShares", "TestWithoutTokensThereIsOneShare", "TestStreamsAreFreed", "TestMCPSessionsThatAreOverMakeRoom",
		"TestEndedEpisodesOfOthersStay", "TestExpiredEpisodesOfOthersAreRemembered",
		"TestMCPPanicsFailTheirRequest", "TestMCPPanicsOfInitializeAndList",
	}
}
