package segments_test

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"html"
	"log/slog"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/activities"
	"github.com/mailhelm/mailhelm/core/attributes"
	"github.com/mailhelm/mailhelm/core/contacts"
	"github.com/mailhelm/mailhelm/core/members"
	"github.com/mailhelm/mailhelm/core/predicate"
	"github.com/mailhelm/mailhelm/core/segments"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame/frametest"
	pages "github.com/mailhelm/mailhelm/rest/dashboard/segments"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

var update = flag.Bool("update", false, "write the golden files again")

// hostile is text as an attacker would write it: HTML, and a character that reverses the
// order of the text after it.
const hostile = "<script>alert(1)</script>\u202egro.elpmaxe"

// office is an organization with segments on a database, and prepared results of the
// operations.
type office struct {
	*frametest.Office
	db         *storage.DB
	segments   *segments.Segments
	operations *frametest.Operations
	pages      http.Handler
}

func newOffice(t *testing.T) *office {
	t.Helper()
	db := storagetest.SQLite(t)
	o := &office{db: db, Office: frametest.NewOffice(t, frametest.DatabaseOf(db), frame.Area{Path: pages.Path, Name: "Segments"}, frame.Area{Path: "/dashboard/contacts", Name: "Contacts", Needs: members.MayViewContacts})}
	o.operations = &frametest.Operations{T: t, Results: map[string]string{
		"segments_members": `{"data":[` + member(hostile+"@example.com", true) + `,` + member("ben@example.com", false) + `],"pagination":{"has_more":true,"next_cursor":"NEXT"}}`,
		"segments_preview_predicate": `{"count":1234,"eval_class":"incremental","sample":[{"contact_id":"0196f0a0-0000-7000-8000-000000000001","email":` +
			text(hostile+"@example.com") + `,"mailable":true}]}`,
	}}
	o.Frame.Operations = o.operations
	o.segments = segments.New(segments.Config{
		Store: db.Segments(), Members: db.SegmentMembers(), Changes: db.SegmentChanges(), Transactor: db, Clock: frametest.Now, Log: slog.New(slog.DiscardHandler),
	})
	for _, a := range []attributes.Attribute{{Name: "plan", Type: attributes.Enum, EnumValues: []string{"free", hostile}}, {Name: "mrr", Type: attributes.Number}} {
		a.ID, a.Origin, a.CreatedAt, a.UpdatedAt = core.NewID(), core.ManagedOrigin, frametest.Now(), frametest.Now()
		o.Must(db.Attributes().InsertAttribute(t.Context(), o.Org.ID, a))
	}
	o.Must(db.Topics().ReplaceTopics(t.Context(), o.Org.ID, []sending.Topic{{Name: hostile, Default: sending.OptIn}, {Name: "<script>alert(2)</script>", Default: sending.OptOut}}, frametest.Now()))
	room, err := pages.New(o.Frame, pages.Config{Definitions: o.segments, Author: segments.Author{Store: db.Segments(), Members: db.SegmentMembers(), Clock: frametest.Now}})
	o.Must(err)
	o.pages = o.Open(room)
	return o
}

func member(email string, mailable bool) string {
	return `{"contact_id":"0196f0a0-0000-7000-8000-000000000001","email":` + text(email) + `,"mailable":` + text(mailable) + `,"entered_at":"2026-03-12T10:00:00Z"}`
}

func text(v any) string {
	encoded, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(encoded)
}

// save stores a segment.
func (o *office) save(d segments.Definition) segments.Segment {
	o.T.Helper()
	if d.Origin == "" {
		d.Origin = segments.Managed
	}
	saved, err := o.segments.Save(o.T.Context(), o.Org.ID, d)
	o.Must(err)
	return saved
}

// seed stores segments in each state, and returns one that others use.
func (o *office) seed() segments.Segment {
	o.T.Helper()
	base := o.save(segments.Definition{Key: "base", Name: hostile, Description: hostile, Source: `attr.plan != "` + "<b>" + `" and (attr.mrr > 5 or exists(open within 30d))`})
	o.save(segments.Definition{Key: "user", Name: hostile, Source: `in segment "base"`})
	o.save(segments.Definition{Key: "of-git", Name: "From Git", Source: `attr.mrr > 1`, Origin: segments.Git, SourcePath: "segments/" + hostile + ".yaml"})
	for _, status := range []segments.Status{segments.Paused, segments.Archived} {
		s := o.save(segments.Definition{Key: "is-" + string(status), Name: "Is " + string(status), Source: `has attr.plan`})
		_, err := o.segments.SetStatus(o.T.Context(), o.Org.ID, s.ID, status)
		o.Must(err)
	}
	broken := o.save(segments.Definition{Key: "broken", Name: "Broken", Source: `attr.mrr > 1`})
	broken.Source, broken.Status, broken.EvalWarning = "attr.mrr > 1\n\tand attr.gnoe = 1", segments.Invalid, hostile
	o.Must(o.db.Segments().UpdateSegment(o.T.Context(), o.Org.ID, broken))
	return base
}

// path returns the path of the page of the segment with a key.
func (o *office) path(key string) string {
	o.T.Helper()
	s, err := o.db.Segments().Segment(o.T.Context(), o.Org.ID, key)
	o.Must(err)
	return pages.Path + "/" + s.ID
}

func TestGoldenPages(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	_, page := frametest.Get(t, o.pages, pages.Path)
	frametest.CompareGolden(t, "empty", page, *update)
	o.seed()
	for name, path := range map[string]string{
		"segments": pages.Path, "segments_none": pages.Path + "?status=paused&q=zzz", "segments_archived": pages.Path + "?status=archived",
		"segment": o.path("base"), "segment_git": o.path("of-git"), "segment_broken": o.path("broken") + "?cursor=C&from=51",
		"new": pages.Path + "/new?example=1", "edit": o.path("base") + "/edit", "archive": o.path("base") + "/archive", "pause": o.path("user") + "/pause",
	} {
		_, page := frametest.Get(t, o.pages, path)
		frametest.CompareGolden(t, name, page, *update)
	}
	_, page = frametest.Post(t, o.pages, o.Site.Visitor, pages.Path+"/new", url.Values{
		"do": {"preview"}, "name": {hostile}, "key": {"x"}, "source": {"attr.plna = \"pro\"\r\nand attr.mrr > \"" + hostile + `"`},
	})
	frametest.CompareGolden(t, "new_faulty", page, *update)
	o.Allow(members.MayViewSegments)
	_, page = frametest.Get(t, o.pages, o.path("base"))
	frametest.CompareGolden(t, "segment_reader", page, *update)
}

// TestGoldenSizes compares the page of a segment that grew, with the chart of its size.
func TestGoldenSizes(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	s := o.seed()
	now := frametest.Now().AddDate(0, 0, -8)
	o.segments.Clock = func() time.Time { return now }
	for day := range 5 {
		c := contacts.Contact{ID: core.NewID(), Email: text(day) + "@example.com", Status: contacts.Active, Attributes: map[string]any{"plan": "free", "mrr": 10.0}, CreatedAt: now, UpdatedAt: now}
		o.Must(o.db.InTx(t.Context(), func(ctx context.Context) error {
			return errors.Join(o.db.Contacts().InsertContact(ctx, o.Org.ID, c), o.segments.ObserveChange(ctx, o.Org.ID, []string{c.ID}))
		}))
		o.Must(o.segments.Follow(t.Context(), o.Org.ID))
		now = now.AddDate(0, 0, 1)
	}
	for query, first := range map[string]string{"": "2026-02-11", "?days=90": "2025-12-13", "?days=7000": "2026-02-11"} {
		_, page := frametest.Get(t, o.pages, pages.Path+"/"+s.ID+query)
		if !strings.Contains(page, "5 members, 4 more than on 4 March 2026") || !strings.Contains(page, "2026-03-06: Members 3") || !strings.Contains(page, first+": Members –") {
			t.Errorf("%q: %s", query, page)
		}
	}
	_, page := frametest.Get(t, o.pages, o.path("base"))
	frametest.CompareGolden(t, "segment_sizes", page, *update)
}

// insertion matches the texts that the editor offers to insert.
var insertion = regexp.MustCompile(`data-insert="([^"]*)"`)

// TestHelpCompiles checks that each text that the editor offers is a valid predicate.
func TestHelpCompiles(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	o.seed()
	c := contacts.Contact{ID: core.NewID(), Email: "ann@example.com", Status: contacts.Active, CreatedAt: frametest.Now(), UpdatedAt: frametest.Now()}
	o.Must(o.db.Contacts().InsertContact(t.Context(), o.Org.ID, c))
	o.Must(o.db.Activities().Insert(t.Context(), o.Org.ID, []activities.Activity{
		{ID: core.NewID(), ContactID: c.ID, Name: "Order paid", OccurredAt: frametest.Now(), ReceivedAt: frametest.Now(), Source: "api", Properties: json.RawMessage("{}")},
	}))
	for name, of := range map[string]activities.PropertyType{"total": activities.NumberProperty, "in": activities.BoolProperty, "Paid at": activities.DatetimeProperty, "sku": activities.StringProperty} {
		o.Must(o.db.ActivityProperties().InsertProperty(t.Context(), o.Org.ID, activities.Property{
			ID: core.NewID(), ActivityName: "Order paid", Property: name, Type: of, Origin: "managed", CreatedAt: frametest.Now(), UpdatedAt: frametest.Now(),
		}))
	}
	names, err := segments.Author{Store: o.db.Segments()}.Names(t.Context(), o.Org.ID)
	o.Must(err)
	_, page := frametest.Get(t, o.pages, pages.Path+"/new")
	found := insertion.FindAllStringSubmatch(page, -1)
	if len(found) < 15 || !strings.Contains(page, "property.&#34;Paid at&#34; &gt; now - 30d") {
		t.Errorf("only %d texts to insert", len(found))
	}
	for _, one := range found {
		source := html.UnescapeString(one[1])
		if _, err := predicate.Compile(source, names); err != nil {
			t.Errorf("%s: %v", source, err)
		}
	}
}

// TestHostileTexts checks that texts of other people appear escaped, and without characters
// that change the order of text, except in the field of the predicate.
func TestHostileTexts(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	o.seed()
	for _, path := range []string{pages.Path, o.path("base"), o.path("of-git"), o.path("broken"), pages.Path + "/new?example=0", o.path("base") + "/edit", o.path("base") + "/archive"} {
		_, page := frametest.Get(t, o.pages, path)
		if strings.Contains(page, "<script>alert") || strings.Contains(page, "<b>") || strings.Contains(page, "\u202e") || !strings.Contains(page, "&lt;script&gt;") {
			t.Errorf("%s shows hostile text: %s", path, page)
		}
	}
}

// TestSaveAndChange creates, edits, pauses, resumes, archives and restores a segment, and
// checks what is refused.
func TestSaveAndChange(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	post := func(path string, form url.Values) (int, string) {
		return frametest.Post(t, o.pages, o.Site.Visitor, path, form)
	}
	form := url.Values{"name": {"Big"}, "key": {"big"}, "source": {"attr.mrr > 5\r\nand has attr.plan"}}
	if status, page := post(pages.Path+"/new", form); status != http.StatusSeeOther {
		t.Fatalf("create: %d %s", status, page)
	}
	if status, page := post(pages.Path+"/new", form); status != http.StatusUnprocessableEntity || !strings.Contains(page, "is the key of another segment") {
		t.Errorf("a second one with the key: %d %s", status, page)
	}
	if status, page := post(pages.Path+"/new", url.Values{"name": {""}, "key": {"A b"}, "source": {"attr.mrr >"}}); status != http.StatusUnprocessableEntity || !strings.Contains(page, "The key must be") {
		t.Errorf("faulty fields: %d %s", status, page)
	}
	one := o.path("big")
	if status, page := post(one+"/edit", url.Values{"name": {"Bigger"}, "key": {"ignored"}, "source": {"attr.mrr > 50"}}); status != http.StatusSeeOther {
		t.Errorf("edit: %d %s", status, page)
	}
	for _, change := range []struct {
		name string
		want segments.Status
	}{{"pause", segments.Paused}, {"resume", segments.Active}, {"archive", segments.Archived}, {"restore", segments.Active}} {
		if status, page := post(one+"/"+change.name, nil); status != http.StatusSeeOther {
			t.Errorf("%s: %d %s", change.name, status, page)
		}
		s, err := o.db.Segments().Segment(t.Context(), o.Org.ID, "big")
		o.Must(err)
		if s.Status != change.want || s.Source != "attr.mrr > 50" || s.Name != "Bigger" {
			t.Errorf("after %s: %+v", change.name, s)
		}
	}
	for path, want := range map[string]int{"/restore": http.StatusConflict, "/melt": http.StatusNotFound} {
		if status, _ := post(one+path, nil); status != want {
			t.Errorf("%s: %d", path, status)
		}
	}
	if status, _ := frametest.Get(t, o.pages, pages.Path+"/"+core.NewID()); status != http.StatusNotFound {
		t.Errorf("unknown segment: %d", status)
	}
}

// TestRepositoriesOwnSegments checks that the pages change nothing that the repository
// defines.
func TestRepositoriesOwnSegments(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	o.seed()
	form := url.Values{"name": {"x"}, "key": {"x"}, "source": {"has attr.plan"}}
	refused := func(name, path string) {
		t.Helper()
		before, err := o.db.Segments().AllSegments(t.Context(), o.Org.ID)
		o.Must(err)
		status, page := frametest.Post(t, o.pages, o.Site.Visitor, path, form)
		after, err := o.db.Segments().AllSegments(t.Context(), o.Org.ID)
		o.Must(err)
		if status != http.StatusConflict || !strings.Contains(page, "repository") || text(before) != text(after) {
			t.Errorf("%s: %d %s", name, status, page)
		}
	}
	refused("edit of one from Git", o.path("of-git")+"/edit")
	refused("archive of one from Git", o.path("of-git")+"/archive")
	o.Site.Visitor.Org.GitConnected = true
	refused("create", pages.Path+"/new")
	refused("edit", o.path("of-git")+"/edit")
	refused("pause", o.path("of-git")+"/pause")
	if _, page := frametest.Get(t, o.pages, o.path("of-git")); strings.Contains(page, "Edit segment") || !strings.Contains(page, "read-only") {
		t.Errorf("page of a segment of the repository: %s", page)
	}
	if _, page := frametest.Get(t, o.pages, o.path("base")); !strings.Contains(page, "Edit segment") || strings.Contains(page, "read-only") {
		t.Errorf("page of a managed segment: %s", page)
	}
	if status, page := frametest.Post(t, o.pages, o.Site.Visitor, o.path("base")+"/pause", nil); status != http.StatusSeeOther {
		t.Errorf("pause a managed segment: %d %s", status, page)
	}
}

func TestPermissions(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	o.seed()
	o.Allow(members.MayViewLists)
	for _, path := range []string{pages.Path, o.path("base"), pages.Path + "/new", o.path("base") + "/edit", o.path("base") + "/pause"} {
		if status, _ := frametest.Get(t, o.pages, path); status != http.StatusForbidden {
			t.Errorf("%s: %d", path, status)
		}
	}
	state := func() []any {
		all, err := o.db.Segments().AllSegments(context.Background(), o.Org.ID)
		o.Must(err)
		return []any{text(all)}
	}
	o.CheckPermissions(o.pages, state,
		frametest.Form{
			Name: "create", Needs: members.MayManageSegments, Path: pages.Path + "/new", Done: http.StatusSeeOther,
			Form: url.Values{"name": {"x"}, "key": {"x"}, "source": {"has attr.plan"}},
		},
		frametest.Form{Name: "edit", Needs: members.MayManageSegments, Path: o.path("user") + "/edit", Done: http.StatusSeeOther, Form: url.Values{"name": {"y"}, "source": {"has attr.mrr"}}},
		frametest.Form{Name: "pause", Needs: members.MayManageSegments, Path: o.path("base") + "/pause", Done: http.StatusSeeOther},
	)
}
