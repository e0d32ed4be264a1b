package whole

import (
	"fmt"
	"testing"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/broadcasts"
	"github.com/mailhelm/mailhelm/core/lists"
)

// Each variable is one way to name a broadcast or the sender of one. Its first function
// creates an object of the other organization and returns the name. Its second function
// returns a name that no organization can use.
var (
	broadcastID = kind{"broadcast id", func(t *testing.T, w world, n int) string {
		return w.broadcast(t, w.p.Other.OrgID, fmt.Sprintf("Foreign %03d", n))
	}, func(int) string { return core.NewID() }}
	senderAddress = kind{"sender", func(t *testing.T, w world, n int) string {
		return "news@" + identityName.foreign(t, w, n)
	}, func(n int) string { return "news@" + identityName.absent(n) }}
)

// ownList is a list of the caller's organization.
const ownList = "newsletter"

// The arguments that calls need beside the tested one. tested has an address for a test
// send. inline has the content of a broadcast, composed also its audience.
var (
	tested          = map[string]any{"recipients": []string{"tested@example.org"}}
	inline          = map[string]any{"html": "<p>Hello</p>", "subject": "Hello"}
	inlineToSegment = map[string]any{"html": "<p>Hello</p>", "subject": "Hello", "audience_kind": "segment"}
	composed        = map[string]any{"html": "<p>Hello</p>", "subject": "Hello", "audience_id": ownList}
)

// broadcast stores a draft to a new list without members, and returns its id.
func (w world) broadcast(t *testing.T, orgID, name string) string {
	t.Helper()
	now, id := w.p.Clock.Now(), core.NewID()
	l := lists.List{ID: core.NewID(), Key: "to-" + id, Name: "To", Source: "api", Origin: core.ManagedOrigin, Status: "active", CreatedAt: now, UpdatedAt: now}
	w.must(t, w.p.DB.Lists().InsertList(t.Context(), orgID, l))
	w.must(t, w.p.DB.Broadcasts().Insert(t.Context(), orgID, broadcasts.Broadcast{
		ID: id, Name: name, HTML: "<p>Hello</p>", Subject: "Hello", Target: broadcasts.Target{AudienceKind: broadcasts.List, AudienceID: l.ID},
		State: broadcasts.Draft, CreatedAt: now, UpdatedAt: now, Revision: 1,
	}))
	return id
}

// template writes a template of the caller's organization, and returns its slug.
func (w world) template(t *testing.T) string {
	t.Helper()
	slug := "own-" + core.NewID()
	if made := w.own.callTool(t, "templates_author", map[string]any{"slug": slug, "subject": "Hello", "html": "<p>Hello</p>"}); made.output()["status"] != "saved" {
		t.Fatalf("no template: %d %s", made.status, made.body)
	}
	return slug
}
