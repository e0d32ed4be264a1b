package whole

import (
	"fmt"
	"iter"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/conformance/product"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/attributes"
	"github.com/mailhelm/mailhelm/core/lists"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/core/sending/simulator"
	"github.com/mailhelm/mailhelm/storage/engine"
	"github.com/mailhelm/mailhelm/storage/engine/enginetest"
)

// The maximum length of the texts that the tests use as names: longestName in general,
// longestTopic for a topic. Both are in characters.
const (
	longestName  = 255
	longestTopic = 128
)

func (h hostile) truncatedTo(limit int) string {
	runes := []rune(h.text)
	return string(runes[:min(len(runes), limit)])
}

const (
	// textsPerContact is the number of texts that are stored in one contact, each in its own
	// attribute.
	textsPerContact = 6
	// textsPerOrganization is the number of texts that are stored in one organization. It
	// limits the number of the organization's attributes, because every write of a contact
	// reads all of them.
	textsPerOrganization = 24
)

// TestStoredTextComesBackAsText stores each hostile test text in contacts, lists, attribute
// definitions and topics. It reads the texts with tools and routes, and checks that they
// are returned as text. Answers to writes, refusals and confirmations get their text from
// the same SQL statements as the reads. They are therefore checked on SQLite only, unless
// MAILHELM_TEST_FULL is 1.
func TestStoredTextComesBackAsText(t *testing.T) {
	t.Parallel()
	product.Each(t, func(t *testing.T, p *product.Product) {
		w := newWorld(t, p)
		texts := numbered(storable(t))
		withWrites := p.DB.Dialect() == engine.SQLite || enginetest.Full()
		for some := range slices.Chunk(texts, textsPerOrganization) {
			of := w.inOrganization(t, some)
			for batch := range batches(some) {
				of.storeContacts(t, batch)
				of.readContact(t, batch)
				of.storeDefinitions(t, batch)
			}
			if withWrites {
				for batch := range batches(some) {
					of.writeTexts(t, batch)
				}
			}
			of.readDefinitions(t, some)
			if withWrites {
				of.refuseWrites(t, some)
				of.checkConfirmations(t, some)
			}
		}
		w.readTopics(t, texts)
		for _, h := range corpus(t) {
			if h.refused {
				w.checkRefused(t, h)
			}
		}
	})
}

// numbered sets the number of each text to its index, so that the objects of two texts have
// different names.
func numbered(texts []hostile) []hostile {
	for i := range texts {
		texts[i].number = i
	}
	return texts
}

// batches splits texts into batches that are stored in one contact each. A huge text has a
// batch of its own.
func batches(texts []hostile) iter.Seq[[]hostile] {
	return func(yield func([]hostile) bool) {
		for len(texts) > 0 {
			n := 1
			for n < min(len(texts), textsPerContact) && texts[0].kind != "huge" && texts[n].kind != "huge" {
				n++
			}
			if !yield(texts[:n]) {
				return
			}
			texts = texts[n:]
		}
	}
}

// inOrganization creates an organization with a contact list, and with the attributes in
// which the texts are stored. It returns a copy of w whose caller belongs to that
// organization.
func (w world) inOrganization(t *testing.T, texts []hostile) world {
	t.Helper()
	org := core.Org{ID: core.NewID(), Name: "Batch", Slug: fmt.Sprintf("batch-%03d", texts[0].number), Tier: "team", RetentionDays: 90}
	w.must(t, w.p.DB.Orgs().InsertOrg(t.Context(), org))
	of := *w.p
	of.OrgID, of.Contact = org.ID, batchAddress(texts)
	w.p = &of
	w.own = callerOf(t, w.p, credentialsWith(t, w.p, org.ID, core.Live, core.AllScopes()))
	w.follow(t, org.ID, simulator.Setup{List: &sending.ContactList{Name: "batch"}})
	now := w.p.Clock.Now()
	for place := range textsPerContact {
		w.must(t, w.p.DB.Attributes().InsertAttribute(t.Context(), org.ID, attributes.Attribute{
			ID: core.NewID(), Name: textAttribute(place), Type: attributes.String, Origin: core.ManagedOrigin, CreatedAt: now, UpdatedAt: now,
		}))
	}
	return w
}

// textAttribute returns the name of the attribute that stores the text with the index place
// in a batch.
func textAttribute(place int) string { return fmt.Sprintf("text_%d", place) }

func address(i int) string { return fmt.Sprintf("hostile.%03d@example.net", i) }

// batchAddress returns the address of the contact in which a batch of texts is stored.
func batchAddress(batch []hostile) string {
	return fmt.Sprintf("batch.%03d@example.net", batch[0].number)
}

// fitsExternalID reports whether the text is short enough for an external id.
func (h hostile) fitsExternalID() bool { return len([]rune(h.text)) <= longestName }

// storeContacts stores one contact with all texts of the batch as attributes. For each text
// it also stores a contact. This contact has the text as its external id, if the text is
// short enough.
func (w world) storeContacts(t *testing.T, batch []hostile) {
	t.Helper()
	held := map[string]any{}
	for place, h := range batch {
		held[textAttribute(place)] = h.text
		if h.fitsExternalID() {
			w.storeContact(t, map[string]any{"email": address(h.number), "external_id": h.text}, h)
		} else {
			w.storeContact(t, map[string]any{"email": address(h.number)}, h)
		}
	}
	w.storeContact(t, map[string]any{"email": batchAddress(batch), "attributes": held}, batch...)
}

func (w world) storeContact(t *testing.T, arguments map[string]any, texts ...hostile) {
	t.Helper()
	got := w.own.callTool(t, "contacts_upsert", arguments)
	checkVoice(t, fmt.Sprint(texts), got, texts...)
	if got.output()["result"] != "created" {
		t.Errorf("%v is not stored: %d %s", texts, got.status, got.body)
	}
}

func (w world) readContact(t *testing.T, batch []hostile) {
	t.Helper()
	for _, s := range subjects() {
		if s.Name == "contacts_lookup" {
			checkContact(t, s.name()+" by address", w.own.call(t, s, map[string]any{"email": batchAddress(batch)}), batch)
		}
		for place, h := range batch {
			if s.Name == "contacts_lookup" && s.surface == core.Agent && h.fitsExternalID() {
				h.checkExternalID(t, s.name()+" by external id", w.own.call(t, s, map[string]any{"external_id": h.text}))
			}
			if s.Name == "contacts_list" {
				got := w.own.call(t, s, map[string]any{"attribute_key": textAttribute(place), "attribute_value": h.text})
				checkVoice(t, s.name()+" with "+h.String(), got, batch...)
				if !strings.Contains(got.body, batchAddress(batch)) {
					t.Errorf("%s does not find %s: %d %.300s", s.name(), h, got.status, got.body)
				}
			}
		}
	}
}

// contactIn returns the contact in an answer, which is the member contact or the whole
// answer.
func contactIn(got answer) map[string]any {
	if contact, ok := got.output()["contact"].(map[string]any); ok {
		return contact
	}
	return got.output()
}

// checkContact checks that the contact in an answer has exactly the texts of the batch, and
// that the product's own sentences quote them.
func checkContact(t *testing.T, what string, got answer, batch []hostile) {
	t.Helper()
	checkVoice(t, fmt.Sprint(what, " of ", batch), got, batch...)
	held, _ := contactIn(got)["attributes"].(map[string]any)
	for place, h := range batch {
		if back, _ := held[textAttribute(place)].(string); back != h.text && !(got.result() != nil && h.clippedTo(back)) {
			t.Errorf("%s: %s came back as %.200q", what, h, back)
		}
	}
}

func (h hostile) checkExternalID(t *testing.T, what string, got answer) {
	t.Helper()
	checkVoice(t, what+" of "+h.String(), got, h)
	if id := contactIn(got)["external_id"]; id != h.text {
		t.Errorf("%s: the external id %s came back as %.200q: %.300s", what, h, id, got.body)
	}
}

// clippedTo reports whether h is a huge text and text is its beginning, followed by an
// ellipsis. Results of tools are limited in size and shorten huge texts.
func (h hostile) clippedTo(text string) bool {
	beginning, clipped := strings.CutSuffix(text, "…")
	return h.kind == "huge" && clipped && strings.HasPrefix(h.text, beginning)
}

// checkRefused checks that the tool and the route refuse a text that the databases cannot
// store.
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

func keyOfList(i int, h hostile) string { return fmt.Sprintf("%s-%03d", h.truncatedTo(longestName), i) }

func nameOfAttribute(h hostile) string { return keyOfList(h.number, h) }

func nameOfEnum(h hostile) string { return fmt.Sprintf("hostile_%03d", h.number) }

// storeDefinitions stores the texts directly in the database as keys, names and
// descriptions of lists, and as names, values and descriptions of attributes. It puts the
// contact of the batch on each list. Topics, channels and identities have other tests.
func (w world) storeDefinitions(t *testing.T, batch []hostile) {
	t.Helper()
	now, store := w.p.Clock.Now(), w.p.DB.Contacts()
	var on []string
	for _, h := range batch {
		list := lists.List{
			ID: core.NewID(), Key: keyOfList(h.number, h), Name: h.text, Description: h.text, Source: "api",
			Origin: core.GitOrigin, SourcePath: h.text, Status: "active", CreatedAt: now, UpdatedAt: now,
		}
		on = append(on, list.ID)
		w.must(t, w.p.DB.Lists().InsertList(t.Context(), w.p.OrgID, list))
		w.must(t, w.p.DB.Attributes().InsertAttribute(t.Context(), w.p.OrgID, attributes.Attribute{
			ID: core.NewID(), Name: nameOfAttribute(h), Type: attributes.Number, Description: h.text,
			Origin: core.ManagedOrigin, CreatedAt: now, UpdatedAt: now,
		}))
		w.must(t, w.p.DB.Attributes().InsertAttribute(t.Context(), w.p.OrgID, attributes.Attribute{
			ID: core.NewID(), Name: nameOfEnum(h), Type: attributes.Enum, EnumValues: []string{h.text, "other"},
			Description: h.text, Origin: core.ManagedOrigin, CreatedAt: now, UpdatedAt: now,
		}))
	}
	contact, err := store.ContactByEmail(t.Context(), w.p.OrgID, batchAddress(batch))
	w.must(t, err)
	_, _, err = w.p.DB.ListMembers().ReplaceMembership(t.Context(), w.p.OrgID, contact.ID, on, now)
	w.must(t, err)
}

// writeTexts calls the operations that have an argument email. Operations without an
// external id in their path are called once, for the contact of the batch. Operations with
// an external id are called once for each text, with the text as the external id if the
// text is allowed there. Operations that archive are called last. verified_senders_create is
// not called: it reads and writes no contact, and refuses the sixth call of an hour.
func (w world) writeTexts(t *testing.T, batch []hostile) {
	t.Helper()
	shown, values := map[string]bool{}, map[string]any{}
	for place, h := range batch {
		values[textAttribute(place)], values[nameOfAttribute(h)] = h.text, h.number
	}
	for _, s := range subjects() {
		members := s.input.Members()
		if !slices.Contains(members, "email") || s.Effect == core.Destroys || s.Name == "verified_senders_create" {
			continue
		}
		arguments := map[string]any{"email": batchAddress(batch)}
		if slices.Contains(members, "attributes") {
			arguments["attributes"] = values
		}
		if !strings.Contains(s.route.Path, "{external_id}") {
			w.writeThrough(t, s, arguments, batch, shown)
			continue
		}
		for place, h := range batch {
			arguments := map[string]any{"email": address(h.number), "external_id": fmt.Sprintf("long-%03d", h.number)}
			if slices.Contains(members, "attributes") {
				arguments["attributes"] = map[string]any{textAttribute(place): h.text, nameOfAttribute(h): h.number}
			}
			if h.fitsExternalID() {
				arguments["external_id"] = h.text
			}
			w.writeThrough(t, s, arguments, batch[place:place+1], shown)
		}
	}
	for _, h := range batch {
		if !shown[h.text] || !shown[keyOfList(h.number, h)] {
			t.Errorf("no answer shows the list of %s as it is", h)
		}
		for _, s := range subjects() {
			if s.Name == "contacts_archive" && (s.surface == core.REST) == (h.number%2 == 0) {
				checkVoice(t, s.name()+" of the contact of "+h.String(), w.own.call(t, s, map[string]any{"email": address(h.number)}), h)
			}
		}
	}
}

func (w world) writeThrough(t *testing.T, s subject, arguments map[string]any, texts []hostile, shown map[string]bool) {
	t.Helper()
	got := w.own.call(t, s, arguments)
	checkVoice(t, fmt.Sprint(s.name(), " of the contact of ", texts), got, texts...)
	if status, code := got.outcome(); status >= http.StatusBadRequest && code != "conflict" && s.Name != "suppressions_get" {
		t.Errorf("%s of the contact of %v: %d %.300s", s.name(), texts, got.status, got.body)
	}
	textsIn(got.object, shown)
}

// storeTopics replaces the account's topics by topics with these texts as display names.
func (w world) storeTopics(t *testing.T, texts []hostile) {
	t.Helper()
	var topics []sending.Topic
	for i, h := range texts {
		text := h.truncatedTo(longestTopic)
		topics = append(topics, sending.Topic{Name: fmt.Sprintf("hostile-%03d", i), DisplayName: text, Description: text, Default: sending.OptIn})
	}
	w.must(t, w.p.Simulator.Seed(t.Context(), w.p.OrgID, simulator.Setup{List: &sending.ContactList{Topics: topics}}))
	w.p.Clock.Advance(61 * time.Second) // until the cached topics have expired
}

// readDefinitions calls every read without path parameters, and checks all its pages.
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
}

// refuseWrites makes invalid writes of contacts, and checks the refusals, which name
// attributes or topics.
func (w world) refuseWrites(t *testing.T, texts []hostile) {
	t.Helper()
	turn := 0
	for _, s := range subjects() {
		if s.Name != "contacts_upsert" && s.Name != "contacts_update" {
			continue
		}
		for _, wrong := range []map[string]any{
			{"topic_preferences": map[string]any{"no topic": "OPT_IN"}},
			{"topic_preferences": map[string]any{"no topic": "OPT_IN", "none either": "OPT_IN"}},
		} {
			wrong["email"] = w.p.Contact
			checkVoice(t, s.name()+" with no topic", w.own.call(t, s, wrong), texts...)
		}
		for batch := range batches(texts) {
			w.checkWrongValues(t, s, batch)
		}
		// Each of these calls has a single text. One of the two operations gets the texts
		// with an even index, the other one the texts with an odd index.
		for i := turn; i < len(texts); i += 2 {
			w.checkWrongValues(t, s, texts[i:i+1])
		}
		turn++
	}
}

// checkWrongValues writes values of a wrong type to the attributes that have these texts as
// names, and checks the refusals.
func (w world) checkWrongValues(t *testing.T, s subject, texts []hostile) {
	t.Helper()
	none, number := map[string]any{}, map[string]any{}
	for _, h := range texts {
		none[nameOfEnum(h)], number[nameOfAttribute(h)] = "not one of them", "no number"
	}
	for what, values := range map[string]map[string]any{"a value that is not one of": none, "no number for": number} {
		got := w.own.call(t, s, map[string]any{"email": w.p.Contact, "attributes": values})
		checkVoice(t, fmt.Sprintf("%s with %s %v", s.name(), what, texts), got, texts...)
		refused, _ := got.output()["errors"].([]any)
		if _, code := got.outcome(); code != "attribute_validation_failed" || len(refused) != len(texts) {
			t.Errorf("%s with %s %v: %d errors, %d %.300s", s.name(), what, texts, len(refused), got.status, got.body)
		}
	}
}

// readTopics stores the texts as topics, 40 at a time, and checks the operations that
// return topics.
func (w world) readTopics(t *testing.T, texts []hostile) {
	t.Helper()
	for batch := range slices.Chunk(texts, 40) {
		w.storeTopics(t, batch)
		// gets a new access token: a token lasts an hour, and storing a batch advances the
		// clock by a minute
		w.own = callerOf(t, w.p, w.p.Live)
		shown := map[string]bool{}
		for _, s := range subjects() {
			if s.Name == "topics_list" || s.Name == "audience_get_schema" {
				w.readWhole(t, s, batch, shown)
			}
		}
		for _, h := range batch {
			if !shown[h.truncatedTo(longestTopic)] {
				t.Errorf("no topic shows %s as it is", h)
			}
		}
	}
}

// readWhole reads all pages of an operation and adds every text in them to the set into.
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
		pagination, _ := got.output()["pagination"].(map[string]any)
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
