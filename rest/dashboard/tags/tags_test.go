package tags_test

import (
	"context"
	"flag"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/broadcasts"
	"github.com/mailhelm/mailhelm/core/members"
	"github.com/mailhelm/mailhelm/core/tags"
	stored "github.com/mailhelm/mailhelm/core/templates"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame/frametest"
	pages "github.com/mailhelm/mailhelm/rest/dashboard/tags"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

var update = flag.Bool("update", false, "write the golden files again")

// hostile is a name as an attacker would write it.
const hostile = `<script>alert(1)</script>"'&`

// office is an organization with a managed template, on a database.
type office struct {
	*frametest.Office
	db    *storage.DB
	tags  *tags.Tags
	pages http.Handler
	// template is the id of the template with the slug news/weekly, and broadcast that of a
	// draft.
	template, broadcast string
}

const templateTags = frame.Path + "/templates/news%2Fweekly/tags"

func newOffice(t *testing.T) *office {
	t.Helper()
	db := storagetest.SQLite(t)
	o := &office{Office: frametest.NewOffice(t, frametest.DatabaseOf(db), frame.Area{Path: pages.Path, Name: "Tags"}, frame.Area{Path: frame.Path + "/broadcasts", Name: "Broadcasts", Needs: members.MayViewCampaigns}), db: db, template: core.NewID()}
	o.tags = tags.New(tags.Config{Store: db.Tags(), Clock: frametest.Now})
	o.Must(db.ManagedTemplates().InsertManaged(t.Context(), o.Org.ID, stored.ManagedTemplate{
		ID: o.template, Slug: "news/weekly", DeployedName: "acme--news--weekly", CreatedAt: frametest.Now(), Newest: stored.Version{Number: 1, Hash: "h", SavedAt: frametest.Now()},
	}))
	o.broadcast = core.NewID()
	o.Must(db.Broadcasts().Insert(t.Context(), o.Org.ID, broadcasts.Broadcast{ID: o.broadcast, Name: hostile, State: broadcasts.Draft, CreatedAt: frametest.Now(), UpdatedAt: frametest.Now(), Revision: 1}))
	room, err := pages.New(o.Frame, pages.Config{Tags: o.tags, Templates: stored.New(stored.Config{Store: db.Templates()}), Broadcasts: db.Broadcasts()})
	o.Must(err)
	o.pages = o.Open(room)
	return o
}

// seed stores two tags, of which the template has the first.
func (o *office) seed() (used, unused tags.Tag) {
	o.T.Helper()
	ctx := o.T.Context()
	used, err := o.tags.Create(ctx, o.Org.ID, tags.Wording{Name: hostile, Color: "#dc2626"})
	o.Must(err)
	unused, err = o.tags.Create(ctx, o.Org.ID, tags.Wording{Name: "Spring", Color: "#16a34a"})
	o.Must(err)
	o.Must(o.tags.SetOfTemplate(ctx, o.Org.ID, o.template, []string{used.ID}))
	o.Must(o.tags.SetOfBroadcast(ctx, o.Org.ID, o.broadcast, []string{used.ID, unused.ID}))
	return used, unused
}

// broadcastTags returns the path of the form with the tags of the broadcast.
func (o *office) broadcastTags() string { return frame.Path + "/broadcasts/" + o.broadcast + "/tags" }

// state returns the tags, and those of the template and of the broadcast.
func (o *office) state() []any {
	all, err := o.tags.All(context.Background(), o.Org.ID)
	o.Must(err)
	of, err := o.tags.OfTemplate(context.Background(), o.Org.ID, o.template)
	o.Must(err)
	ofBroadcast, err := o.tags.OfBroadcast(context.Background(), o.Org.ID, o.broadcast)
	o.Must(err)
	return []any{all, of, ofBroadcast}
}

func path(t tags.Tag, what string) string { return pages.Path + "/" + t.ID + "/" + what }

func TestGoldenPages(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	shown := func(name, path string, want int) {
		t.Helper()
		status, page := frametest.Get(t, o.pages, path)
		if status != want || strings.Contains(page, "<script>alert") {
			t.Errorf("%s: %d\n%s", path, status, page)
		}
		frametest.CompareGolden(t, name, page, *update)
	}
	shown("none", pages.Path, 200)
	shown("template_without_tags", templateTags, 200)
	used, _ := o.seed()
	shown("tags", pages.Path+"?done=created", 200)
	shown("new", pages.Path+"/new", 200)
	shown("edit", path(used, "edit"), 200)
	shown("delete", path(used, "delete"), 200)
	shown("template", templateTags, 200)
	shown("broadcast", o.broadcastTags(), 200)
	o.Allow(members.MayViewContent)
	shown("tags_of_viewer", pages.Path, 200)
	shown("forbidden", pages.Path+"/new", 403)
	for _, path := range []string{path(used, "edit"), path(used, "delete"), templateTags, o.broadcastTags()} {
		if status, _ := frametest.Get(t, o.pages, path); status != http.StatusForbidden {
			t.Errorf("%s: %d", path, status)
		}
	}
	o.Allow(members.MayManageContent)
	if status, _ := frametest.Get(t, o.pages, o.broadcastTags()); status != http.StatusForbidden {
		t.Errorf("the tags of a broadcast, without seeing broadcasts: %d", status)
	}
	o.Allow(members.MayManageContent, members.MayViewCampaigns)
	for _, path := range []string{pages.Path + "/none/edit", pages.Path + "/none/delete", frame.Path + "/templates/none/tags", frame.Path + "/broadcasts/none/tags"} {
		if status, _ := frametest.Get(t, o.pages, path); status != http.StatusNotFound {
			t.Errorf("%s: %d", path, status)
		}
	}
}

// TestForms sends each form, and reads what it has stored and recorded.
func TestForms(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	send := func(path string, form url.Values, want int) string {
		t.Helper()
		status, page := frametest.Post(t, o.pages, o.Site.Visitor, path, form)
		if status != want {
			t.Fatalf("%s: %d\n%s", path, status, page)
		}
		return page
	}
	send(pages.Path+"/new", url.Values{"name": {"News"}, "color": {"#DC2626"}}, 303)
	page := send(pages.Path+"/new", url.Values{"name": {"News"}, "color": {"#111111"}}, 409)
	if !strings.Contains(page, "has this name already") || !strings.Contains(page, `value="#111111"`) {
		t.Error(page)
	}
	if page = send(pages.Path+"/new", url.Values{"name": {" "}, "color": {"red"}}, 422); !strings.Contains(page, "The name must not be empty") {
		t.Error(page)
	}
	all, err := o.tags.All(t.Context(), o.Org.ID)
	o.Must(err)
	news := all[0]
	send(path(news, "edit"), url.Values{"name": {"Letters"}, "color": {"#dc2626"}}, 303)
	send(path(news, "edit"), url.Values{"name": {"Letters"}, "color": {"#dc2626"}}, 303)
	send(templateTags, url.Values{"tags": {news.ID, "unknown"}}, 303)
	send(templateTags, url.Values{"tags": {news.ID}}, 303)
	if of, err := o.tags.OfTemplate(t.Context(), o.Org.ID, o.template); len(of) != 1 || of[0].Name != "Letters" || err != nil {
		t.Errorf("%+v, %v", of, err)
	}
	send(templateTags, url.Values{}, 303)
	many := url.Values{}
	for range tags.MaxOfOne + 1 {
		many.Add("tags", core.NewID())
	}
	send(templateTags, many, 422)
	if page := send(o.broadcastTags(), many, 422); !strings.Contains(page, "The broadcast has 21 tags") {
		t.Error(page)
	}
	send(o.broadcastTags(), url.Values{"tags": {news.ID, "unknown"}}, 303)
	if of, err := o.tags.OfBroadcast(t.Context(), o.Org.ID, o.broadcast); len(of) != 1 || of[0].Name != "Letters" || err != nil {
		t.Errorf("%+v, %v", of, err)
	}
	send(path(news, "delete"), nil, 303)
	send(path(news, "delete"), nil, 404)

	events, err := o.db.Audit().FindAudit(t.Context(), o.Org.ID, access.AuditFilter{Limit: 20})
	o.Must(err)
	got := map[string]string{}
	for _, e := range events {
		if e.ActorID != o.User.ID {
			t.Errorf("%+v", e)
		}
		got[e.Action] += e.Detail
	}
	if diff := cmp.Diff(map[string]string{
		"tag.created": `{"color":"#dc2626","name":"News"}`, "tag.updated": `{"name":{"before":"News","after":"Letters"}}`, "tag.deleted": `{"name":"Letters"}`,
		"broadcast.tags_updated": `{"added":["Letters"],"removed":[]}`,
		"template.tags_updated":  `{"added":[],"removed":["Letters"],"slug":"news/weekly"}{"added":["Letters"],"removed":[],"slug":"news/weekly"}`,
	}, got); diff != "" {
		t.Error(diff)
	}
}

// TestPermissions checks that either of two permissions is enough to change tags, and that
// no other is.
func TestPermissions(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	for i, p := range []members.Permission{members.MayManageContent, members.MayManageCampaigns} {
		used, unused := o.seed()
		name := string(rune('a' + i))
		o.CheckPermissions(o.pages, o.state,
			frametest.Form{Name: "create", Needs: p, Path: pages.Path + "/new", Done: http.StatusSeeOther, Form: url.Values{"name": {name}, "color": {"#000000"}}},
			frametest.Form{Name: "edit", Needs: p, Path: path(used, "edit"), Done: http.StatusSeeOther, Form: url.Values{"name": {name + name}, "color": {"#000000"}}},
			frametest.Form{Name: "set", Needs: p, Path: templateTags, Done: http.StatusSeeOther, Form: url.Values{"tags": {unused.ID}}},
			frametest.Form{Name: "set of a broadcast", Needs: p, Also: []members.Permission{members.MayViewCampaigns}, Path: o.broadcastTags(), Done: http.StatusSeeOther, Form: url.Values{"tags": {used.ID}}},
			frametest.Form{Name: "delete", Needs: p, Path: path(unused, "delete"), Done: http.StatusSeeOther},
			frametest.Form{Name: "delete", Needs: p, Path: path(used, "delete"), Done: http.StatusSeeOther},
		)
	}
}

// TestTagsOfARepository checks that the tags of a managed template cannot be set if a
// repository defines them.
func TestTagsOfARepository(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	o.seed()
	o.Site.Visitor.Org.GitConnected = true
	if status, page := frametest.Get(t, o.pages, templateTags); status != http.StatusConflict || !strings.Contains(page, "repository") {
		t.Errorf("%d %s", status, page)
	}
	before := o.state()
	if status, _ := frametest.Post(t, o.pages, o.Site.Visitor, templateTags, nil); status != http.StatusConflict || !cmp.Equal(before, o.state()) {
		t.Errorf("sent: %d", status)
	}
}
