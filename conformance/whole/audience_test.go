package whole

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/mailhelm/mailhelm/conformance/product"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/activities"
	"github.com/mailhelm/mailhelm/core/attributes"
	"github.com/mailhelm/mailhelm/core/bulk"
	"github.com/mailhelm/mailhelm/core/lists"
	"github.com/mailhelm/mailhelm/core/predicate"
	"github.com/mailhelm/mailhelm/core/segments"
	bulkstore "github.com/mailhelm/mailhelm/storage/bulk"
)

// Each variable is one way to name a segment, an activity, a bulk write or a promoted
// property, such as by id. Its first function creates an object of the other organization
// and returns the object's name. Its second function returns a name that no object has.
var (
	segmentID = kind{"segment id", func(t *testing.T, w world, n int) string {
		return w.segment(t, w.p.Other.OrgID, fmt.Sprintf("foreign-segment-%03d", n)).ID
	}, func(int) string { return core.NewID() }}
	segmentKey = kind{"segment key", func(t *testing.T, w world, n int) string {
		return w.segment(t, w.p.Other.OrgID, fmt.Sprintf("foreign-segment-%03d", n)).Key
	}, func(n int) string { return fmt.Sprintf("absent-segment-%03d", n) }}
	segmentName = kind{"segment name", func(t *testing.T, w world, n int) string {
		return w.segment(t, w.p.Other.OrgID, fmt.Sprintf("foreign-segment-%03d", n)).Name
	}, func(n int) string { return fmt.Sprintf("The absent-segment-%03d", n) }}

	bulkJob = kind{"bulk job", func(t *testing.T, w world, _ int) string {
		now := w.p.Clock.Now()
		job := bulk.Job{ID: core.NewID(), Status: bulk.Completed, CreatedAt: now, CompletedAt: &now}
		w.must(t, bulkstore.NewJobStore(w.p.DB.DB).InsertBulkJob(t.Context(), w.p.Other.OrgID, job, nil))
		return job.ID
	}, func(int) string { return core.NewID() }}

	activityName = kind{"activity name", func(t *testing.T, w world, n int) string {
		name := fmt.Sprintf("foreign activity %03d", n)
		w.recordActivity(t, map[string]any{"name": name})
		return name
	}, func(n int) string { return fmt.Sprintf("absent activity %03d", n) }}
	idempotencyKey = kind{"idempotency key", func(t *testing.T, w world, n int) string {
		key := fmt.Sprintf("foreign-idempotency-%03d", n)
		w.recordActivity(t, map[string]any{"name": "seen", "idempotency_key": key})
		return key
	}, func(n int) string { return fmt.Sprintf("absent-idempotency-%03d", n) }}

	propertyID = kind{"activity property id", func(t *testing.T, w world, n int) string {
		return w.property(t, w.p.Other.OrgID, fmt.Sprintf("foreign activity %03d", n), "foreign").ID
	}, func(int) string { return core.NewID() }}
	// An activity name and a property name together identify a promoted property. The next
	// two kinds are each of these names, taken from a promoted property of the other
	// organization.
	promotedName = kind{"name of promoted activities", func(t *testing.T, w world, n int) string {
		return w.property(t, w.p.Other.OrgID, fmt.Sprintf("foreign promoted %03d", n), ownAddress("foreign", n)).ActivityName
	}, func(n int) string { return fmt.Sprintf("absent promoted %03d", n) }}
	promotedProperty = kind{"promoted property", func(t *testing.T, w world, n int) string {
		return w.property(t, w.p.Other.OrgID, ownAddress("foreign", n), fmt.Sprintf("foreign promoted %03d", n)).Property
	}, func(n int) string { return fmt.Sprintf("absent promoted %03d", n) }}

	predicateOfAttribute = predicateOf("attribute", "has attr.%s", func(t *testing.T, w world, name string) {
		w.must(t, w.p.DB.Attributes().InsertAttribute(t.Context(), w.p.Other.OrgID, attributes.Attribute{
			ID: core.NewID(), Name: name, Type: attributes.String, Origin: core.ManagedOrigin, CreatedAt: w.p.Clock.Now(), UpdatedAt: w.p.Clock.Now(),
		}))
	})
	predicateOfList = predicateOf("list", "in list %q", func(t *testing.T, w world, name string) {
		w.must(t, w.p.DB.Lists().InsertList(t.Context(), w.p.Other.OrgID, lists.List{
			ID: core.NewID(), Key: name, Name: name, Source: "api", Origin: core.ManagedOrigin, Status: "active", CreatedAt: w.p.Clock.Now(), UpdatedAt: w.p.Clock.Now(),
		}))
	})
	predicateOfSegment = predicateOf("segment", "in segment %q", func(t *testing.T, w world, name string) {
		w.segment(t, w.p.Other.OrgID, name)
	})
	predicateOfProperty = predicateOf("property", `exists(activity.seen where %s = "x")`, func(t *testing.T, w world, name string) {
		w.property(t, w.p.Other.OrgID, "seen", name)
	})
)

// predicateOf returns the kind of texts that are predicates and name an object. An example
// is the predicate `in list "x"`. format is the predicate with %s or %q for the name. makes
// creates an object with the name in the other organization.
func predicateOf(sort, format string, makes func(t *testing.T, w world, name string)) kind {
	return kind{"predicate of a " + sort, func(t *testing.T, w world, n int) string {
		t.Helper()
		name := fmt.Sprintf("foreign_named_%03d", n)
		makes(t, w, name)
		return fmt.Sprintf(format, name)
	}, func(n int) string { return fmt.Sprintf(format, fmt.Sprintf("missing_named_%03d", n)) }}
}

// segment stores a paused segment, which no job changes.
func (w world) segment(t *testing.T, orgID, key string) segments.Segment {
	t.Helper()
	s := segments.Segment{
		ID: core.NewID(), Key: key, Name: "The " + key, Source: everybody, ProfileVersion: 1, EvalClass: predicate.Incremental,
		Status: segments.Paused, Origin: segments.Managed, CreatedAt: w.p.Clock.Now(), UpdatedAt: w.p.Clock.Now(),
	}
	w.must(t, w.p.DB.Segments().InsertSegment(t.Context(), orgID, s))
	return s
}

// everybody is a predicate that all contacts match.
const everybody = "has attr.email"

func (w world) property(t *testing.T, orgID, activity, property string) activities.Property {
	t.Helper()
	p := activities.Property{
		ID: core.NewID(), ActivityName: activity, Property: property, Type: activities.StringProperty,
		Origin: activities.Managed, CreatedAt: w.p.Clock.Now(), UpdatedAt: w.p.Clock.Now(),
	}
	w.must(t, w.p.DB.ActivityProperties().InsertProperty(t.Context(), orgID, p))
	return p
}

// recordActivity records an activity of the contact foreign.active@example.org in the
// organization of w.others. item has the other members of the activity.
func (w world) recordActivity(t *testing.T, item map[string]any) {
	t.Helper()
	item["email"] = "foreign.active@example.org"
	got := w.others.callTool(t, "activities_record", map[string]any{"activities": []any{item}})
	if got.output()["accepted"] != 1.0 {
		t.Fatalf("no activity: %d %s", got.status, got.body)
	}
}

// TestHostileTextsOfActivitiesAndSegments puts each hostile test text in each text member
// of activities, properties and segments. It checks the answers of every operation that
// reads them.
func TestHostileTextsOfActivitiesAndSegments(t *testing.T) {
	t.Parallel()
	product.Once(t, func(t *testing.T, p *product.Product) {
		w := newWorld(t, p)
		for i, h := range storable(t) {
			w.checkHostileAudience(t, i, h)
		}
	})
}

func (w world) checkHostileAudience(t *testing.T, i int, h hostile) {
	t.Helper()
	now, name := w.p.Clock.Now(), h.truncatedTo(190)+fmt.Sprintf("-%03d", i)
	segment := segments.Segment{
		ID: core.NewID(), Key: fmt.Sprintf("hostile-%03d", i), Name: h.text, Description: h.text, Source: h.text, ProfileVersion: 1,
		EvalClass: predicate.Incremental, Status: segments.Invalid, EvalWarning: h.text, Origin: segments.Git, SourcePath: h.text, CreatedAt: now, UpdatedAt: now,
	}
	w.must(t, w.p.DB.Segments().InsertSegment(t.Context(), w.p.OrgID, segment))
	w.property(t, w.p.OrgID, name, name)
	item := map[string]any{"name": name, "email": address(i), "properties": map[string]any{name: h.text}}
	recorded := w.own.callTool(t, "activities_record", map[string]any{"activities": []any{item}})
	checkVoice(t, "activities_record of "+h.String(), recorded, h)
	if recorded.output()["accepted"] != 1.0 {
		t.Errorf("the activity of %s is not taken: %d %.300s", h, recorded.status, recorded.body)
	}
	shown := map[string]bool{}
	for operation, arguments := range map[string]map[string]any{
		"activities_list":               {"name": name},
		"contacts_list_activities":      {"id": address(i)},
		"contacts_summarize_activities": {"id": address(i)},
		"activity_properties_list":      {"limit": 2},
		"segments_get":                  {"id": segment.ID},
		"segments_list":                 {"limit": 1},
	} {
		for _, s := range subjects() {
			if s.Name != operation {
				continue
			}
			got := w.own.call(t, s, arguments)
			checkVoice(t, s.name()+" of "+h.String(), got, h)
			if status, _ := got.outcome(); status != http.StatusOK {
				t.Errorf("%s of %s: %d %.300s", s.name(), h, got.status, got.body)
			}
			textsIn(got.object, shown)
		}
	}
	if !shown[h.text] || !shown[name] {
		t.Errorf("nothing shows the activity and the segment of %s as they are", h)
	}
}
