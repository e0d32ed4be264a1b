package storage_test

import (
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/storage"
	_ "github.com/mailhelm/mailhelm/storage/closing"
	_ "github.com/mailhelm/mailhelm/storage/contactimport" // package storage does not import these
	"github.com/mailhelm/mailhelm/storage/engine"
	_ "github.com/mailhelm/mailhelm/storage/orgmove"
	"github.com/mailhelm/mailhelm/storage/storagetest"
	_ "github.com/mailhelm/mailhelm/storage/workflows"
)

func TestEveryStatementPreparesOnBothEngines(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		for _, s := range engine.Statements() {
			if err := prepares(t, db, s); err != nil {
				t.Errorf("%s: %v", s.Name(), err)
			}
		}
	})
}

func prepares(t *testing.T, db *storage.DB, s *engine.Statement) error {
	t.Helper()
	stmt, err := db.Writer().PrepareContext(t.Context(), db.Dialect().Text(s.Text()))
	if err != nil {
		return err
	}
	defer func() {
		if err := stmt.Close(); err != nil {
			t.Errorf("%s: close: %v", s.Name(), err)
		}
	}()
	return nil
}

// TestSlotsAreCounted counts the comments /*pg text*/ in all statements. These comments are
// the only differences between the SQL of the two engines. A new comment needs a reason,
// and a change of the expected number.
func TestSlotsAreCounted(t *testing.T) {
	t.Parallel()
	const want = 236 // most come from engine.ParameterRows
	var slots []string
	for _, s := range engine.Statements() {
		for range strings.Count(s.Text(), "/*") {
			slots = append(slots, s.Name())
		}
	}
	if len(slots) != want {
		t.Errorf("%d slots, want %d: %v", len(slots), want, slots)
	}
}

var (
	marker = regexp.MustCompile(`\$(\d+)`)
	// unportable matches SQL that one of the engines does not have, that takes the time from
	// the database, or that the rules of package engine forbid.
	unportable = regexp.MustCompile(`(?i)\bnow\(|current_timestamp|datetime\(|::|\bilike\b|\bany\(|\bjsonb|\boffset\b|\?`)
	slot       = regexp.MustCompile(`/\*pg.*?\*/`)
	// bare matches LIMIT or LIKE directly before a parameter. SQLite would compile such a
	// statement again at each execution, unless a plus sign precedes the parameter.
	bare = regexp.MustCompile(`(?i)\b(LIMIT|LIKE)\s*\$`)
)

func TestStatementsKeepTheRules(t *testing.T) {
	t.Parallel()
	names := map[string]bool{}
	for _, s := range engine.Statements() {
		if names[s.Name()] {
			t.Errorf("%s: the name is taken", s.Name())
		}
		names[s.Name()] = true
		if found := unportable.FindString(slot.ReplaceAllString(s.Text(), "")); found != "" {
			t.Errorf("%s: %q", s.Name(), found)
		}
		if found := bare.FindString(engine.SQLite.Text(s.Text())); found != "" {
			t.Errorf("%s: %q has no plus before the parameter on SQLite", s.Name(), found)
		}
		highest := 0
		for _, match := range marker.FindAllStringSubmatch(s.Text(), -1) {
			n, err := strconv.Atoi(match[1])
			if err != nil || n > highest+1 {
				t.Errorf("%s: $%s comes before $%d", s.Name(), match[1], highest+1)
			}
			highest = max(highest, n)
		}
	}
}

// withoutOrg lists the statements that work across organizations, that run before the
// organization is known, or that read no table.
var withoutOrg = map[string]bool{
	"insert org": true, "org by id": true, "org by slug": true, "org ids": true, "set rate limit": true,
	"insert user": true, "user by email": true, "insert signing key": true, "signing keys": true,
	"retire signing keys": true, "purge signing keys": true, "hold signing keys": true, "delete signing keys": true, "purge unredeemed grants": true,
	"client by client id": true, "api keys by prefix": true,
	"count unused dynamic clients": true, "purge dynamic clients": true,
	"purge replay records": true, "purge confirmations": true,
	"beat of process": true, "beats of processes": true, "end process": true, "purge processes": true, "end reservations": true,
	"redeem authorization code": true, "used authorization code": true, "purge authorization codes": true,
	"refresh token by hash": true, "purge refresh tokens": true,
	"deny token": true, "token denied": true, "purge denied tokens": true,
	"insert session": true, "session by hash": true, "delete session": true, "delete sessions of a user": true, "delete other sessions of a user": true,
	"purge sessions": true, "api keys past grace": true, "memberships of a user": true, "organizations of a user": true, "user by id": true,
	"set authenticator app": true, "authenticator app": true, "use time step": true, "delete authenticator app": true,
	"insert recovery code": true, "use recovery code": true, "recovery codes left": true, "delete recovery codes": true,
	"insert passkey": true, "passkeys of a user": true, "passkey by credential": true, "set passkey": true,
	"delete passkey": true, "delete passkeys of a user": true,
	"set disabled": true, "set org deleted": true, "begin erasing org": true, "org is being erased": true, "deleted orgs": true, "erase org": true,
	"erase jobs of an organization":     true,                                                                          // by a member of the arguments
	"number of jobs of an organization": true, "count due jobs": true, "oldest of jobs": true, "delete old jobs": true, // as above
	"delete failed jobs of no organization": true,
	"version of routing for a deleted org":  true, "set password": true, "insert password reset": true, "password reset by hash": true, "open password resets": true, "take password reset": true,
	"delete password resets of a user": true, "purge password resets": true,
	"put known device": true, "trim known devices": true, "known device by hash": true, "delete known devices of a user": true,
	"delete other known devices of a user": true, "purge known devices": true,
	"warn about passwords": true, "last warning about passwords": true, "purge warnings about passwords": true,
	"insert passkey ceremony": true, "take passkey ceremony": true, "purge passkey ceremonies": true,
	"set org settings": true, "hold members": true, "invitation by hash": true, "hold user": true,
	"connection by ingest path": true, "organizations by provider": true, "hold connection": true, "hold mail buckets": true,
	"hold contact upload files":             true,
	"webhook endpoints with due deliveries": true, "open broadcasts": true,
	"organizations with touched contacts": true, "open sends of workflows": true, "busy workflows": true,
	"lock organization for a test send": true, // by the id of the organization itself
	"share registry":                    true, "hold registry": true, "passes due": true,
	"public asset contents": true, "inbox by address": true, "inbox by token": true, "inboxes to purge": true, "inboxes to forget": true, "announce inboxes": true,
	// starts are counted for a person and for an address in all organizations together
	"hold subject of starts of verified senders": true, "starts of verified senders": true, "set starts of verified senders": true, "forget starts of verified senders": true,
	"insert probe": true, "delete probe": true,
	"longest retention of organizations": true, // of all, for partitions
	"domain by token of reports":         true, "claim files of reports": true,
	"claim received mail": true, "announce received mail": true, "announce changed settings of an organization": true,
	"receiving domains to check": true, "changed receiving domains": true, "receiving domains with due deliveries": true,
	"set git connected":                   true, // by the id of the organization itself
	"organizations with a git connection": true, "organizations of a git repository": true,
	"site keys of all organizations": true, "purge site counts": true,
	"domains to poll": true, "domains to refresh": true,
	"digests that are due": true, "domains with findings to announce": true, "mails about domains that are due": true,
	"master key records": true, "insert master key record": true, "delete master key record": true,
	"installation fact": true, "set installation fact": true,
	"next version of routing": true, "routes since a version": true,
	// by the id of the organization itself, and people of the installation
	"organization that moves": true, "organization that is imported": true, "slug of an imported organization is taken": true,
	"begin import of organization": true, "hold import of organization": true, "finish import of organization": true,
	"person of an imported organization": true, "id of a person of an imported organization": true, "store person of an imported organization": true,
	"backlogs": true, "counts of jobs": true, "counts of failed jobs": true, "counts of syncs": true, // for the operator
	"set savepoint": true, "release savepoint": true, "undo to savepoint": true,
}

// scoped matches statements that have the organization as a parameter, or that take it from
// each object of a JSON parameter that this program built.
var scoped = regexp.MustCompile(`org_id = \$\d|INSERT INTO \w+ \(org_id|org_id = v ->> 'org'|\(org_id, [a-z_, ]+\) IN \(SELECT v ->> 'org'|SELECT CAST\(\$\d AS bytetext\) AS org`)

// resealing matches the names of the statements of package sealed.
var resealing = regexp.MustCompile(`^(reseal|count sealed|sealed values of) `)

func TestStatementsAreScopedByOrg(t *testing.T) {
	t.Parallel()
	for _, s := range engine.Statements() {
		if strings.HasSuffix(s.Name(), " of a person") || resealing.MatchString(s.Name()) {
			// A person is deleted from all organizations together, and the master key belongs to all.
			continue
		}
		if scoped.MatchString(s.Text()) == withoutOrg[s.Name()] {
			t.Errorf("%s: scoped by org is %v, listed as without is %v", s.Name(), !withoutOrg[s.Name()], withoutOrg[s.Name()])
		}
	}
}
