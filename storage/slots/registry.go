package slots

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"maps"
	"slices"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/attributes"
	"github.com/mailhelm/mailhelm/storage/engine"
)

// AttributeRow is a row of the table attributes.
type AttributeRow struct {
	ID   string          `db:"id"`
	Name string          `db:"name"`
	Type attributes.Type `db:"type"`
	// a JSON array of the allowed values; used only if Type is enum
	EnumValues  string      `db:"enum_values"`
	Description string      `db:"description"`
	Origin      core.Origin `db:"origin"`
	CreatedAt   engine.Time `db:"created_at"`
	UpdatedAt   engine.Time `db:"updated_at"`
	// Slot is the column of contact_slots in which predicates read the attribute, or "" if
	// it has none.
	Slot string `db:"slot"`
	// Filling is the column of contact_slots that a pass over the contacts is filling, or
	// "". Writes store values in it too, but predicates read it only after the pass.
	Filling string `db:"filling"`
	// Recast is true if the attribute's type has changed. Stored values may then have
	// another type.
	Recast bool `db:"recast"`
}

// AttributeColumns lists the columns of an AttributeRow, in the order in which statements
// pass them as parameters.
const AttributeColumns = `id, name, type, enum_values, description, origin, created_at, updated_at, slot, filling, recast`

// Attribute converts the row to an attributes.Attribute. It returns an error if the enum
// values are not a JSON array.
func (r AttributeRow) Attribute() (attributes.Attribute, error) {
	a := attributes.Attribute{
		ID: r.ID, Name: r.Name, Type: r.Type, Description: r.Description, Origin: r.Origin,
		CreatedAt: r.CreatedAt.Time(), UpdatedAt: r.UpdatedAt.Time(), Slot: r.Slot,
	}
	if r.Type != attributes.Enum {
		return a, nil
	}
	if err := json.Unmarshal([]byte(r.EnumValues), &a.EnumValues); err != nil {
		return a, fmt.Errorf("storage: values of attribute %s: %w", r.ID, err)
	}
	return a, nil
}

// Writes of contacts hold a shared lock on the organization's attribute definitions (the
// registry), and changes of definitions hold it exclusively. When a change gets the lock,
// all contacts that were written with the earlier definitions are committed. So the
// conversion of the stored contacts, which follows the change, finds them all. A
// transaction locks contacts before the registry, never after. SQLite needs no lock,
// because it has one writer at a time.
var (
	shareRegistry = engine.Register("share registry", `
		SELECT 1 WHERE CAST($1 AS text) <> '' /*pg AND CAST(pg_advisory_xact_lock_shared(hashtextextended($1, 19)) AS text) = ''*/`)
	holdRegistry = engine.Register("hold registry", `
		SELECT 1 WHERE CAST($1 AS text) <> '' /*pg AND CAST(pg_advisory_xact_lock(hashtextextended($1, 19)) AS text) = ''*/`)

	// registryOf selects the attributes, and the former names of attributes under which
	// values may still be stored.
	registryOf = engine.RegisterPoint("registry", `
		SELECT `+AttributeColumns+`, FALSE AS left_behind FROM attributes WHERE org_id = $1
		UNION ALL SELECT attribute_id, name, '', '', '', '', 0, 0, '', '', FALSE, TRUE FROM attribute_leftovers WHERE org_id = $1`)
	// registryNamed is registryOf for the names in the JSON array $2. It also selects the
	// attributes to which former names among them lead.
	registryNamed = engine.RegisterPoint("registry of names", `
		SELECT `+AttributeColumns+`, FALSE AS left_behind FROM attributes WHERE org_id = $1 AND name IN (`+namesSQL+`)
		UNION SELECT `+AttributeColumns+`, FALSE FROM attributes WHERE org_id = $1 AND id IN (
			SELECT attribute_id FROM attribute_leftovers WHERE org_id = $1 AND name IN (`+namesSQL+`))
		UNION ALL SELECT attribute_id, name, '', '', '', '', 0, 0, '', '', FALSE, TRUE FROM attribute_leftovers
			WHERE org_id = $1 AND name IN (`+namesSQL+`)`)
	attributeExceptions = engine.RegisterPoint("attribute exceptions", ExceptionsSQL)
)

const namesSQL = `SELECT j.atom FROM json_each(CAST($2 AS text)) AS j`

// ExceptionsSQL selects the attribute names under which stored values may differ from what
// reads show; see [attributes.Exception]. $1 is the organization. Most organizations have
// none.
const ExceptionsSQL = `
	SELECT l.name, coalesce(a.name, '') AS present, coalesce(a.type, '') AS type
	FROM attribute_leftovers AS l LEFT JOIN attributes AS a ON a.org_id = l.org_id AND a.id = l.attribute_id
	WHERE l.org_id = $1
	UNION ALL SELECT name, name, type FROM attributes WHERE org_id = $1 AND recast`

// Registry has the attribute definitions of an organization, prepared for writes of
// contacts: by name, with the former names of renamed attributes, and with the attribute
// exceptions. It has all definitions, or those that concern some names.
type Registry struct {
	Rows       []AttributeRow
	Attributes map[string]attributes.Attribute // by name
	Exceptions []attributes.Exception
	moved      map[string]string // new attribute names by former name
}

// Settle returns attribute values of a contact under the present names and with the present
// types of the attributes. It reports whether they differ from the given values.
func (r *Registry) Settle(values map[string]any) (map[string]any, bool) {
	return attributes.Settle(values, r.Attributes, r.moved)
}

// SettleAndEncode converts attribute values of a contact to the present definitions, and
// returns the values as a map and as JSON. Every write of a contact must call
// SettleAndEncode before it writes, and [Write] after it has written, in one transaction.
func SettleAndEncode(ctx context.Context, db *engine.DB, orgID string, values map[string]any) (map[string]any, string, error) {
	r, err := InForceFor(ctx, db, orgID, maps.Keys(values))
	if err != nil {
		return nil, "", err
	}
	settled, _ := r.Settle(values)
	encoded, err := Encode(settled)
	return settled, encoded, err
}

// ShareSQL is an expression of PostgreSQL that takes the shared lock of the registry of the
// organization $1. Its value is the empty text. A transaction that ran a statement with it
// calls [NoteShared].
const ShareSQL = `CAST(pg_advisory_xact_lock_shared(hashtextextended(CAST($1 AS text), 19)) AS text)`

// NoteShared records that the transaction has the shared lock of the registry; see [ShareSQL].
func NoteShared(ctx context.Context, db *engine.DB, orgID string) {
	all := knownRegistries.Of(ctx, db)
	if *all == nil {
		*all = map[string]knownRegistry{}
	}
	if _, locked := (*all)[orgID]; !locked {
		(*all)[orgID] = knownRegistry{}
	}
}

// knownRegistry has the attribute definitions that a transaction has read: all if isWhole is
// true, otherwise those that concern the names.
type knownRegistry struct {
	*Registry
	isWhole bool
	names   map[string]bool
}

// knownRegistries holds the attribute definitions that a transaction has read, by
// organization.
var knownRegistries engine.TxMemory[map[string]knownRegistry]

// InForce returns the attribute definitions of the organization, and takes the shared lock
// that keeps them unchanged until the transaction ends. It reads them once in each
// transaction.
func InForce(ctx context.Context, db *engine.DB, orgID string) (*Registry, error) {
	return inForce(ctx, db, orgID, func(known knownRegistry) (knownRegistry, error) {
		if known.isWhole {
			return known, nil
		}
		r, err := ReadRegistry(ctx, db, orgID)
		return knownRegistry{r, true, nil}, err
	})
}

// InForceFor is InForce for values with these names. The result has only the definitions that
// concern the names, so that a write of one contact does not read hundreds of others.
func InForceFor(ctx context.Context, db *engine.DB, orgID string, names iter.Seq[string]) (*Registry, error) {
	return inForce(ctx, db, orgID, func(known knownRegistry) (knownRegistry, error) {
		wanted := maps.Clone(known.names)
		for name := range names {
			if wanted == nil {
				wanted = map[string]bool{}
			}
			wanted[name] = true
		}
		if known.isWhole || known.Registry != nil && len(wanted) == len(known.names) {
			return known, nil
		}
		r, err := readNamed(ctx, db, orgID, slices.Collect(maps.Keys(wanted)))
		return knownRegistry{r, false, wanted}, err
	})
}

// inForce calls read with the definitions that the transaction has read of the organization,
// and returns the result, which later calls get. Before the first call it takes the shared lock.
func inForce(ctx context.Context, db *engine.DB, orgID string, read func(knownRegistry) (knownRegistry, error)) (*Registry, error) {
	all := knownRegistries.Of(ctx, db)
	known, locked := (*all)[orgID]
	if !locked && db.Dialect() == engine.PostgreSQL {
		if _, err := engine.Values[int](ctx, db, shareRegistry, orgID); err != nil {
			return nil, err
		}
	}
	known, err := read(known)
	if err != nil {
		return nil, err
	}
	if *all == nil {
		*all = map[string]knownRegistry{}
	}
	(*all)[orgID] = known
	return known.Registry, nil
}

// HoldRegistry returns the attribute definitions, and takes the exclusive lock that blocks
// writes of contacts until the transaction ends. A later InForce in the transaction reads
// the definitions again.
func HoldRegistry(ctx context.Context, db *engine.DB, orgID string) (*Registry, error) {
	if db.Dialect() == engine.PostgreSQL {
		if _, err := engine.Values[int](ctx, db, holdRegistry, orgID); err != nil {
			return nil, err
		}
	}
	delete(*knownRegistries.Of(ctx, db), orgID)
	return ReadRegistry(ctx, db, orgID)
}

// registryRow is an attribute or, if LeftBehind is true, a former name of an attribute. For
// a former name only Name and ID are set.
type registryRow struct {
	AttributeRow
	LeftBehind bool `db:"left_behind"`
}

// ReadRegistry returns the attribute definitions that are stored now, without a lock.
func ReadRegistry(ctx context.Context, db *engine.DB, orgID string) (*Registry, error) {
	rows, err := engine.List[registryRow](ctx, db, registryOf, orgID)
	if err != nil {
		return nil, err
	}
	return registryFrom(rows)
}

// readNamed returns the definitions that concern values with the names.
func readNamed(ctx context.Context, db *engine.DB, orgID string, names []string) (*Registry, error) {
	if len(names) == 0 {
		return registryFrom(nil)
	}
	parameter, err := engine.JSONParameter(names)
	if err != nil {
		return nil, err
	}
	rows, err := engine.List[registryRow](ctx, db, registryNamed, orgID, parameter)
	if err != nil {
		return nil, err
	}
	return registryFrom(rows)
}

// registryFrom returns the registry that the rows define.
func registryFrom(rows []registryRow) (*Registry, error) {
	r := &Registry{Attributes: make(map[string]attributes.Attribute, len(rows)), moved: map[string]string{}}
	nameOf := make(map[string]string, len(rows))
	for _, row := range rows {
		if row.LeftBehind {
			continue
		}
		attribute, err := row.Attribute()
		if err != nil {
			return nil, err
		}
		r.Rows, r.Attributes[row.Name] = append(r.Rows, row.AttributeRow), attribute
		nameOf[row.ID] = row.Name
	}
	for _, row := range rows {
		switch {
		case row.LeftBehind:
			if row.ID != "" {
				r.moved[row.Name] = nameOf[row.ID]
			}
			r.Exceptions = append(r.Exceptions, attributes.Exception{Name: row.Name, Present: nameOf[row.ID]})
		case row.Recast:
			r.Exceptions = append(r.Exceptions, attributes.Exception{Name: row.Name, Present: row.Name, Type: row.Type})
		}
	}
	return r, nil
}

// exceptionRow has the fields of attributes.Exception with "db" tags, so that it can be
// read from a row and converts to an attributes.Exception.
type exceptionRow struct {
	Name    string          `db:"name"`
	Present string          `db:"present"`
	Type    attributes.Type `db:"type"`
}

func (r exceptionRow) exception() attributes.Exception { return attributes.Exception(r) }

// Exceptions returns the names under which stored attribute values must be renamed or
// hidden when contacts are read; see [attributes.Exception]. Inside a transaction it
// computes the names from the attribute definitions that the transaction has read.
func Exceptions(ctx context.Context, db *engine.DB, orgID string) ([]attributes.Exception, error) {
	if db.InTransaction(ctx) {
		r, err := InForce(ctx, db, orgID)
		if err != nil {
			return nil, err
		}
		return r.Exceptions, nil
	}
	return engine.ListAs(ctx, db, exceptionRow.exception, attributeExceptions, orgID)
}
