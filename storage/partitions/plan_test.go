package partitions_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/storage/engine"
	"github.com/mailhelm/mailhelm/storage/partitions"
	_ "github.com/mailhelm/mailhelm/storage/retention" // package storage imports neither
	_ "github.com/mailhelm/mailhelm/storage/workflows"
)

// planNode is a node of a query plan in JSON.
type planNode struct {
	Relation string `json:"Relation Name"`
	// Loops is how often the node ran, nil if the statement did not run.
	Loops *float64   `json:"Actual Loops"`
	Plans []planNode `json:"Plans"`
}

// read adds the partitions that the node and those below it read.
func (n planNode) read(of *regexp.Regexp, found map[string]bool) {
	if (n.Loops == nil || *n.Loops > 0) && of.MatchString(n.Relation) {
		found[n.Relation] = true
	}
	for _, below := range n.Plans {
		below.read(of, found)
	}
}

// TestReadsOfAWindowReadItsPartitions checks that statements with a window of time read only the
// partitions of that window, with a plan for their arguments and with one for all arguments.
func TestReadsOfAWindowReadItsPartitions(t *testing.T) {
	t.Parallel()
	f := setup(t)
	for _, table := range partitions.Tables() {
		f.undivide(table.Name)
		_, err := f.keeper.Move(t.Context(), table.Name, now)
		f.must(err)
		_, err = f.keeper.MakeAhead(t.Context(), table.Name, now.AddDate(0, 4, 0))
		f.must(err)
	}
	// PostgreSQL reads empty tables whole.
	f.exec(fmt.Sprintf(`INSERT INTO handover_recipients (org_id, send_id, recipient, email, state, attempt, claimed_by, changed_at, not_before, message_id, reason, tier, created_at)
		SELECT 'org', 'send', 'recipient' || i, '', 'sent', 1, '', 1, 1, '', '', '', %d + CAST(i AS bigint) * 900000000 FROM generate_series(1, 20000) AS i`, now.UnixMicro()), "ANALYZE handover_recipients")
	at := func(month time.Month) time.Time { return time.Date(2031, month, 3, 0, 0, 0, 0, time.UTC) }
	micros := func(month time.Month) string { return fmt.Sprint(at(month).UnixMicro()) }
	day := func(month time.Month) string { return fmt.Sprint(at(month).Unix() / 86400) }
	june, august := micros(time.June), micros(time.August)
	cases := map[string]struct {
		table     string
		arguments []string
		want      string
	}{
		"recent bounces":             {"message_events", []string{"'org'", june, august, "10"}, "203106 203107 203108"},
		"purge message events":       {"message_events", []string{"'org'", june, "10"}, "203105 203106 before_203105"},
		"daily counts of activities": {"activities", []string{"'org'", august, "0", "10"}, "203108 203109 default"},
		"activities by time":         {"activities", []string{"'org'", august, august, "'z'", "0", "10"}, "203108 203109 default"},

		"messages by recipient":       {"message_recipients", []string{"'org'", "'a@example.com'", june, august, "''", "''", "''", "''", "''", "''", "10"}, "203106 203107 203108"},
		"count messages by recipient": {"message_recipients", []string{"'org'", "'a@example.com'", june, august, "''", "''", "''", "''", "''", "''", "10"}, "203106 203107 203108"},
		"misdated message recipients": {"message_recipients", []string{"'[{\"message\":\"m\",\"sent\":" + august + "}]'", "'org'"}, "203108 203109 default"},
		"purge message recipients":    {"message_recipients", []string{"'org'", june, `'["m"]'`}, "203105 203106 before_203105"},

		"last of the oldest rows of reports": {"domainauth_rows", []string{"'org'", "'d'", day(time.June), "10"}, "203105 203106 before_203105"},
		"delete oldest rows of reports":      {"domainauth_rows", []string{"'org'", "'d'", day(time.June), "'r'", "1"}, "203105 203106 before_203105"},
		"claim recipients":                   {"handover_recipients", []string{"0", `'[{"org":"o","send":"s","key":"r","created":` + august + `}]'`, "0"}, "203108"},
		"delete old recipients":              {"handover_recipients", []string{"'org'", june, "10"}, "203105 203106 203107 203108 203109 before_203105 default"},

		"timeline of a run":    {"workflow_events", []string{"'org'", "'w'", "'r'", august}, "203108 203109 default"},
		"delete old timelines": {"workflow_events", []string{"'org'", june, "10"}, "203105 203106 before_203105"},
		"times of held runs":   {"workflow_events", []string{"'org'", `'[{"workflow":"w","run":"r","since":` + august + `}]'`}, "203108 203109 default"},

		"discard records of a report": {"domainauth_rows", []string{"'org'", "'d'", day(time.June), "'r'", "1"}, "203106"},
	}
	for _, s := range engine.Statements() {
		test, ours := cases[s.Name()]
		if !ours {
			continue
		}
		delete(cases, s.Name())
		for _, mode := range []string{"force_custom_plan", "force_generic_plan"} {
			if got := f.readBy(s, test.table, mode, test.arguments); got != test.want {
				t.Errorf("%s, %s, reads %s", s.Name(), mode, got)
			}
		}
	}
	if len(cases) > 0 {
		t.Errorf("statements are missing: %v", cases)
	}
}

// readBy returns the ends of the names of the partitions of a table that a statement reads.
func (f fixture) readBy(s *engine.Statement, table, mode string, arguments []string) string {
	f.Helper()
	tx, err := f.db.Writer().BeginTx(f.Context(), nil)
	f.must(err)
	defer tx.Rollback() //nolint:errcheck // nothing is to be kept
	for _, text := range []string{"SET LOCAL plan_cache_mode = " + mode, "PREPARE looked AS " + f.db.Dialect().Text(s.Text())} {
		if _, err := tx.ExecContext(f.Context(), text); err != nil {
			f.Fatalf("%s: %v", text, err)
		}
	}
	explain := "EXPLAIN (FORMAT JSON) "
	if slices.Contains([]string{"misdated message recipients", "times of held runs", "claim recipients"}, s.Name()) {
		explain = "EXPLAIN (ANALYZE, FORMAT JSON) " // the partitions follow from rows
	}
	var plan []byte
	f.must(tx.QueryRowContext(f.Context(), explain+"EXECUTE looked("+strings.Join(arguments, ", ")+")").Scan(&plan))
	if _, err := tx.ExecContext(f.Context(), "DEALLOCATE looked"); err != nil {
		f.Fatal(err)
	}
	var nodes []struct{ Plan planNode }
	f.must(json.Unmarshal(plan, &nodes))
	found := map[string]bool{}
	nodes[0].Plan.read(regexp.MustCompile(`^`+table+`_`), found)
	var read []string
	for name := range found {
		read = append(read, strings.TrimPrefix(name, table+"_"))
	}
	slices.Sort(read)
	return strings.Join(read, " ")
}
