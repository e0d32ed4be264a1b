package activities

import (
	"context"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/activities"
	"github.com/mailhelm/mailhelm/storage/engine"
)

// propertyColumns lists the columns of activity_properties in the order of the parameters
// of insertProperty.
const propertyColumns = `id, activity_name, property, type, description, origin, created_at, updated_at`

var (
	// insertProperty inserts the definition of a promoted property. It changes nothing if
	// the same property of the same activity name is defined already.
	insertProperty = engine.Register("insert activity property", `
		INSERT INTO activity_properties (org_id, `+propertyColumns+`) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
		ON CONFLICT DO NOTHING`)
	propertyByID = engine.RegisterPoint("activity property", `
		SELECT `+propertyColumns+` FROM activity_properties WHERE org_id = $1 AND id = $2`)
	// lockProperty locks the definition of a promoted property, so that two concurrent
	// changes run one after the other. SQLite needs no lock, because it has one writer at a
	// time.
	lockProperty = engine.Register("lock activity property", `
		SELECT `+propertyColumns+` FROM activity_properties WHERE org_id = $1 AND id = $2 /*pg FOR UPDATE*/`)
	// propertiesPage selects a page of promoted properties after the cursor, newest first,
	// through the index activity_properties_newest.
	propertiesPage = engine.Register("activity properties page", `
		SELECT `+propertyColumns+` FROM activity_properties WHERE org_id = $1 AND (created_at, id) < ($2, $3)
		ORDER BY created_at DESC, id DESC LIMIT $4`)
	// updateProperty changes nothing if another promoted property has the same activity name
	// and property. The statement checks this, because a unique violation would abort the
	// transaction on PostgreSQL.
	updateProperty = engine.Register("update activity property", `
		UPDATE activity_properties SET activity_name = $1, property = $2, type = $3, description = $4, updated_at = $5
		WHERE org_id = $6 AND id = $7 AND NOT EXISTS (
			SELECT 1 FROM activity_properties AS other
			WHERE other.org_id = $6 AND other.id <> $7 AND other.activity_name = $1 AND other.property = $2)`)
	// countDropout counts the active contacts that would lose a property value if the
	// property's type changed from the type in $3 to the type in $5. A value that can be
	// read as either type is not lost.
	countDropout = engine.Register("count drop-out of activity property", `
		SELECT count(*) FROM (
			SELECT DISTINCT e.contact_id FROM activities AS e
			JOIN contact_slots AS s ON s.org_id = e.org_id AND s.contact_id = e.contact_id
			WHERE e.org_id = $1 AND e.name = $2 AND `+propertyIs(`$3`, `$4`)+` AND NOT `+propertyIs(`$5`, `$4`)+`) AS lost`)
	deleteProperty = engine.Register("delete activity property", `DELETE FROM activity_properties WHERE org_id = $1 AND id = $2`)
)

// propertyIs returns an SQL condition that is true if a property of the activity e can be
// read as a type. The argument of is the SQL parameter for the type, such as $3. The
// argument key is the SQL parameter for the property's name, encoded by Dialect.JSONKey.
func propertyIs(of, key string) string {
	value := `(e.properties/*pg ::json*/ -> CAST(` + key + ` AS text))`
	return `CASE CAST(` + of + ` AS text) WHEN 'string' THEN predicate_string` + value + ` IS NOT NULL WHEN 'number' THEN predicate_number` + value +
		` IS NOT NULL WHEN 'bool' THEN predicate_bool` + value + ` IS NOT NULL WHEN 'datetime' THEN predicate_moment` + value + ` IS NOT NULL ELSE FALSE END`
}

// propertyRow is a promoted property, which is one that predicates may test.
type propertyRow struct {
	ID           string                  `db:"id"`
	ActivityName string                  `db:"activity_name"`
	Property     string                  `db:"property"`
	Type         activities.PropertyType `db:"type"`
	Description  string                  `db:"description"`
	Origin       activities.Origin       `db:"origin"`
	CreatedAt    engine.Time             `db:"created_at"`
	UpdatedAt    engine.Time             `db:"updated_at"`
}

// property converts the row.
func (r propertyRow) property() activities.Property {
	return activities.Property{
		ID: r.ID, ActivityName: r.ActivityName, Property: r.Property, Type: r.Type, Description: r.Description,
		Origin: r.Origin, CreatedAt: r.CreatedAt.Time(), UpdatedAt: r.UpdatedAt.Time(),
	}
}

// propertyTaken returns the Conflict error for a new or changed property if another
// property with the same name is already defined for the same activity name.
func propertyTaken() *core.Error {
	return core.Conflict("This property of these activities is promoted already.", "Change the existing definition, or choose another property.")
}

// PropertyStore stores promoted properties of activities.
type PropertyStore struct{ db *engine.DB }

var _ activities.PropertyStore = PropertyStore{}

// NewPropertyStore returns the store of promoted properties on the database.
func NewPropertyStore(db *engine.DB) PropertyStore { return PropertyStore{db} }

func (s PropertyStore) InsertProperty(ctx context.Context, orgID string, p activities.Property) error {
	return s.db.Insert(ctx, propertyTaken(), insertProperty, orgID, p.ID, p.ActivityName, p.Property, string(p.Type), p.Description,
		string(p.Origin), engine.At(p.CreatedAt), engine.At(p.UpdatedAt))
}

func (s PropertyStore) Property(ctx context.Context, orgID, id string) (activities.Property, error) {
	by := propertyByID
	if s.db.InTransaction(ctx) {
		by = lockProperty
	}
	row, err := engine.One[propertyRow](ctx, s.db, "activity property", by, orgID, id)
	return row.property(), err
}

func (s PropertyStore) PropertyPage(ctx context.Context, orgID string, after *core.After, limit int) ([]activities.Property, error) {
	created, id := engine.PageStart(after)
	return engine.ListAs(ctx, s.db, propertyRow.property, propertiesPage, orgID, created, id, limit)
}

// UpdateProperty changes a promoted property. It fails with NotFound if the id does not
// exist, and with Conflict if another promoted property has the same activity name and
// property.
func (s PropertyStore) UpdateProperty(ctx context.Context, orgID string, p activities.Property) error {
	changed, err := s.db.Exec(ctx, updateProperty, p.ActivityName, p.Property, string(p.Type), p.Description, engine.At(p.UpdatedAt), orgID, p.ID)
	if err != nil || changed == 1 {
		return err
	}
	if _, err := s.Property(ctx, orgID, p.ID); err != nil {
		return err
	}
	return propertyTaken()
}

func (s PropertyStore) DeleteProperty(ctx context.Context, orgID, id string) error {
	return s.db.Change(ctx, "activity property", deleteProperty, orgID, id)
}

// CountDropout counts the active contacts that would lose a value of the property p if its
// type changed to the type in the parameter stays. It reads all activities with p's
// activity name.
func (s PropertyStore) CountDropout(ctx context.Context, orgID string, p activities.Property, stays activities.PropertyType) (int, error) {
	counts, err := engine.Values[int](ctx, s.db, countDropout, orgID, p.ActivityName, string(p.Type), s.db.Dialect().JSONKey(p.Property), string(stays))
	if err != nil {
		return 0, err
	}
	return counts[0], nil
}
