package orgmove

import (
	"context"
	"encoding/base64"
	"fmt"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/jmoiron/sqlx"
	core "github.com/mailhelm/mailhelm/core/orgmove"
	"github.com/mailhelm/mailhelm/core/privacy"
	"github.com/mailhelm/mailhelm/core/signing"
	"github.com/mailhelm/mailhelm/storage/engine"
)

// Source is [core.Source].
type Source struct {
	db     *engine.DB
	master signing.MasterKey
}

var _ core.Source = Source{}

// NewSource returns the rows of organizations in db. master opens sealed values.
func NewSource(db *engine.DB, master signing.MasterKey) Source { return Source{db, master} }

// InSnapshot implements [core.Source].
func (s Source) InSnapshot(ctx context.Context, do func(ctx context.Context) error) error {
	return s.db.InSnapshot(ctx, do)
}

var (
	orgOf = engine.Register("organization that moves", `
		SELECT id, slug, name, tier, retention_days, rate_limit, git_connected, require_second_factor, platform_mode, created_at FROM orgs WHERE id = $1`)
	erasedOf     = engine.Register("erased addresses that move of an organization", `SELECT count(*) FROM erased_addresses WHERE org_id = $1`)
	inProgressOf = engine.Register("recipients in progress of an organization that moves", `SELECT count(*) FROM handover_recipients WHERE org_id = $1 AND state = 'handing_over'`)
	peopleOf     = engine.Register("members of an organization that moves", `
		SELECT u.id, u.email, u.name, u.created_at, m.role, m.permissions, m.created_at AS joined_at
		FROM members AS m JOIN users AS u ON u.id = m.user_id WHERE m.org_id = $1 ORDER BY m.user_id`)
)

type orgRow struct {
	ID                  string `db:"id"`
	Slug                string `db:"slug"`
	Name                string `db:"name"`
	Tier                string `db:"tier"`
	RetentionDays       int    `db:"retention_days"`
	RateLimit           *int   `db:"rate_limit"`
	GitConnected        bool   `db:"git_connected"`
	RequireSecondFactor bool   `db:"require_second_factor"`
	PlatformMode        bool   `db:"platform_mode"`
	CreatedAt           int64  `db:"created_at"`
}

type personRow struct {
	ID          string `db:"id"`
	Email       string `db:"email"`
	Name        string `db:"name"`
	CreatedAt   int64  `db:"created_at"`
	Role        string `db:"role"`
	Permissions string `db:"permissions"`
	JoinedAt    int64  `db:"joined_at"`
}

// Header implements [core.Source].
func (s Source) Header(ctx context.Context, orgID string) (core.Header, error) {
	org, err := engine.One[orgRow](ctx, s.db, "organization", orgOf, orgID)
	if err != nil {
		return core.Header{}, err
	}
	people, err := engine.ListAs(ctx, s.db, func(r personRow) core.Person { return core.Person(r) }, peopleOf, orgID)
	if err != nil {
		return core.Header{}, err
	}
	h := core.Header{Schema: s.db.SchemaVersion(ctx), Org: core.Org(org), People: people, Tables: Tables()}
	erased, err := engine.Values[int](ctx, s.db, erasedOf, orgID)
	if err == nil && erased[0] > 0 {
		h.ErasedKey, err = s.master.Derive(privacy.KeyPurpose, privacy.KeyBytes)
	}
	return h, err
}

// InProgress returns the number of recipients whose messages a server is handing over to the sending
// account now.
func (s Source) InProgress(ctx context.Context, orgID string) (int, error) {
	n, err := engine.Values[int](ctx, s.db, inProgressOf, orgID)
	if err != nil {
		return 0, err
	}
	return n[0], nil
}

// Count implements [core.Source].
func (s Source) Count(ctx context.Context, orgID string) (int64, error) {
	var total int64
	for _, t := range tables {
		n, err := engine.Values[int64](ctx, s.db, t.count, orgID)
		if err != nil {
			return 0, err
		}
		total += n[0]
	}
	return total, nil
}

// Rows implements [core.Source].
func (s Source) Rows(ctx context.Context, orgID, name string, line func(line []byte) error) error {
	t, err := find(name)
	if err != nil {
		return err
	}
	e := encoder{table: t, orgID: orgID, master: s.master}
	return s.db.Each(ctx, t.read, []any{orgID}, func(rows *sqlx.Rows) error {
		if e.kinds == nil {
			if err := e.begin(rows); err != nil {
				return err
			}
		}
		if err := rows.Scan(e.targets...); err != nil {
			return err
		}
		text, err := e.encode()
		if err != nil {
			return err
		}
		return line(text)
	})
}

// encoder writes rows of a table as lines of an archive.
type encoder struct {
	table   *table
	orgID   string
	master  signing.MasterKey
	kinds   []kind
	values  []any
	targets []any
	line    []byte
}

// begin prepares the encoder for the columns of a result.
func (e *encoder) begin(rows *sqlx.Rows) error {
	types, err := typesOf(rows.ColumnTypes())
	if err != nil {
		return err
	}
	if e.kinds, err = e.table.kinds(types); err != nil {
		return err
	}
	e.values, e.targets = make([]any, len(types)), make([]any, len(types))
	for i := range e.values {
		e.targets[i] = &e.values[i]
	}
	return nil
}

// encode returns the scanned row as a line.
func (e *encoder) encode() ([]byte, error) {
	e.line = append(e.line[:0], '[')
	for i := range e.values {
		if i > 0 {
			e.line = append(e.line, ',')
		}
		if err := e.append(i); err != nil {
			return nil, fmt.Errorf("%s.%s: %w", e.table.name, e.table.columns[i].name, err)
		}
	}
	return append(e.line, ']'), nil
}

// append appends the value of a column.
func (e *encoder) append(i int) (err error) {
	value := e.values[i]
	if value == nil {
		e.line = append(e.line, "null"...)
		return nil
	}
	switch e.kinds[i] {
	case textKind:
		e.line, err = jsontext.AppendQuote(e.line, textOf(value))
	case bytesKind:
		e.appendBytes([]byte(textOf(value)))
	case sealedKind:
		var plain []byte
		if plain, err = e.master.Open(e.table.columns[i].purpose, sealedID(e.orgID, e.table.columns[i], func(k int) string { return textOf(e.values[k]) }), []byte(textOf(value))); err == nil {
			e.appendBytes(plain)
		}
	case boolKind:
		e.line = strconv.AppendBool(e.line, value == true || value == int64(1))
	case intKind:
		n, ok := value.(int64)
		if !ok {
			return fmt.Errorf("%T is not a number", value)
		}
		e.line = strconv.AppendInt(e.line, n, 10)
	case floatKind:
		switch v := value.(type) {
		case float64:
			e.line = strconv.AppendFloat(e.line, v, 'g', -1, 64)
		case int64: // SQLite stores whole numbers so
			e.line = strconv.AppendFloat(e.line, float64(v), 'g', -1, 64)
		default:
			return fmt.Errorf("%T is not a number", value)
		}
	}
	return err
}

func (e *encoder) appendBytes(content []byte) {
	e.line = append(e.line, '"')
	e.line = base64.StdEncoding.AppendEncode(e.line, content)
	e.line = append(e.line, '"')
}

// textOf returns a text or bytes of a row.
func textOf(value any) string {
	switch v := value.(type) {
	case string:
		return v
	case []byte:
		return string(v)
	}
	return fmt.Sprint(value)
}

// sealedID returns the id with which a value is sealed.
func sealedID(orgID string, c column, value func(i int) string) string {
	parts := []string{orgID}
	for _, i := range c.key {
		parts = append(parts, value(i))
	}
	return strings.Join(parts, "/")
}
