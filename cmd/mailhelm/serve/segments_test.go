package serve

import (
	"context"
	"log/slog"
	"testing"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/activities"
	"github.com/mailhelm/mailhelm/core/attributes"
	"github.com/mailhelm/mailhelm/core/segments"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

// newOrgWithSegment creates an organization and calls the function define with its id. It
// then adds one segment whose expression is source. It returns the organization's id and
// the manager of its segments.
func newOrgWithSegment(t *testing.T, db *storage.DB, define func(org string) error, source string) (string, *segments.Segments) {
	t.Helper()
	org := core.Org{ID: core.NewID(), Name: "Org", Slug: "org", Tier: "demo", RetentionDays: 365}
	if err := db.Orgs().InsertOrg(t.Context(), org); err != nil {
		t.Fatal(err)
	}
	if err := define(org.ID); err != nil {
		t.Fatal(err)
	}
	s := newSegments(db, nil, core.SystemClock, slog.New(slog.DiscardHandler))
	if _, err := s.Save(t.Context(), org.ID, segments.Definition{Key: "one", Name: "One", Source: source, Origin: segments.Managed}); err != nil {
		t.Fatal(err)
	}
	return org.ID, s
}

// checkWarning checks whether the stored segment "one" has a warning about a changed
// attribute, property, topic or list. want is true if it must have one. After a preview
// want is false, because a preview must not change the segment.
func checkWarning(t *testing.T, s *segments.Segments, org string, want bool) {
	t.Helper()
	if seen, err := s.Store.Segment(t.Context(), org, "one"); err != nil || (seen.EvalWarning != "") != want {
		t.Errorf("the segment warns %q, %v, want a warning: %v", seen.EvalWarning, err, want)
	}
}

func TestPropertyChangesWarnSegments(t *testing.T) {
	t.Parallel()
	db := storagetest.SQLite(t)
	amount := activities.Property{
		ID: core.NewID(), ActivityName: "purchase", Property: "amount", Type: activities.NumberProperty, Origin: activities.Managed,
		CreatedAt: core.SystemClock(), UpdatedAt: core.SystemClock(),
	}
	org, s := newOrgWithSegment(t, db, func(org string) error {
		return db.ActivityProperties().InsertProperty(t.Context(), org, amount)
	}, `exists(activity.purchase where has amount)`)
	price, text := amount, amount
	price.Property, text.Type = "price", activities.StringProperty
	for _, tc := range []struct {
		after *activities.Property
		fits  bool
	}{{nil, false}, {&price, false}, {&text, true}} {
		for _, preview := range []bool{true, false} {
			var a []activities.AffectedSegment
			err := db.InTx(t.Context(), func(ctx context.Context) error {
				var err error
				a, err = propertySegments(s)(ctx, org, activities.PropertyChange{Before: amount, After: tc.after, Preview: preview})
				return err
			})
			if err != nil || len(a) != 1 || a[0].Name != "One" || a[0].TypecheckOK != tc.fits || a[0].Warning == "" {
				t.Errorf("%+v: %+v, %v", tc.after, a, err)
			}
			checkWarning(t, s, org, !preview)
		}
		if _, err := s.Save(t.Context(), org, segments.Definition{Key: "one", Name: "One", Source: `exists(activity.purchase where has amount)`, Origin: segments.Managed}); err != nil {
			t.Fatal(err)
		}
	}
}

func TestAttributeChangesWarnSegments(t *testing.T) {
	t.Parallel()
	db := storagetest.SQLite(t)
	plan := attributes.Attribute{ID: core.NewID(), Name: "plan", Type: attributes.Enum, EnumValues: []string{"free", "pro"}, Origin: core.ManagedOrigin}
	org, s := newOrgWithSegment(t, db, func(org string) error {
		return db.Attributes().InsertAttribute(t.Context(), org, plan)
	}, `attr.plan = "pro"`)
	narrow := plan
	narrow.EnumValues = []string{"free"}
	for _, preview := range []bool{true, false} {
		change := attributes.Change{Before: plan, After: &narrow, Class: attributes.SafeButStale, Preview: preview}
		if a, err := attributeSegments(s)(t.Context(), org, change); err != nil || len(a) != 1 || !a[0].TypecheckOK {
			t.Errorf("%+v, %v", a, err)
		}
		checkWarning(t, s, org, !preview)
	}
}
