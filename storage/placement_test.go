package storage_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/engine"
	"github.com/mailhelm/mailhelm/storage/engine/enginetest"
	_ "github.com/mailhelm/mailhelm/storage/sealed" // package storage does not import it
	"github.com/mailhelm/mailhelm/storage/storagetest"
	"github.com/mailhelm/mailhelm/storage/storagetest/placement"
)

// The reasons why a statement does not have one place; see package placement.
// core/doc/scale.md says what each means for a distributed PostgreSQL.
const (
	allOrganizations   = "a job or a process finds, counts or deletes rows of all organizations"
	beforeOrganization = "a secret, an address or a host leads to the organization"
	aPerson            = "a person is in several organizations"
	noOrganization     = "clients of no organization, which registered themselves"
	movesDomain        = "a domain receives mail for another organization than before"
	eachInRows         = "each row of the parameters names its organization"
	masterKey          = "the master key belongs to all organizations"
	operator           = "the operator reads figures of all organizations"
)

// elsewhere has the names of the statements that do not have one place, by the reason.
var elsewhere = map[string][]string{
	operator: {
		"backlogs", "counts of syncs",
	},
	beforeOrganization: {
		"redeem authorization code", "used authorization code", "client by client id", "api keys by prefix",
		"refresh token by hash", "invitation by hash", "org by slug", "session by hash", "touch session", "delete session",
		"inbox by address", "inbox by token", "domain by token of reports", "connection by ingest path",
		"public asset contents", "organizations of a git repository",
	},
	aPerson: {
		"memberships of a user", "organizations of a user", "delete sessions of a user", "delete other sessions of a user",
	},
	noOrganization: {
		"save document client", "count unused dynamic clients", "purge dynamic clients",
	},
	allOrganizations: {
		"purge unredeemed grants", "purge authorization codes", "purge refresh tokens", "purge sessions",
		"api keys past grace", "organizations by provider", "organizations with a git connection", "domains to poll",
		"domains to refresh", "claim files of reports", "digests that are due", "domains with findings to announce",
		"mails about domains that are due", "claim received mail", "receiving domains to check",
		"changed receiving domains", "receiving domains with due deliveries", "routes since a version", "inboxes to purge",
		"inboxes to forget", "end reservations", "purge replay records", "purge confirmations",
		"site keys of all organizations", "purge site counts", "passes due", "open broadcasts",
		"webhook endpoints with due deliveries", "organizations with touched contacts", "open sends of workflows",
		"busy workflows",
	},
	movesDomain: {
		"put route",
	},
	eachInRows: {
		"claim recipients", "filter recipients", "accept recipients", "refuse recipients", "release recipients",
		"observe recipients", "add received mail", "delete received mail", "discard received mail", "add site counts",
		"contacts of visitor ids", "update contacts", "mirror pushed consent", "move runs", "hold inboxes",
		"messages of inboxes by id", "count messages of inboxes", "add 4 messages of inboxes",
		"add 16 messages of inboxes", "add 64 messages of inboxes",
	},
}

// reasonElsewhere returns why a statement does not have one place, or an empty text.
func reasonElsewhere(name string) string {
	switch {
	case strings.HasSuffix(name, " of a person"):
		return aPerson
	case resealing.MatchString(name):
		return masterKey
	}
	for reason, names := range elsewhere {
		if slices.Contains(names, name) {
			return reason
		}
	}
	return ""
}

// controls matches statements about the transaction, which name no table.
var controls = regexp.MustCompile(`^(SAVEPOINT|RELEASE SAVEPOINT|ROLLBACK TO SAVEPOINT) \w+$`)

// TestStatementsHaveOnePlace checks that every statement about the tables of organizations is
// about one organization, which a parameter names, or has a reason. PostgreSQL parses the
// statements; see package placement.
func TestStatementsHaveOnePlace(t *testing.T) {
	t.Parallel()
	c := openPlacement(t)
	found := map[string]bool{}
	for _, s := range engine.Statements() {
		if controls.MatchString(s.Text()) {
			continue
		}
		faults, err := c.Faults(t.Context(), engine.PostgreSQL.Text(s.Text()))
		if err != nil {
			t.Errorf("%s: %v", s.Name(), err)
		}
		if len(faults) == 0 {
			continue
		}
		found[s.Name()] = true
		if reasonElsewhere(s.Name()) == "" {
			t.Errorf("%s: %s. Compare org_id with a parameter for each table, or list the statement with a reason", s.Name(), strings.Join(faults, "; "))
		}
	}
	for reason, names := range elsewhere {
		for _, name := range names {
			if !found[name] {
				t.Errorf("%s is listed (%s) and has one place, or does not exist", name, reason)
			}
		}
	}
}

// openPlacement returns a catalogue of a PostgreSQL database with the schema.
func openPlacement(t *testing.T) *placement.Catalogue {
	t.Helper()
	db := storagetest.Open(t, storage.Config{URL: enginetest.PostgresURL(t)})
	conn, err := db.Writer().Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() }) // the test ends anyway
	c, err := placement.Open(t.Context(), conn)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestStatementsWithoutAConditionHaveNoPlace drops each condition on org_id from statements and
// checks that each change is found. It proves that TestStatementsHaveOnePlace can fail.
func TestStatementsWithoutAConditionHaveNoPlace(t *testing.T) {
	t.Parallel()
	const part = 10 // a statement of ten, unless the tests run at full length
	c := openPlacement(t)
	changed := 0
	for i, s := range engine.Statements() {
		if !enginetest.Full() && i%part != 0 || reasonElsewhere(s.Name()) != "" || controls.MatchString(s.Text()) {
			continue
		}
		for _, text := range withoutConditions(engine.PostgreSQL.Text(s.Text())) {
			faults, err := c.Faults(t.Context(), text)
			if err != nil {
				t.Errorf("%s: %v", s.Name(), err)
			} else if len(faults) == 0 {
				t.Errorf("%s has one place without a condition:\n%s", s.Name(), text)
			}
			changed++
		}
	}
	if changed < 100 {
		t.Errorf("%d changed statements", changed)
	}
	t.Logf("%d changed statements", changed)
}

// orgCondition matches what fixes the organization of a table: a comparison, or the first
// value of an inserted row.
var orgCondition = regexp.MustCompile(`(?:\w+\.)?org_id = (?:\w+\.org_id|\$\d+)|\(org_id, [a-z_0-9, \n\t]+\)\s+(?:VALUES \(|SELECT )\$1,`)

// withoutConditions returns the statement without one of its conditions, for each condition. A
// statement with a LATERAL subquery repeats the conditions of the subquery, for PostgreSQL's
// planner: it is returned once, without all conditions.
func withoutConditions(text string) []string {
	if strings.Contains(text, "LATERAL (") {
		return []string{orgCondition.ReplaceAllStringFunc(text, withoutCondition)}
	}
	var all []string
	for _, at := range orgCondition.FindAllStringIndex(text, -1) {
		all = append(all, text[:at[0]]+withoutCondition(text[at[0]:at[1]])+text[at[1]:])
	}
	return all
}

// withoutCondition returns SQL in the place of a condition that says nothing about the
// organization, with the same parameter.
func withoutCondition(text string) string {
	if before, found := strings.CutSuffix(text, "$1,"); found {
		return before + "lower($1),"
	}
	if _, parameter, found := strings.Cut(text, "$"); found {
		return "CAST($" + parameter + " AS text) IS NOT NULL"
	}
	return "TRUE"
}
