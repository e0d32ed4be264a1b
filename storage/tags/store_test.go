package tags_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/tags"
	"github.com/mailhelm/mailhelm/core/templates"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

var start = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// office is the tags of one organization.
type office struct {
	tags.Store
	org string
}

// insert stores a tag, created number hours after the start.
func (o office) insert(t *testing.T, number int, name string) tags.Tag {
	t.Helper()
	tag := tags.Tag{ID: core.NewID(), Name: name, Color: "#2563eb", CreatedAt: start.Add(time.Duration(number) * time.Hour)}
	if err := o.InsertTag(t.Context(), o.org, tag); err != nil {
		t.Fatal(err)
	}
	return tag
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// template stores a managed template and returns its id.
func template(t *testing.T, db *storage.DB, org, slug string) string {
	t.Helper()
	id := core.NewID()
	must(t, db.ManagedTemplates().InsertManaged(t.Context(), org, templates.ManagedTemplate{
		ID: id, Slug: slug, DeployedName: "acme--" + slug, CreatedAt: start, Newest: templates.Version{Number: 1, Hash: slug, SavedAt: start},
	}))
	return id
}

// TestTagsOfObjects sets the tags of templates and broadcasts, filters templates by them,
// and deletes a tag that is in use.
func TestTagsOfObjects(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		ctx := t.Context()
		o := office{db.Tags(), core.NewID()}
		news, spring := o.insert(t, 1, "news"), o.insert(t, 2, "Spring 🌱")
		welcome, offer, plain := template(t, db, o.org, "welcome"), template(t, db, o.org, "offer"), template(t, db, o.org, "plain")
		broadcast := core.NewID()
		must(t, o.SetTemplateTags(ctx, o.org, welcome, []string{news.ID, news.ID, "unknown"}))
		must(t, o.SetTemplateTags(ctx, o.org, offer, []string{news.ID}))
		must(t, o.SetTemplateTags(ctx, o.org, offer, []string{spring.ID, news.ID}))
		must(t, o.SetBroadcastTags(ctx, o.org, broadcast, []string{news.ID}))
		must(t, o.SetBroadcastTags(ctx, o.org, broadcast, []string{spring.ID}))

		all, err := o.Tags(ctx, o.org, nil, 10)
		must(t, err)
		news.TemplateCount, spring.TemplateCount, spring.BroadcastCount = 2, 1, 1
		if diff := cmp.Diff([]tags.Tag{spring, news}, all); diff != "" {
			t.Error(diff)
		}
		next, err := o.Tags(ctx, o.org, &core.After{At: spring.CreatedAt, ID: spring.ID}, 10)
		if diff := cmp.Diff([]tags.Tag{news}, next); diff != "" || err != nil {
			t.Error(err, diff)
		}
		ref := func(t tags.Tag) tags.Ref { return tags.Ref{ID: t.ID, Name: t.Name, Color: t.Color} }
		of, err := o.TagsOfTemplates(ctx, o.org, []string{welcome, offer, plain})
		if diff := cmp.Diff(map[string][]tags.Ref{welcome: {ref(news)}, offer: {ref(spring), ref(news)}}, of); diff != "" || err != nil {
			t.Error(err, diff)
		}
		of, err = o.TagsOfBroadcasts(ctx, o.org, []string{broadcast, welcome})
		if diff := cmp.Diff(map[string][]tags.Ref{broadcast: {ref(spring)}}, of); diff != "" || err != nil {
			t.Error(err, diff)
		}
		wantSlugs(t, db, o.org, templates.Filter{Tag: "news"}, "offer", "welcome")
		wantSlugs(t, db, o.org, templates.Filter{Tag: "Spring 🌱"}, "offer")
		wantSlugs(t, db, o.org, templates.Filter{Tag: "news", Query: "wel"}, "welcome")
		wantSlugs(t, db, o.org, templates.Filter{Tag: "News"})
		wantSlugs(t, db, core.NewID(), templates.Filter{Tag: "news"})
		wantSlugs(t, db, o.org, templates.Filter{Untagged: true}, "plain")

		must(t, o.DeleteTag(ctx, o.org, spring.ID))
		of, err = o.TagsOfBroadcasts(ctx, o.org, []string{broadcast})
		if len(of) != 0 || err != nil {
			t.Errorf("a deleted tag is on %v, %v", of, err)
		}
		must(t, o.SetTemplateTags(ctx, o.org, welcome, nil))
		wantSlugs(t, db, o.org, templates.Filter{Untagged: true}, "plain", "welcome")
		if err := o.DeleteTag(ctx, o.org, spring.ID); !core.IsNotFound(err) {
			t.Errorf("deleted twice: %v", err)
		}
	})
}

// wantSlugs checks which templates a filter finds and counts, in any order.
func wantSlugs(t *testing.T, db *storage.DB, org string, f templates.Filter, want ...string) {
	t.Helper()
	f.Limit = 10
	found, err := db.Templates().Templates(t.Context(), org, f)
	must(t, err)
	got := map[string]bool{}
	for _, one := range found {
		got[one.Slug] = true
	}
	n, err := db.Templates().CountTemplates(t.Context(), org, f)
	if err != nil || n != len(want) || len(got) != len(want) {
		t.Errorf("%+v: found %v, counted %d, %v", f, got, n, err)
	}
	for _, slug := range want {
		if !got[slug] {
			t.Errorf("%+v finds %v", f, got)
		}
	}
}

func TestNamesOfTagsAreUnique(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		ctx := t.Context()
		o := office{db.Tags(), core.NewID()}
		news := o.insert(t, 1, "news")
		again := tags.Tag{ID: core.NewID(), Name: "news", Color: "#000000", CreatedAt: start}
		if err := o.InsertTag(ctx, o.org, again); !core.IsConflict(err) {
			t.Errorf("a second tag with the name: %v", err)
		}
		must(t, o.InsertTag(ctx, core.NewID(), again))
		other := o.insert(t, 2, "other")
		other.Name = "news"
		if err := o.UpdateTag(ctx, o.org, other); !core.IsConflict(err) {
			t.Errorf("renamed to a taken name: %v", err)
		}
		other.ID = core.NewID()
		if err := o.UpdateTag(ctx, o.org, other); !core.IsNotFound(err) {
			t.Errorf("renamed an unknown tag: %v", err)
		}
		news.Name, news.Color = "News", "#aabbcc"
		must(t, o.UpdateTag(ctx, o.org, news))
		must(t, o.UpdateTag(ctx, o.org, news))
		got, err := o.Tag(ctx, o.org, news.ID)
		if diff := cmp.Diff(news, got); diff != "" || err != nil {
			t.Error(err, diff)
		}
		if n, err := o.CountTags(ctx, o.org); n != 2 || err != nil {
			t.Errorf("counted %d, %v", n, err)
		}
	})
}
