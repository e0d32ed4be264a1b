package whole

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/conformance/product"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/attributes"
	"github.com/mailhelm/mailhelm/core/audience"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/core/sending/simulator"
)

// How much of a text fits where names are short, in characters.
const (
	longestName  = 255
	longestTopic = 128
)

func (h hostile) asLongAs(limit int) string {
	runes := []rune(h.text)
	return string(runes[:min(len(runes), limit)])
}

// TestStoredTextComesBackAsText: every text of the corpus in every field that
// outsiders write, read through every tool and every route.
func TestStoredTextComesBackAsText(t *testing.T) {
	t.Parallel()
	product.Each(t, func(t *testing.T, p *product.Product) {
		w := newWorld(t, p)
		texts := storable(t)
		for i, h := range texts {
			w.storeContact(t, i, h)
			w.readContact(t, i, h)
		}
		w.storeDefinitions(t, texts)
		for i, h := range texts {
			w.throughWrites(t, i, h)
		}
		w.readDefinitions(t, texts)
		w.checkConfirmations(t, texts)
		w.readTopics(t, texts)
		for _, h := range corpus(t) {
			if h.refused {
				w.checkRefused(t, h)
			}
		}
	})
}

func address(i int) string { return fmt.Sprintf("hostile.%03d@example.net", i) }

func (w world) storeContact(t *testing.T, i int, h hostile) {
	t.Helper()
	arguments := map[string]any{"email": address(i), "attributes": map[string]any{"first_name": h.text}}
	if n := len([]rune(h.text)); n <= longestName {
		arguments["external_id"] = h.text
	}
	got := w.own.callTool(t, "contacts_upsert", arguments)
	checkVoice(t, h.String(), got, h)
	if got.said()["result"] != "created" {
		t.Errorf("%s is not stored: %d %s", h, got.status, got.body)
	}
}

func (w world) readContact(t *testing.T, i int, h hostile) {
	t.Helper()
	byAddress := map[string]any{"email": address(i)}
	for _, s := range subjects() {
		if s.Name != "contacts_lookup" {
			continue
		}
		got := w.own.call(t, s, byAddress)
		h.checkContact(t, s.name()+" by address", got)
		if s.surface == core.Agent && len([]rune(h.text)) <= longestName {
			h.checkContact(t, s.name()+" by external id", w.own.call(t, s, map[string]any{"external_id": h.text}))
		}
	}
	filtered := map[string]any{"attribute_key": "first_name", "attribute_value": h.text}
	for _, s := range subjects() {
		if s.Name != "contacts_list" {
			continue
		}
		got := w.own.call(t, s, filtered)
		checkVoice(t, s.name()+" with "+h.String(), got, h)
		if !strings.Contains(got.body, address(i)) {
			t.Errorf("%s does not find %s: %d %.300s", s.name(), h, got.status, got.body)
		}
	}
}

// checkContact: the contact has exactly the text, and nobody speaks it.
func (h hostile) checkContact(t *testing.T, what string, got answer) {
	t.Helper()
	checkVoice(t, what+" of "+h.String(), got, h)
	contact, ok := got.said()["contact"].(map[string]any)
	if !ok {
		contact = got.said()
	}
	attributes, _ := contact["attributes"].(map[string]any)
	if back, _ := attributes["first_name"].(string); back != h.text && !(got.result() != nil && h.clippedTo(back)) {
		t.Errorf("%s: %s came back as %.200q", what, h, back)
	}
	if id := contact["external_id"]; id != nil && id != h.text {
		t.Errorf("%s: the external id %s came back as %.200q", what, h, id)
	}
}

// clippedTo reports whether a text is the beginning of this one: a tool's result is
// bounded, and shortens a huge text where it would not fit.
func (h hostile) clippedTo(text string) bool {
	beginning, clipped := strings.CutSuffix(text, "…")
	return h.kind == "huge" && clipped && strings.HasPrefix(h.text, beginning)
}

// checkRefused: what no database holds is refused on both surfaces.
func (w world) checkRefused(t *testing.T, h hostile) {
	t.Helper()
	contact := `{"email":"refused@example.net","attributes":{"first_name":` + h.literal + `}}`
	tool := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"contacts_upsert","arguments":` + contact + `}}`
	for what, got := range map[string]answer{
		"tool":  send(t, w.p, http.MethodPost, w.p.MCPURL+"/mcp", w.own.agent, tool),
		"route": send(t, w.p, http.MethodPost, w.p.BaseURL+"/v1/contacts", w.own.rest, contact),
	} {
		checkVoice(t, what+" with "+h.String(), got)
		if status, _ := got.outcome(); status < 400 && got.object["error"] == nil || status >= 500 {
			t.Errorf("%s took %s: %d %s", what, h, got.status, got.body)
		}
	}
}

func keyOfList(i int, h hostile) string { return fmt.Sprintf("%s-%03d", h.asLongAs(longestName), i) }

func nameOfAttribute(i int, h hostile) string { return keyOfList(i, h) }

// storeDefinitions puts the texts where no call of the product writes them yet:
// keys, names and descriptions of lists, with a contact on each, and names, values
// and descriptions of attributes. Topics, and what an account calls its parts, have
// tests of their own.
func (w world) storeDefinitions(t *testing.T, texts []hostile) {
	t.Helper()
	now, store := w.p.Clock.Now(), w.p.DB.Audience()
	for i, h := range texts {
		list := audience.List{
			ID: core.NewID(), Key: keyOfList(i, h), Name: h.text, Description: h.text, Source: "api",
			Origin: core.GitOrigin, SourcePath: h.text, Status: "active", CreatedAt: now, UpdatedAt: now,
		}
		w.must(t, store.InsertList(t.Context(), w.p.OrgID, list))
		contact, err := store.ContactByEmail(t.Context(), w.p.OrgID, address(i))
		w.must(t, err)
		_, _, err = store.ReplaceMembership(t.Context(), w.p.OrgID, contact.ID, []string{list.ID}, now)
		w.must(t, err)
		w.must(t, w.p.DB.Attributes().InsertAttribute(t.Context(), w.p.OrgID, attributes.Attribute{
			ID: core.NewID(), Name: nameOfAttribute(i, h), Type: attributes.Number, Description: h.text,
			Origin: core.ManagedOrigin, CreatedAt: now, UpdatedAt: now,
		}))
		w.must(t, w.p.DB.Attributes().InsertAttribute(t.Context(), w.p.OrgID, attributes.Attribute{
			ID: core.NewID(), Name: fmt.Sprintf("hostile_%03d", i), Type: attributes.Enum, EnumValues: []string{h.text, "other"},
			Description: h.text, Origin: core.ManagedOrigin, CreatedAt: now, UpdatedAt: now,
		}))
	}
}

// throughWrites reads a contact on a list of that key and name through everything
// that takes its address and answers with it, archiving last.
func (w world) throughWrites(t *testing.T, i int, h hostile) {
	t.Helper()
	shown := map[string]bool{}
	for _, s := range subjects() {
		members := s.input.Members()
		if !slices.Contains(members, "email") || s.Effect == core.Destroys {
			continue
		}
		arguments := map[string]any{"email": address(i)}
		if slices.Contains(members, "attributes") {
			arguments["attributes"] = map[string]any{"first_name": h.text, nameOfAttribute(i, h): i}
		}
		if strings.Contains(s.route.Path, "{external_id}") {
			arguments["external_id"] = fmt.Sprintf("long-%03d", i)
			if len([]rune(h.text)) <= longestName {
				arguments["external_id"] = h.text
			}
		}
		got := w.own.call(t, s, arguments)
		checkVoice(t, s.name()+" of the contact of "+h.String(), got, h)
		if status, code := got.outcome(); status >= http.StatusBadRequest && code != "conflict" && s.Name != "suppressions_get" {
			t.Errorf("%s of the contact of %s: %d %.300s", s.name(), h, got.status, got.body)
		}
		textsIn(got.object, shown)
	}
	if !shown[h.text] || !shown[keyOfList(i, h)] {
		t.Errorf("nothing shows the list of %s as it is", h)
	}
	for _, s := range subjects() {
		if s.Name == "contacts_archive" && (s.surface == core.REST) == (i%2 == 0) {
			checkVoice(t, s.name()+" of the contact of "+h.String(), w.own.call(t, s, map[string]any{"email": address(i)}), h)
		}
	}
}

// storeTopics gives topics these texts as names to show. There is room for a
// contact list's worth at a time.
func (w world) storeTopics(t *testing.T, texts []hostile) {
	t.Helper()
	var topics []sending.Topic
	for i, h := range texts {
		text := h.asLongAs(longestTopic)
		topics = append(topics, sending.Topic{Name: fmt.Sprintf("hostile-%03d", i), DisplayName: text, Description: text, Default: sending.OptIn})
	}
	w.must(t, w.p.Simulator.Seed(t.Context(), w.p.OrgID, simulator.Setup{List: &sending.ContactList{Topics: topics}}))
	w.p.Clock.Advance(61 * time.Second) // topics are remembered for a minute
}

// readDefinitions reads whatever needs no name of a thing, whole, and then asks
// for what is refused with a word about the definitions.
func (w world) readDefinitions(t *testing.T, texts []hostile) {
	t.Helper()
	for _, s := range subjects() {
		if s.Effect != core.Reads || strings.Contains(s.route.Path, "{") {
			continue
		}
		shown := map[string]bool{}
		w.readWhole(t, s, texts, shown)
		definitions := s.Name == "lists_list" || s.Name == "attributes_list"
		for _, h := range texts {
			if definitions && s.surface == core.REST && !shown[h.text] {
				t.Errorf("%s does not show %s as it is", s.name(), h)
			}
		}
	}
	for _, s := range subjects() {
		if s.Name != "contacts_upsert" && s.Name != "contacts_update" {
			continue
		}
		for _, wrong := range []map[string]any{
			{"topic_preferences": map[string]any{"no topic": "OPT_IN"}},
			{"topic_preferences": map[string]any{"no topic": "OPT_IN", "none either": "OPT_IN"}},
		} {
			wrong["email"] = address(0)
			checkVoice(t, s.name()+" with no topic", w.own.call(t, s, wrong), texts...)
		}
		for i, h := range texts {
			wrong := map[string]any{"email": w.p.Contact, "attributes": map[string]any{fmt.Sprintf("hostile_%03d", i): "not one of them"}}
			checkVoice(t, s.name()+" with a value that is none of "+h.String(), w.own.call(t, s, wrong), h)
			wrong["attributes"] = map[string]any{nameOfAttribute(i, h): "no number"}
			got := w.own.call(t, s, wrong)
			checkVoice(t, s.name()+" with no number for "+h.String(), got, h)
			if _, code := got.outcome(); code != "attribute_validation_failed" {
				t.Errorf("%s with no number for %s: %d %.300s", s.name(), h, got.status, got.body)
			}
		}
	}
}

// readTopics reads what shows topics, a batch at a time.
func (w world) readTopics(t *testing.T, texts []hostile) {
	t.Helper()
	for batch := range slices.Chunk(texts, 40) {
		w.storeTopics(t, batch)
		w.own = callerOf(t, w.p, w.p.Live) // each batch takes a minute of a token's hour
		shown := map[string]bool{}
		for _, s := range subjects() {
			if s.Name == "topics_list" || s.Name == "audience_get_schema" {
				w.readWhole(t, s, batch, shown)
			}
		}
		for _, h := range batch {
			if !shown[h.asLongAs(longestTopic)] {
				t.Errorf("no topic shows %s as it is", h)
			}
		}
	}
}

// readWhole reads all pages of an operation and collects the texts in them.
func (w world) readWhole(t *testing.T, s subject, texts []hostile, into map[string]bool) {
	t.Helper()
	arguments := map[string]any{}
	for range 40 {
		got := w.own.call(t, s, arguments)
		if status, _ := got.outcome(); status != http.StatusOK && status != http.StatusUnprocessableEntity {
			t.Fatalf("%s: %d %.300s", s.name(), got.status, got.body)
		}
		checkVoice(t, s.name(), got, texts...)
		textsIn(got.object, into)
		pagination, _ := got.said()["pagination"].(map[string]any)
		cursor, more := pagination["next_cursor"].(string)
		if !more {
			return
		}
		arguments["cursor"] = cursor
	}
	t.Fatalf("%s: the pages do not end", s.name())
}

func textsIn(value any, into map[string]bool) {
	switch v := value.(type) {
	case string:
		into[v] = true
	case []any:
		for _, item := range v {
			textsIn(item, into)
		}
	case map[string]any:
		for _, member := range v {
			textsIn(member, into)
		}
	}
}
