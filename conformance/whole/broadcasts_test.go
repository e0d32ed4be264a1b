package whole

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/conformance/product"
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

// TestHostileTextsOfBroadcasts puts one hostile test text of each kind in each text member of
// a broadcast and in the name of its list. It checks the answers of every operation that
// shows them, and the question that an agent must confirm before a send.
func TestHostileTextsOfBroadcasts(t *testing.T) {
	t.Parallel()
	product.Once(t, func(t *testing.T, p *product.Product) {
		w := newWorld(t, p)
		for _, texts := range byKind(storable(t)) {
			w.checkHostileBroadcast(t, texts[0])
		}
	})
}

func (w world) checkHostileBroadcast(t *testing.T, h hostile) {
	t.Helper()
	id := w.broadcast(t, w.p.OrgID, h.text)
	stored, err := w.p.DB.Broadcasts().Broadcast(t.Context(), w.p.OrgID, id)
	w.must(t, err)
	list, err := w.p.DB.Lists().List(t.Context(), w.p.OrgID, stored.AudienceID)
	w.must(t, err)
	list.Name = h.text
	w.must(t, w.p.DB.Lists().UpdateList(t.Context(), w.p.OrgID, list))
	stored.Subject, stored.PreviewText, stored.Text, stored.Data = h.text, h.text, h.text, map[string]any{h.text: h.text}
	w.must(t, w.p.DB.Broadcasts().Update(t.Context(), w.p.OrgID, stored))
	shown, asked := map[string]bool{}, false
	for _, s := range subjects() {
		arguments := map[string]map[string]any{
			"broadcasts_get": {"id": id}, "broadcasts_list": {"limit": 1}, "broadcasts_get_status": {"broadcast_id": id},
			"broadcasts_preview": {"broadcast_id": id}, "broadcasts_send": {"broadcast_id": id, "acknowledge_no_topic": true},
		}[s.Name]
		if arguments == nil || s.surface == core.REST && s.Effect != core.Reads {
			continue
		}
		if s.surface == core.REST && arguments["broadcast_id"] != nil {
			arguments["id"] = id
			delete(arguments, "broadcast_id")
		}
		got := w.own.call(t, s, arguments)
		checkVoice(t, s.name()+" of "+h.String(), got, h)
		// a subject with braces may be no valid template, which the answer says
		if status, code := got.outcome(); status != http.StatusOK && code != "validation_failed" {
			t.Errorf("%s of %s: %d %.300s", s.name(), h, got.status, got.body)
		}
		asked = asked || got.output()["confirmation_required"] == true
		textsIn(got.object, shown)
	}
	if !shown[h.text] {
		t.Errorf("nothing shows the broadcast of %s as it is", h)
	}
	if isTemplate := strings.Contains(h.text, "{{"); !asked && !isTemplate {
		t.Errorf("no question is asked about the broadcast of %s", h)
	}
}
