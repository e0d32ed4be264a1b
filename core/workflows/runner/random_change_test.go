package runner_test

import (
	"context"
	"slices"
	"time"

	"github.com/mailhelm/mailhelm/core/contacts"
	"github.com/mailhelm/mailhelm/core/predicate"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/core/topics"
	"github.com/mailhelm/mailhelm/core/workflows"
	"github.com/mailhelm/mailhelm/core/workflows/engine"
)

// changeAll changes contacts and the workflow in both worlds.
func (p *pair) changeAll() {
	p.t.Helper()
	for _, person := range p.model.people {
		for range p.random.IntN(3) {
			p.change(person)
		}
		if r := person.active(); r != nil && r.OnChange && p.random.IntN(2) == 0 {
			p.fulfil(person)
		}
		person.store(p)
		if p.random.IntN(3) == 0 || len(person.runs) == 0 {
			p.act(p.t, person.id, "signup", p.Now())
			if p.model.status == workflows.Active {
				person.entries++
			}
		}
		p.decide(person)
	}
	ctx := p.t.Context()
	var err error
	switch active := p.model.status == workflows.Active; p.random.IntN(12) {
	case 0, 1:
		p.model.status = map[bool]workflows.Status{true: workflows.Paused, false: workflows.Active}[active]
		if active {
			_, err = p.Pause(ctx, p.org, p.model.id)
		} else {
			_, err = p.Resume(ctx, p.org, p.model.id)
		}
	case 2:
		p.model.hold = !p.model.hold
		_, err = p.SetApproval(ctx, p.org, p.model.id, p.model.hold)
	case 3:
		p.activate()
	}
	must(p.t, err)
}

// edit notes a change of the contact, which store stores.
func (m *modelPerson) edit(f func(*contacts.Contact)) { m.edits = append(m.edits, f) }

// store stores the changes that edit has noted.
func (m *modelPerson) store(p *pair) {
	p.t.Helper()
	if len(m.edits) == 0 {
		return
	}
	p.edit(p.t, m.id, func(c *contacts.Contact) {
		for _, f := range m.edits {
			f(c)
		}
	})
	m.edits = nil
}

// decide decides about a held message, in two of three cases.
func (p *pair) decide(person *modelPerson) {
	p.t.Helper()
	if r := person.active(); r == nil || !r.Held || r.Decision != "" || p.random.IntN(3) == 0 {
		return
	}
	r := person.active()
	r.Decision = []engine.Phase{engine.Approved, engine.Approved, engine.Skipped, engine.Cancelled}[p.random.IntN(4)]
	runs := p.runs(p.t, p.model.id, person.id)
	decided, err := p.Decide(p.t.Context(), p.org, p.model.id, []string{runs[len(runs)-1].ID}, r.Decision)
	must(p.t, err)
	if len(decided) != 1 {
		p.fail("no held message of %s", person.name)
	}
}

// change changes a contact in both worlds.
func (p *pair) change(person *modelPerson) {
	p.t.Helper()
	s, flag, now := person.subject, p.random.IntN(2) == 0, p.Now()
	switch p.random.IntN(11) {
	case 0:
		p.setValue(person, "plan", map[bool]any{true: "pro", false: "free"}[flag])
	case 1:
		p.setValue(person, "visits", float64(p.random.IntN(6)))
	case 2:
		p.setValue(person, "vip", flag)
	case 3:
		p.setValue(person, "renewal", now.Add(time.Duration(p.random.IntN(144)-48)*time.Hour).Truncate(time.Second).UTC())
	case 4:
		p.setValue(person, []string{"plan", "visits", "vip", "renewal", "city"}[p.random.IntN(5)], nil)
	case 5:
		p.setValue(person, "timezone", []string{"Europe/Paris", "Australia/Lord_Howe", "America/New_York", "nowhere"}[p.random.IntN(4)])
	case 6:
		s.UnsubscribedFromAll = flag
		person.edit(func(c *contacts.Contact) { c.UnsubscribeAll = flag })
	case 7:
		s.Suppressed = flag
		p.suppress(person)
	case 8:
		p.subscribe(person, []string{"news", "offers"}[p.random.IntN(2)], flag)
	case 9:
		p.join(person, flag)
	default:
		if p.random.IntN(12) == 0 {
			person.archived = true
			person.edit(func(c *contacts.Contact) { c.Status = contacts.Archived })
			return
		}
		s.Events = append(s.Events, predicate.Occurrence{Event: predicate.Event{Kind: predicate.ActivityEvent, Activity: "purchase"}, At: now.UnixMicro()})
		p.act(p.t, person.id, "purchase", now)
	}
}

// fulfil makes one of the conditions true for which runs wait.
func (p *pair) fulfil(person *modelPerson) {
	p.t.Helper()
	switch p.random.IntN(5) {
	case 0:
		p.setValue(person, "plan", "pro")
	case 1:
		p.setValue(person, "vip", true)
	case 2:
		p.setValue(person, "visits", 4.0)
	case 3:
		p.setValue(person, "renewal", p.Now().Add(-48*time.Hour).UTC())
	default:
		p.join(person, true)
	}
}

// setValue sets an attribute, or removes it if the value is nil.
func (p *pair) setValue(person *modelPerson, name string, value any) {
	p.t.Helper()
	s, stored := person.subject, value
	switch v := value.(type) {
	case nil:
		delete(s.Attributes, name)
	case string:
		s.Attributes[name] = predicate.StringValue(v)
	case float64:
		s.Attributes[name] = predicate.NumberValue(v)
	case bool:
		s.Attributes[name] = predicate.BoolValue(v)
	case time.Time:
		s.Attributes[name] = predicate.Value{Type: predicate.Datetime, Moment: predicate.Moment{Micros: v.UnixMicro()}}
		stored = v.Format(time.RFC3339)
	}
	person.edit(func(c *contacts.Contact) {
		if value == nil {
			delete(c.Attributes, name)
		} else {
			c.Attributes[name] = stored
		}
	})
}

func (p *pair) subscribe(person *modelPerson, topic string, in bool) {
	p.t.Helper()
	person.subject.Topics[topic] = in
	status := map[bool]sending.Subscription{true: sending.OptIn, false: sending.OptOut}[in]
	person.edit(func(c *contacts.Contact) {
		c.TopicPreferences = slices.DeleteFunc(c.TopicPreferences, func(t topics.Preference) bool { return t.Topic == topic })
		c.TopicPreferences = append(c.TopicPreferences, topics.Preference{Topic: topic, SubscriptionStatus: status})
	})
}

// suppress stores the suppression list of the organization.
func (p *pair) suppress(person *modelPerson) {
	p.t.Helper()
	var keys []string
	for _, one := range p.model.people {
		if one.subject.Suppressed {
			keys = append(keys, one.name+"@example.com")
		}
	}
	must(p.t, p.db.SegmentChanges().ReplaceSuppressed(p.t.Context(), p.org, keys))
	must(p.t, p.db.InTx(p.t.Context(), func(ctx context.Context) error { return p.changed(ctx, person.id) }))
}

// join puts a contact on the list vip, or takes it off.
func (p *pair) join(person *modelPerson, in bool) {
	p.t.Helper()
	person.subject.Lists[p.lists["vip"]] = in
	var on []string
	for id, is := range person.subject.Lists {
		if is {
			on = append(on, id)
		}
	}
	must(p.t, p.db.InTx(p.t.Context(), func(ctx context.Context) error {
		if _, _, err := p.db.ListMembers().ReplaceMembership(ctx, p.org, person.id, on, p.Now()); err != nil {
			return err
		}
		return p.changed(ctx, person.id)
	}))
}
