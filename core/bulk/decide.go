package bulk

import (
	"context"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/attributes"
	"github.com/mailhelm/mailhelm/core/consent"
	"github.com/mailhelm/mailhelm/core/contacts"
	"github.com/mailhelm/mailhelm/core/lists"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/core/topics"
)

// readRow is a valid row of a bulk write, with the contacts.Plan (the description of a
// write of one contact) made from it.
type readRow struct {
	index int
	plan  contacts.Plan
	// misfit is the error for attribute values that do not fit their type, or nil. The row
	// is still accepted if the contact already has these values.
	misfit   error
	registry attributes.Registry
}

// attributes returns the row's attribute values, converted to the registered types. held
// has the values that the contact has now.
func (row readRow) attributes(held map[string]any) (map[string]any, error) {
	if row.misfit == nil {
		return row.plan.Attributes, nil
	}
	coerced, err := row.registry.Coerce(row.plan.Attributes, held)
	if err != nil {
		return nil, row.misfit
	}
	return coerced, nil
}

// bulkState has every contact that the rows of a chunk may name, as it is after the rows
// that were already decided. Rows are decided in order, each by the rules of a single
// write. The results are then written for many contacts at once.
//
// The database checks after each contact that addresses and external ids are unique. If a
// row claims an address or external id that a pending change of another contact gives up,
// that change must be written first; see waits.
type bulkState struct {
	now        time.Time
	by         consent.Source // who writes the rows
	byEmail    map[string]*bulkContact
	byExternal map[string]*bulkContact
	freed      map[string]bool
	vacated    map[string]bool // email keys of the addresses that rows of this chunk removed from contacts
	active     map[string]bool // ids of shells (contacts that only a sync has written) with activities
	erased     map[string]bool // email keys of addresses that must not become contacts again
	dropped    []string
	touched    []*bulkContact
}

// bulkContact is a contact that the rows of a chunk of a bulk write name. It has the
// changes of these rows, which are not yet written to the database.
type bulkContact struct {
	contacts.Contact
	stored  bool // whether the database has it
	touched bool
	lists   *lists.Change
	// consent that was stated for the contact and is not yet written to the sending account
	pending *consent.Pending
	// whether the write must queue the consent in the field pending for the job that
	// writes it to the sending account
	tell bool
}

func newBulkState(now time.Time, by consent.Source, known []NamedContact) *bulkState {
	s := &bulkState{
		now: now, by: by, byEmail: make(map[string]*bulkContact, len(known)), byExternal: map[string]*bulkContact{}, freed: map[string]bool{},
		vacated: map[string]bool{}, active: map[string]bool{},
	}
	for _, k := range known {
		if k.HasActivities {
			s.active[k.ID] = true
		}
		if _, twice := s.byEmail[contacts.EmailKey(k.Email)]; !twice {
			s.index(&bulkContact{Contact: k.Contact, stored: true, pending: k.Pending})
		}
	}
	return s
}

func (s *bulkState) index(c *bulkContact) {
	s.byEmail[contacts.EmailKey(c.Email)] = c
	if c.ExternalID != nil {
		s.byExternal[*c.ExternalID] = c
	}
}

// ContactByEmail returns the contact of the chunk with the address, or fails with
// core.CodeNotFound.
func (s *bulkState) ContactByEmail(_ context.Context, _, email string) (contacts.Contact, error) {
	return contactOf(s.byEmail[contacts.EmailKey(email)])
}

// ContactByExternalID returns the contact with the external id, as it is after the rows
// that were already decided. It fails with core.CodeNotFound if the state has no such
// contact.
func (s *bulkState) ContactByExternalID(_ context.Context, _, externalID string) (contacts.Contact, error) {
	return contactOf(s.byExternal[externalID])
}

// HasActivities reports whether the contact is a shell of the chunk and has activities.
func (s *bulkState) HasActivities(_ context.Context, _, contactID string) (bool, error) {
	return s.active[contactID], nil
}

var errNoContact = core.NotFound("contact")

func contactOf(c *bulkContact) (contacts.Contact, error) {
	if c == nil {
		return contacts.Contact{}, errNoContact
	}
	return c.Contact, nil
}

// waits reports whether the row claims an address or external id that another contact gave
// up in a change that is not yet written. The pending changes must then be written before
// decide is called for the row.
func (s *bulkState) waits(cl contacts.Claim) bool {
	return len(s.freed) > 0 && (cl.Email != "" && s.freed["@"+contacts.EmailKey(cl.Email)] || cl.ExternalID != "" && s.freed["#"+cl.ExternalID])
}

// decide applies one row to the state s, which has the contacts that the rows may name, and
// returns the row's outcome. The rules are the same as for a write of a single contact.
func (s *bulkState) decide(ctx context.Context, row readRow) Item {
	plan := row.plan
	existing, shell, err := plan.Claim.Find(ctx, s, "")
	held, misfit := row.attributes(existing.Attributes)
	if misfit != nil {
		return failedItem(row.index, plan.Claim, misfit)
	}
	plan.Attributes = held
	var before *bulkContact
	if err == nil {
		before = s.byEmail[contacts.EmailKey(existing.Email)]
	} else if !core.IsNotFound(err) {
		return failedItem(row.index, plan.Claim, err)
	}
	var was *contacts.Contact
	if before != nil {
		was = &existing
	}
	after, err := plan.Apply(was)
	if err != nil {
		return failedItem(row.index, plan.Claim, err)
	}
	if key := contacts.EmailKey(after.Email); s.erased[key] && (was == nil || contacts.EmailKey(was.Email) != key) {
		return failedItem(row.index, plan.Claim, contacts.ErasedRefusal())
	}
	decided := plan.DecideConsent(was, s.currentConsent(was, shell, after.Email))
	after = after.Activate(decided, plan.KeepsStub(was, shell), s.now)
	after.ConsentChanges = plan.ConsentChanges(was, after, consent.ChangeAt(s.now, s.by), time.Time{})
	status := ItemUpdated
	if before == nil {
		status = ItemCreated
		before = &bulkContact{}
	}
	if shell != "" {
		s.drop(after.Email)
	}
	s.put(before, after, plan)
	return Item{
		Index: row.index, Status: status, ContactID: after.ID, Email: after.Email, ExternalID: after.ExternalID,
		Mailable: mailability(after.Mailable),
	}
}

// currentConsent returns the consent that the database has before the row changes it. If
// the row merges a shell (a contact that only a sync created) into the contact, the shell's
// consent counts too. The consent at the sending account is merged later, when the push
// runs.
func (s *bulkState) currentConsent(was *contacts.Contact, shell, email string) sending.Contact {
	if was == nil {
		return sending.Contact{}
	}
	inForce := contacts.ConsentOf(*was)
	if shell != "" {
		inForce = topics.JoinConsent(inForce, contacts.ConsentOf(s.byEmail[contacts.EmailKey(email)].Contact))
	}
	return inForce
}

func (s *bulkState) drop(email string) {
	gone := s.byEmail[contacts.EmailKey(email)]
	s.dropped = append(s.dropped, gone.ID)
	delete(s.byEmail, contacts.EmailKey(email))
}

// put replaces the contact in c by the contact after. It records that the contact must be
// written to the database, and which consent must then be pushed to the sending account.
func (s *bulkState) put(c *bulkContact, after contacts.Contact, plan contacts.Plan) {
	isNew, archived, wasStub, oldEmail := c.ID == "", c.Status == contacts.Archived, c.Stub, ""
	if !isNew {
		oldEmail = s.release(c, after)
	}
	c.Contact = after
	s.index(c)
	if plan.Lists != nil {
		c.lists = plan.Lists
	}
	if !after.Stub && (isNew || archived || wasStub || oldEmail != "" || !plan.StatedConsent().IsEmpty()) {
		c.pending, c.tell = c.pending.Add(plan.StatedConsent(), oldEmail, s.now), true
		if archived {
			c.pending = c.pending.AddOptOuts(contacts.ConsentOf(after), s.now)
		}
		c.pending.Fresh = c.pending.Fresh || (isNew || oldEmail != "") && s.vacated[contacts.EmailKey(after.Email)]
	}
	if !c.touched {
		c.touched = true
		s.touched = append(s.touched, c)
	}
}

// release is called when the contact c is replaced by the contact after. If the two differ
// in the address or the external id, release removes the old one from the maps of s. It
// returns the old address if the address changed, else "".
func (s *bulkState) release(c *bulkContact, after contacts.Contact) string {
	oldEmail := ""
	if key := contacts.EmailKey(c.Email); key != contacts.EmailKey(after.Email) {
		delete(s.byEmail, key)
		oldEmail = c.Email
		s.vacated[key] = true
		if c.stored {
			s.freed["@"+key] = true
		}
	}
	if c.ExternalID != nil && (after.ExternalID == nil || *c.ExternalID != *after.ExternalID) {
		delete(s.byExternal, *c.ExternalID)
		if c.stored {
			s.freed["#"+*c.ExternalID] = true
		}
	}
	return oldEmail
}

// takeWrite returns the changes that are not yet written, and resets s: all its contacts
// then count as stored.
func (s *bulkState) takeWrite() ContactsWrite {
	w := ContactsWrite{At: s.now, Drop: s.dropped, Lists: map[string][]string{}, Push: map[string]consent.Pending{}}
	for _, c := range s.touched {
		if c.stored {
			w.Update = append(w.Update, c.Contact)
		} else {
			w.Insert = append(w.Insert, c.Contact)
		}
		if c.lists != nil {
			w.Lists[c.ID] = c.lists.Join
		}
		if c.tell {
			w.Push[c.ID] = *c.pending
		}
		c.stored, c.touched, c.tell, c.lists = true, false, false, nil
	}
	s.dropped, s.touched = nil, nil
	clear(s.freed)
	return w
}

// ids returns the ids of the contacts that the write updates or inserts.
func (w ContactsWrite) ids() []string {
	ids := make([]string, 0, len(w.Update)+len(w.Insert))
	for _, contacts := range [][]contacts.Contact{w.Update, w.Insert} {
		for _, c := range contacts {
			ids = append(ids, c.ID)
		}
	}
	return ids
}
