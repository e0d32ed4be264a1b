package storage_test

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/activities"
	"github.com/mailhelm/mailhelm/core/attributes"
	"github.com/mailhelm/mailhelm/core/bulk"
	"github.com/mailhelm/mailhelm/core/contacts"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/storage"
	bulkstore "github.com/mailhelm/mailhelm/storage/bulk"
	"github.com/mailhelm/mailhelm/storage/engine/enginetest"
	"github.com/mailhelm/mailhelm/storage/storagetest"
	"pgregory.net/rapid"
)

func TestMain(m *testing.M) {
	enginetest.ReduceRandomCases()
	m.Run()
}

// TestSlotsFollowTheRecord runs random sequences of contact writes and attribute changes
// against the store and an in-memory model. It checks two properties:
//
// At any time, a column of contact_slots that predicates read equals the value in the
// contact's record. When all passes over the contacts have ended, the records equal the
// model, in which every change of an attribute rewrites all contacts at once.
func TestSlotsFollowTheRecord(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		rapid.Check(t, func(t *rapid.T) {
			m := &slotModel{t: t, db: db, store: db.Contacts(), org: core.NewID(), records: map[string]map[string]any{}}
			t.Repeat(map[string]func(*rapid.T){
				"create attribute": m.create, "rename": m.rename, "retype": m.retype, "delete attribute": m.delete,
				"insert": m.insert, "write many": m.writeMany, "edit": m.edit, "clear": m.clear, "archive": m.archive, "reactivate": m.reactivate,
				"mirror": m.mirror, "stub": m.stub, "drop shell": m.dropShell, "pass": m.pass,
				"": m.trusted,
			})
			m.finish()
			m.trusted(t)
			m.checkRecords()
		})
	})
}

type slotModel struct {
	t     *rapid.T
	db    *storage.DB
	store contacts.Store
	org   string

	attributes []attributes.Attribute
	contacts   []string // addresses
	shells     []string
	records    map[string]map[string]any // values by address and name
	made       int
}

func (m *slotModel) must(err error) {
	m.t.Helper()
	if err != nil {
		m.t.Fatal(err)
	}
}

var attributeTypes = []attributes.Type{
	attributes.String, attributes.Number, attributes.Bool, attributes.Datetime, attributes.Enum,
}

func (m *slotModel) definition(t *rapid.T) (string, attributes.Type) {
	return rapid.SampledFrom([]string{"a", "b", "c", "d", "e"}).Draw(t, "name"), rapid.SampledFrom(attributeTypes).Draw(t, "type")
}

// applyMoves changes every record of the in-memory model to the current attribute names and
// types. moved has the new names by old name.
func (m *slotModel) applyMoves(moved map[string]string) {
	byName := map[string]attributes.Attribute{}
	for _, a := range m.attributes {
		byName[a.Name] = a
	}
	for email, record := range m.records {
		m.records[email], _ = attributes.Settle(record, byName, moved)
	}
}

func (m *slotModel) create(t *rapid.T) {
	a := attributes.Attribute{ID: core.NewID(), Origin: core.ManagedOrigin, CreatedAt: time.UnixMicro(int64(m.made)), EnumValues: []string{"1", "x"}}
	a.Name, a.Type = m.definition(t)
	m.made++
	err := m.db.Attributes().InsertAttribute(t.Context(), m.org, a)
	if err != nil && core.AsError(err).Code == core.CodeConflict {
		return
	}
	m.must(err)
	m.attributes = append(m.attributes, a)
	m.applyMoves(nil)
}

func (m *slotModel) change(t *rapid.T, edit func(*attributes.Attribute)) {
	if len(m.attributes) == 0 {
		return
	}
	i := rapid.IntRange(0, len(m.attributes)-1).Draw(t, "attribute")
	after := m.attributes[i]
	edit(&after)
	err := m.db.Attributes().UpdateAttribute(t.Context(), m.org, after)
	if err != nil && core.AsError(err).Code == core.CodeConflict {
		return
	}
	m.must(err)
	before := m.attributes[i]
	m.attributes[i] = after
	moved := map[string]string{}
	if before.Name != after.Name {
		moved[before.Name] = after.Name
	}
	m.applyMoves(moved)
}

func (m *slotModel) rename(t *rapid.T) {
	name, _ := m.definition(t)
	m.change(t, func(a *attributes.Attribute) { a.Name = name })
}

// retype changes the type of an attribute. If a pass over the contacts is due, retype
// finishes it first. Without that, the store would convert a value that the pass has not
// yet reached once, from its first type to its last. The model converts it at each change
// of type, and the results may differ.
func (m *slotModel) retype(t *rapid.T) {
	m.finish()
	_, kind := m.definition(t)
	m.change(t, func(a *attributes.Attribute) { a.Type = kind })
	m.finish()
}

func (m *slotModel) delete(t *rapid.T) {
	if len(m.attributes) == 0 {
		return
	}
	// move all values to the present names first, because the values of a deleted attribute
	// keep the name under which they are stored
	m.finish()
	i := rapid.IntRange(0, len(m.attributes)-1).Draw(t, "attribute")
	m.must(m.db.Attributes().DeleteAttribute(t.Context(), m.org, m.attributes[i].ID))
	m.attributes = slices.Delete(m.attributes, i, i+1)
}

// values returns random values for some of the attributes. A value may have another type
// than its attribute, as if a definition had changed between the validation and the storage
// of a write.
func (m *slotModel) values(t *rapid.T) map[string]any {
	values := map[string]any{}
	for _, a := range m.attributes {
		if !rapid.Bool().Draw(t, "has") {
			continue
		}
		v := rapid.OneOf(
			rapid.SampledFrom([]any{"1", "x", "true", "2026-02-28T01:02:03.456789Z", "2026-02-28", true, false, 1.0, -2.5e17, "", "é\U0001F600", nil}),
			rapid.SampledFrom([]any{randomText(2048), randomText(2049), randomText(2046) + "\U0001F600", randomText(4096), randomText(4095) + "é"}),
			rapid.Float64().AsAny(), rapid.StringMatching(`[ -~]{0,30}`).AsAny(),
		).Draw(t, "value")
		values[a.Name] = v
	}
	return values
}

func (m *slotModel) insert(t *rapid.T) {
	m.made++
	email, values := fmt.Sprintf("c%d@x", m.made), m.values(t)
	m.must(m.store.InsertContact(t.Context(), m.org, contacts.Contact{ID: core.NewID(), Email: email, Status: contacts.Active, Attributes: values}))
	m.contacts = append(m.contacts, email)
	m.remember(email, values)
}

// writeMany writes a new contact and an existing contact through the store of bulk writes.
func (m *slotModel) writeMany(t *rapid.T) {
	m.made++
	email, values := fmt.Sprintf("bulk%d@x", m.made), m.values(t)
	w := bulk.ContactsWrite{
		At:     time.UnixMicro(int64(m.made)),
		Insert: []contacts.Contact{{ID: core.NewID(), Email: email, Status: contacts.Active, Attributes: values}},
	}
	var known string
	m.must(m.db.InTx(t.Context(), func(ctx context.Context) error {
		if len(m.contacts) > 0 {
			known = rapid.SampledFrom(m.contacts).Draw(t, "contact")
			c, err := m.store.ContactByEmail(ctx, m.org, known)
			if err != nil {
				return err
			}
			c.Status, c.Attributes, c.Hidden = contacts.Active, values, nil
			w.Update = []contacts.Contact{c}
		}
		return bulkstore.NewContactStore(m.db.DB).WriteContacts(ctx, m.org, w)
	}))
	m.contacts = append(m.contacts, email)
	m.remember(email, values)
	if known != "" {
		m.remember(known, values)
	}
}

func (m *slotModel) remember(email string, values map[string]any) {
	record := map[string]any{}
	for name, value := range values {
		if value != nil {
			record[name] = value
		}
	}
	m.records[email] = record
	m.applyMoves(nil)
}

func (m *slotModel) editOne(t *rapid.T, edit func(*contacts.Contact)) {
	if len(m.contacts) == 0 {
		return
	}
	email := rapid.SampledFrom(m.contacts).Draw(t, "contact")
	m.must(m.db.InTx(t.Context(), func(ctx context.Context) error {
		c, err := m.store.ContactByEmail(ctx, m.org, email)
		if err != nil {
			return err
		}
		edit(&c)
		return m.store.UpdateContact(ctx, m.org, c)
	}))
}

func (m *slotModel) edit(t *rapid.T) {
	values := m.values(t)
	m.editOne(t, func(c *contacts.Contact) {
		for name, value := range values {
			delete(c.Hidden, name)
			if value == nil {
				delete(c.Attributes, name)
				delete(m.records[c.Email], name)
				continue
			}
			c.Attributes[name], m.records[c.Email][name] = value, value
		}
	})
	m.applyMoves(nil)
}

// clear removes all attribute values of a contact, including values that are still stored
// under a former attribute name.
func (m *slotModel) clear(t *rapid.T) {
	m.editOne(t, func(c *contacts.Contact) {
		for _, a := range m.attributes {
			delete(c.Attributes, a.Name)
			delete(c.Hidden, a.Name)
			delete(m.records[c.Email], a.Name)
		}
	})
}

func (m *slotModel) archive(t *rapid.T) {
	m.editOne(t, func(c *contacts.Contact) { c.Status = contacts.Archived })
}

func (m *slotModel) reactivate(t *rapid.T) {
	m.editOne(t, func(c *contacts.Contact) { c.Status = contacts.Active })
}

func (m *slotModel) mirror(t *rapid.T) {
	m.made++
	shell := fmt.Sprintf("shell%d@x", m.made)
	page := []sending.Contact{{Email: shell}}
	for _, email := range m.contacts {
		page = append(page, sending.Contact{Email: email, UnsubscribeAll: rapid.Bool().Draw(t, "unsubscribed")})
	}
	_, _, err := m.db.Subscribers().MirrorConsent(t.Context(), m.org, page, time.Unix(1<<33, 0), time.Unix(int64(m.made), 0))
	m.must(err)
	m.shells = append(m.shells, shell)
	m.records[shell] = map[string]any{}
}

// stub inserts a contact in the way that an activity of an unknown address does.
func (m *slotModel) stub(t *rapid.T) {
	m.made++
	email := fmt.Sprintf("stub%d@x", m.made)
	people := []activities.Person{{ID: core.NewID(), Email: email, EmailKey: email}}
	made, err := m.db.Activities().InsertStubs(t.Context(), m.org, people, time.UnixMicro(int64(m.made)))
	m.must(err)
	if made != 1 {
		m.t.Fatalf("made %d stubs", made)
	}
	m.contacts = append(m.contacts, email)
	m.records[email] = map[string]any{}
}

func (m *slotModel) dropShell(t *rapid.T) {
	if len(m.shells) == 0 {
		return
	}
	shell := m.shells[0]
	c, err := m.store.ContactByEmail(t.Context(), m.org, shell)
	m.must(err)
	m.must(m.store.DropShell(t.Context(), m.org, c.ID))
	m.shells = m.shells[1:]
	delete(m.records, shell)
}

func (m *slotModel) pass(t *rapid.T) {
	_, err := m.db.AttributePasses().Pass(t.Context(), m.org, 2)
	m.must(err)
}

func (m *slotModel) finish() {
	for {
		passed, err := m.db.AttributePasses().Pass(m.t.Context(), m.org, 3)
		m.must(err)
		if passed.Done {
			return
		}
	}
}

// stored returns the statuses, the attributes and the rows of contact_slots of all contacts
// from the database, by address.
func (m *slotModel) stored() (map[string]contacts.ContactStatus, map[string]map[string]any, map[string]map[string]any) {
	rows, err := m.db.Writer().QueryContext(m.t.Context(), `SELECT c.email, c.status, c.attributes, s.* FROM contacts AS c
		LEFT JOIN contact_slots AS s ON s.org_id = c.org_id AND s.contact_id = c.id WHERE c.org_id = $1`, m.org)
	m.must(err)
	defer func() { m.must(rows.Close()) }()
	columns, err := rows.Columns()
	m.must(err)
	statuses, records, slots := map[string]contacts.ContactStatus{}, map[string]map[string]any{}, map[string]map[string]any{}
	for rows.Next() {
		row := make([]any, len(columns))
		targets := make([]any, len(columns))
		for i := range row {
			targets[i] = &row[i]
		}
		m.must(rows.Scan(targets...))
		email := text(row[0])
		statuses[email] = contacts.ContactStatus(text(row[1]))
		var record map[string]any
		m.must(json.Unmarshal([]byte(text(row[2])), &record))
		records[email] = record
		if row[4] == nil {
			continue
		}
		slots[email] = map[string]any{}
		for i, column := range columns[5:] {
			if v := row[5+i]; v != nil {
				if strings.HasPrefix(column, "s") || column == "long_texts" {
					v = text(v)
				}
				slots[email][column] = v
			}
		}
		m.restoreLongTexts(slots[email])
	}
	m.must(rows.Err())
	return statuses, records, slots
}

// restoreLongTexts replaces each shortened text in a contact's row of contact_slots by the
// complete text from the column long_texts. It fails the test if a shortened text has no
// complete text in long_texts. It also fails the test if a complete text there has no
// shortened text.
func (m *slotModel) restoreLongTexts(row map[string]any) {
	long := map[string]string{}
	if column, has := row["long_texts"]; has {
		m.must(json.Unmarshal([]byte(column.(string)), &long))
		delete(row, "long_texts")
	}
	for slot, value := range row {
		held, is := value.(string)
		whole, more := long[slot]
		if is && more != (len(held) > 2048) || more && (len(held) > 2052 || !utf8.ValidString(held) || !strings.HasPrefix(whole, held)) {
			m.t.Fatalf("slot %s holds %d bytes, and %d are said to be the whole", slot, len(held), len(whole))
		}
		if more {
			row[slot] = whole
		}
	}
	for slot := range long {
		if _, has := row[slot]; !has {
			m.t.Fatalf("there is a long text of slot %s, which is empty", slot)
		}
	}
}

func text(v any) string {
	if b, ok := v.([]byte); ok {
		return string(b)
	}
	return v.(string)
}

// trusted checks every column of contact_slots that predicates read. Its value must equal
// the value in the contact's record. This must hold at any time.
func (m *slotModel) trusted(t *rapid.T) {
	statuses, records, slots := m.stored()
	attributes, err := m.db.Attributes().Attributes(t.Context(), m.org)
	m.must(err)
	former := m.formerNames()
	for email, status := range statuses {
		row, has := slots[email]
		if has != (status == contacts.Active) {
			t.Fatalf("%s is %s and has a row of slots: %v", email, status, has)
		}
		for _, a := range attributes {
			if !has || a.Slot == "" {
				continue
			}
			stored := records[email][a.Name]
			for _, name := range former[a.ID] {
				if value, moves := records[email][name]; moves {
					stored = value
				}
			}
			if want := a.SlotValue(stored); !reflect.DeepEqual(row[a.Slot], want) {
				t.Fatalf("%s: slot %s of %s holds %#v, the record %#v", email, a.Slot, a.Name, row[a.Slot], want)
			}
		}
	}
}

// formerNames returns, by attribute id, the former names under which contacts may still have
// values.
func (m *slotModel) formerNames() map[string][]string {
	rows, err := m.db.Writer().QueryContext(m.t.Context(), `SELECT attribute_id, name FROM attribute_leftovers WHERE org_id = $1`, m.org)
	m.must(err)
	defer func() { m.must(rows.Close()) }()
	names := map[string][]string{}
	for rows.Next() {
		var id, name string
		m.must(rows.Scan(&id, &name))
		names[id] = append(names[id], name)
	}
	m.must(rows.Err())
	return names
}

// checkRecords checks that the contact records equal the in-memory model, and that columns
// of contact_slots without an attribute are empty. This must hold when no pass over the
// contacts is due.
func (m *slotModel) checkRecords() {
	_, records, slots := m.stored()
	if diff := cmp.Diff(m.records, records); diff != "" {
		m.t.Fatalf("records (-want +got):\n%s", diff)
	}
	attributes, err := m.db.Attributes().Attributes(m.t.Context(), m.org)
	m.must(err)
	used := map[string]bool{}
	for _, a := range attributes {
		if a.Slot == "" {
			m.t.Fatalf("%s has no slot", a.Name)
		}
		used[a.Slot] = true
	}
	for email, row := range slots {
		for slot, value := range row {
			if !used[slot] {
				m.t.Fatalf("%s: nobody has slot %s, which holds %v", email, slot, value)
			}
		}
	}
}
