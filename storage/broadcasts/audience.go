package broadcasts

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/broadcasts"
	"github.com/mailhelm/mailhelm/core/handover"
	"github.com/mailhelm/mailhelm/storage/engine"
)

// AudienceStore reads and copies the members of lists and segments.
type AudienceStore struct{ db *engine.DB }

var _ broadcasts.AudienceStore = AudienceStore{}

// NewAudienceStore returns the store of audiences on the database.
func NewAudienceStore(db *engine.DB) AudienceStore { return AudienceStore{db} }

// tierOf returns the SQL of the first check that the contact c does not pass: account, topic
// or ”. topic is a parameter with the name of the topic, ” for none. A topic that does not
// exist any more counts as opted out, because no contact can agree to it.
func tierOf(topic string) string {
	return `CASE
		WHEN c.status <> 'active' OR c.stub OR c.unsubscribe_all
			OR EXISTS (SELECT 1 FROM suppressed_addresses AS x WHERE x.org_id = c.org_id AND x.email_key = c.email_key) THEN '` + string(handover.ByAccount) + `'
		WHEN ` + topic + ` <> '' AND coalesce(
			(SELECT p.subscription FROM contact_topics AS p WHERE p.org_id = c.org_id AND p.contact_id = c.id AND p.topic = ` + topic + `),
			(SELECT d.default_subscription FROM topics AS d WHERE d.org_id = c.org_id AND d.name = ` + topic + ` AND d.status = 'active'), 'OPT_OUT') = 'OPT_OUT'
			THEN '` + string(handover.ByTopic) + `'
		ELSE '' END`
}

// membersOf returns the FROM and WHERE clauses for the members m of an audience of a kind,
// each with its contact c. They have five parameters from the number first on; see
// [targetArgs].
func membersOf(kind broadcasts.AudienceKind, first int) string {
	p := func(i int) string { return "$" + strconv.Itoa(first+i) }
	table, column := "list_members", "list_id"
	if kind == broadcasts.Segment {
		table, column = "segment_members", "segment_id"
	}
	return `FROM ` + table + ` AS m JOIN contacts AS c ON c.org_id = m.org_id AND c.id = m.contact_id
		WHERE m.org_id = ` + p(0) + ` AND m.` + column + ` = ` + p(1) + ` AND (CASE
			WHEN CAST(` + p(2) + ` AS bytetext) = '' THEN 1
			WHEN substr(c.id, 25) >= CAST(` + p(3) + ` AS bytetext) AND substr(c.id, 25) < CAST(` + p(2) + ` AS bytetext) THEN 1 ELSE 0 END) = CAST(` + p(4) + ` AS bigint)`
}

// targetArgs returns the values of the parameters of [membersOf]: the organization, the list
// or segment, the end and the start of the share, and whether contacts inside of it are
// selected.
func targetArgs(orgID string, t broadcasts.Target) []any {
	from, to, rest := shareColumns(t.Share)
	inside := 1
	if rest {
		inside = 0
	}
	return []any{orgID, t.AudienceID, to, from, inside}
}

// byKind has one statement for lists and one for segments.
type byKind map[broadcasts.AudienceKind]*engine.Statement

// registerByKind registers a statement for each kind of audience.
func registerByKind(name string, text func(broadcasts.AudienceKind) string) byKind {
	all := byKind{}
	for _, kind := range []broadcasts.AudienceKind{broadcasts.List, broadcasts.Segment} {
		all[kind] = engine.Register(name+" of a "+string(kind), text(kind))
	}
	return all
}

var (
	// freezeAudience gives all recipients the time at which their broadcast was created. So no
	// recipient is there twice, although PostgreSQL has this time in the primary key.
	freezeAudience = registerByKind("freeze members", func(kind broadcasts.AudienceKind) string {
		return `
		INSERT INTO handover_recipients (org_id, send_id, recipient, email, state, attempt, claimed_by, changed_at, not_before, message_id, reason, tier, created_at)
		SELECT m.org_id, $1, c.id, c.email, 'pending', 0, '', CAST($2 AS bigint), CAST($2 AS bigint), '', '', '', CAST($3 AS bigint)
		` + membersOf(kind, 4) + ` ON CONFLICT DO NOTHING`
	})
	reachOfAudience = registerByKind("reach", func(kind broadcasts.AudienceKind) string {
		return `
		SELECT t.tier, count(*) AS members FROM (SELECT ` + tierOf("CAST($1 AS bytetext)") + ` AS tier ` + membersOf(kind, 2) + `) AS t GROUP BY t.tier`
	})
	sampleOfAudience = registerByKind("sample", func(kind broadcasts.AudienceKind) string {
		return `
		SELECT t.id FROM (SELECT c.id, ` + tierOf("CAST($1 AS bytetext)") + ` AS tier ` + membersOf(kind, 2) + ` ORDER BY m.contact_id LIMIT 1000) AS t
		ORDER BY CASE WHEN t.tier = '' THEN 0 ELSE 1 END, t.id LIMIT $7`
	})
	// judgedMembers finds the contacts by the primary key.
	judgedMembers = engine.Register("judged members", `
		WITH c AS MATERIALIZED (SELECT c.* FROM `+engine.RowsNamed("contacts", engine.Named{Column: "id", Equals: "j.atom"})+`)
		SELECT c.id, c.email, c.attributes, `+tierOf("CAST($3 AS bytetext)")+` AS tier FROM c`)
	memberByEmail = engine.RegisterPoint("member by email", `
		SELECT c.id, c.email, c.attributes, '' AS tier FROM contacts AS c WHERE c.org_id = $1 AND c.email_key = $2 AND c.status = 'active'`)
)

func (s AudienceStore) Freeze(ctx context.Context, orgID string, b broadcasts.Broadcast, now time.Time) (int, error) {
	return s.db.Exec(ctx, freezeAudience[b.AudienceKind], append([]any{b.ID, engine.At(now), engine.At(b.CreatedAt)}, targetArgs(orgID, b.Target)...)...)
}

func (s AudienceStore) Reach(ctx context.Context, orgID string, t broadcasts.Target, topic string) (broadcasts.Reach, error) {
	type tierRow struct {
		Tier    handover.Tier `db:"tier"`
		Members int           `db:"members"`
	}
	rows, err := engine.List[tierRow](ctx, s.db, reachOfAudience[t.AudienceKind], append([]any{topic}, targetArgs(orgID, t)...)...)
	var reach broadcasts.Reach
	for _, r := range rows {
		reach.Size += r.Members
		switch r.Tier {
		case handover.ByAccount:
			reach.ByAccount = r.Members
		case handover.ByTopic:
			reach.ByTopic = r.Members
		default:
			reach.Mailable = r.Members
		}
	}
	return reach, err
}

// attributeName matches the names of attributes, which need no escaping in SQL.
var attributeName = regexp.MustCompile(`^[a-z][a-z0-9_]{0,62}$`)

// WithAttribute counts values in one pass over the audience: the statement has one column for
// each attribute.
func (s AudienceStore) WithAttribute(ctx context.Context, orgID string, t broadcasts.Target, attributes []string) (map[string]int, error) {
	if len(attributes) == 0 {
		return map[string]int{}, nil
	}
	var sums []string
	for _, name := range attributes {
		if !attributeName.MatchString(name) {
			return nil, fmt.Errorf("storage: %q is not the name of an attribute", name)
		}
		sums = append(sums, `coalesce(sum(CASE WHEN coalesce(c.attributes/*pg ::json*/ ->> '`+name+`', '') <> '' THEN 1 ELSE 0 END), 0)`)
	}
	counted := engine.Composed{
		Name: "members with attributes", Text: `SELECT ` + strings.Join(sums, ", ") + ` ` + membersOf(t.AudienceKind, 1), Args: targetArgs(orgID, t),
	}
	rows, err := engine.Rows(ctx, s.db, counted, func(rows *sql.Rows) ([]int, error) {
		counts := make([]int, len(attributes))
		into := make([]any, len(attributes))
		for i := range counts {
			into[i] = &counts[i]
		}
		return counts, rows.Scan(into...)
	})
	if err != nil {
		return nil, err
	}
	counts := make(map[string]int, len(attributes))
	for i, name := range attributes {
		counts[name] = rows[0][i]
	}
	return counts, nil
}

// memberRow is a member with its judgement.
type memberRow struct {
	ID         string        `db:"id"`
	Email      string        `db:"email"`
	Attributes string        `db:"attributes"`
	Tier       handover.Tier `db:"tier"`
}

func (r memberRow) member() broadcasts.Member {
	return broadcasts.Member{ContactID: r.ID, Email: r.Email, Attributes: json.RawMessage(r.Attributes), Tier: r.Tier}
}

func (s AudienceStore) Members(ctx context.Context, orgID, topic string, contactIDs []string) ([]broadcasts.Member, error) {
	ids, err := engine.JSONParameter(contactIDs)
	if err != nil {
		return nil, err
	}
	return engine.ListAs(ctx, s.db, memberRow.member, judgedMembers, ids, orgID, topic)
}

func (s AudienceStore) MemberByEmail(ctx context.Context, orgID, email string) (broadcasts.Member, bool, error) {
	found, err := engine.ListAs(ctx, s.db, memberRow.member, memberByEmail, orgID, core.EmailKey(email))
	if err != nil || len(found) == 0 {
		return broadcasts.Member{}, false, err
	}
	return found[0], true, nil
}

func (s AudienceStore) Samples(ctx context.Context, orgID string, t broadcasts.Target, topic string, limit int) ([]string, error) {
	return engine.Values[string](ctx, s.db, sampleOfAudience[t.AudienceKind], append(append([]any{topic}, targetArgs(orgID, t)...), limit)...)
}
