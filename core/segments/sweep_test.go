package segments_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/activities"
	"github.com/mailhelm/mailhelm/core/attributes"
	"github.com/mailhelm/mailhelm/core/contacts"
	"github.com/mailhelm/mailhelm/core/predicate"
	"github.com/mailhelm/mailhelm/core/segments"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/core/topics"
)

// amid is a store that calls a function, once: before or after a worker searches for
// differing contacts, or before it reads notes.
type amid struct {
	segments.Store
	before, after, noting func()
}

func (s *amid) Differing(ctx context.Context, q segments.Question, segmentID string, limit int) ([]string, error) {
	runOnce(&s.before)
	differing, err := s.Store.Differing(ctx, q, segmentID, limit)
	runOnce(&s.after)
	return differing, err
}

func (s *amid) Touches(ctx context.Context, orgID string, limit int) ([]segments.Touch, error) {
	runOnce(&s.noting)
	return s.Store.Touches(ctx, orgID, limit)
}

func runOnce(happens *func()) {
	if f := *happens; f != nil {
		*happens = nil
		f()
	}
}

// during returns another worker over the same database, with such a store.
func (w *world) during(store amid) *segments.Segments {
	worker := segments.New(w.Config)
	store.Store = worker.Store
	worker.Store = &store
	return worker
}

// redefinition is a change of what a segment tests: ann is in before it, and bob after.
type redefinition struct {
	source string
	// prepare creates what the source names.
	prepare func(t *testing.T, w *world)
	change  func(t *testing.T, w *world)
}

var redefinitions = map[string]redefinition{
	"an attribute of another type": {
		source: `has attr.score`,
		prepare: func(t *testing.T, w *world) {
			w.attribute(t, attributes.Attribute{Name: "score", Type: attributes.Number})
			w.put(t, "ann", map[string]any{"score": 1.0})
			w.put(t, "bob", map[string]any{"score": "one"})
		},
		change: func(t *testing.T, w *world) {
			w.changeAttribute(t, "score", attributes.Attribute{Name: "score", Type: attributes.String})
		},
	},
	"another attribute of the name": {
		source: `attr.score = 1`,
		prepare: func(t *testing.T, w *world) {
			w.attribute(t, attributes.Attribute{Name: "score", Type: attributes.Number})
			w.attribute(t, attributes.Attribute{Name: "other", Type: attributes.Number})
			w.put(t, "ann", map[string]any{"score": 1.0})
			w.put(t, "bob", map[string]any{"other": 1.0})
		},
		change: func(t *testing.T, w *world) {
			w.changeAttribute(t, "score", attributes.Attribute{Name: "former", Type: attributes.Number})
			w.pass(t)
			w.changeAttribute(t, "other", attributes.Attribute{Name: "score", Type: attributes.Number})
			w.pass(t)
		},
	},
	"a property of another type": {
		source: `exists(activity.purchase where has amount)`,
		prepare: func(t *testing.T, w *world) {
			must(t, w.db.Activities().InsertProperty(t.Context(), w.org, w.amount(activities.NumberProperty)))
			w.recordPurchase(t, "ann", `{"amount":1}`)
			w.recordPurchase(t, "bob", `{"amount":"one"}`)
		},
		change: func(t *testing.T, w *world) {
			after := predicate.ActivityProperty{Activity: "purchase", Property: "amount"}
			must(t, w.db.InTx(t.Context(), func(ctx context.Context) error {
				if _, err := w.ApplyPropertyEdit(ctx, w.org, segments.PropertyEdit{Before: after, After: &after, Type: predicate.String}); err != nil {
					return err
				}
				all, err := w.db.Activities().Properties(ctx, w.org)
				if err != nil {
					return err
				}
				all[0].Type = activities.StringProperty
				return w.db.Activities().UpdateProperty(ctx, w.org, all[0])
			}))
		},
	},
	"another default of a topic": {
		source: `subscribed to "news"`,
		prepare: func(t *testing.T, w *world) {
			w.topics(t, segments.Redefinition{TurnedTopics: []string{"news"}}, sending.Topic{Name: "news", Default: sending.OptOut})
			must(t, w.write(t.Context(), "ann", func(c *contacts.Contact) { c.TopicPreferences = choice(sending.OptIn) }))
			must(t, w.write(t.Context(), "bob", func(*contacts.Contact) {}))
		},
		change: func(t *testing.T, w *world) {
			must(t, w.write(t.Context(), "ann", func(c *contacts.Contact) { c.TopicPreferences = choice(sending.OptOut) }))
			w.topics(t, segments.Redefinition{TurnedTopics: []string{"news"}}, sending.Topic{Name: "news", Default: sending.OptIn})
		},
	},
	"another list of the key": {
		source: `in list "vips"`,
		prepare: func(t *testing.T, w *world) {
			w.list(t, "vips", "ann")
			w.put(t, "bob", nil)
		},
		change: func(t *testing.T, w *world) {
			old, err := w.db.Lists().List(t.Context(), w.org, "vips")
			must(t, err)
			must(t, w.db.InTx(t.Context(), func(ctx context.Context) error {
				if err := w.ApplyRedefinition(ctx, w.org, segments.Redefinition{GoneLists: []string{old.ID}}); err != nil {
					return err
				}
				return w.db.Lists().DeleteList(ctx, w.org, old.ID)
			}))
			w.list(t, "vips", "bob")
		},
	},
	"another definition of a tested segment": {
		source: `in segment "inner"`,
		prepare: func(t *testing.T, w *world) {
			w.put(t, "ann", map[string]any{"plan": "free"})
			w.put(t, "bob", map[string]any{"plan": "pro"})
			w.save(t, "inner", `attr.plan = "free"`)
		},
		change: func(t *testing.T, w *world) { w.save(t, "inner", `attr.plan = "pro"`) },
	},
	"another definition": {
		source: `attr.plan = "free"`,
		prepare: func(t *testing.T, w *world) {
			w.put(t, "ann", map[string]any{"plan": "free"})
			w.put(t, "bob", map[string]any{"plan": "pro"})
		},
		change: func(t *testing.T, w *world) { w.save(t, "one", `attr.plan = "pro"`) },
	},
}

// A change during a sweep is not lost: the next pass uses the new definition, whatever
// the running worker did by the old one.
func TestWhatChangesDuringASweepIsNotLost(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		for name, tc := range redefinitions {
			for when, hook := range map[string]func(*amid, func()){
				"before contacts are looked for": func(s *amid, f func()) { s.before = f },
				"after contacts are looked for":  func(s *amid, f func()) { s.after = f },
			} {
				t.Run(name+" "+when, func(t *testing.T) {
					w := newWorld(t, w.db)
					tc.prepare(t, w)
					w.follow(t)
					w.save(t, "one", tc.source)
					w.advance(time.Second)
					var store amid
					hook(&store, func() { tc.change(t, w); w.advance(time.Second) })
					must(t, w.during(store).Follow(t.Context(), w.org))
					w.follow(t)
					w.wantMembers(t, "one", "bob")
					if seen, err := w.Store.Segment(t.Context(), w.org, "one"); err != nil || seen.Status != segments.Active || seen.Stale {
						t.Errorf("the segment is %+v, %v", seen, err)
					}
				})
			}
		}
	})
}

// A worker that read old definitions does not undo the result of newer ones, and logs no
// false entry or exit.
func TestAnOldDefinitionIsNotJudgedBy(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		for name, tc := range redefinitions {
			t.Run(name, func(t *testing.T) {
				w := newWorld(t, w.db)
				tc.prepare(t, w)
				w.save(t, "one", tc.source)
				w.follow(t)
				w.wantMembers(t, "one", "ann")
				w.advance(time.Second)
				slow := w.during(amid{before: func() {
					tc.change(t, w)
					w.advance(time.Second)
					w.follow(t)
					w.follow(t)
					w.wantMembers(t, "one", "bob")
				}})
				must(t, slow.Sweep(t.Context(), w.org))
				w.wantMembers(t, "one", "bob")
				got := w.transitions(t, "one")
				slices.Sort(got)
				if want := []string{"ann false", "ann true", "bob true"}; !slices.Equal(got, want) {
					t.Errorf("the log says %v, want %v", got, want)
				}
			})
		}
	})
}

// A segment that is paused and resumed during a sweep is evaluated again, because
// contacts were not evaluated in between.
func TestAPauseDuringASweepIsNoticed(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		pros := w.save(t, "pros", `attr.plan = "pro"`)
		w.advance(time.Second)
		slow := w.during(amid{after: func() {
			_, err := w.SetStatus(t.Context(), w.org, pros.ID, segments.Paused)
			must(t, err)
			w.put(t, "ann", map[string]any{"plan": "pro"})
			w.follow(t)
			w.advance(time.Second)
			_, err = w.SetStatus(t.Context(), w.org, pros.ID, segments.Active)
			must(t, err)
		}})
		must(t, slow.Follow(t.Context(), w.org))
		w.follow(t)
		w.wantMembers(t, "pros", "ann")
	})
}

// Notes are read before the definitions, so a segment that becomes active between the
// two reads is evaluated.
func TestNotesAreJudgedByDefinitionsThatAreNewer(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		pros := w.save(t, "pros", `attr.plan = "pro"`)
		_, err := w.SetStatus(t.Context(), w.org, pros.ID, segments.Paused)
		must(t, err)
		slow := w.during(amid{noting: func() {
			_, err := w.SetStatus(t.Context(), w.org, pros.ID, segments.Active)
			must(t, err)
			w.follow(t)
			w.put(t, "ann", map[string]any{"plan": "pro"})
		}})
		must(t, slow.Follow(t.Context(), w.org))
		w.follow(t)
		w.wantMembers(t, "pros", "ann")
	})
}

// Contacts that enter or leave a segment in a sweep also enter or leave the segments
// that test it, directly or through others.
func TestSegmentsFollowTheSegmentsTheyTest(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		w.put(t, "ann", map[string]any{"plan": "pro"})
		w.put(t, "bob", map[string]any{"plan": "free"})
		w.save(t, "inner", `attr.plan = "pro"`)
		w.save(t, "middle", `not in segment "inner"`)
		w.save(t, "outer", `in segment "middle"`)
		w.follow(t)
		w.wantMembers(t, "outer", "bob")
		inner := w.save(t, "inner", `attr.plan = "free"`)
		w.follow(t)
		w.wantMembers(t, "middle", "ann")
		w.wantMembers(t, "outer", "ann")
		if notes, err := w.Store.Touches(t.Context(), w.org, 10); err != nil || len(notes) != 0 {
			t.Errorf("%d notes are left, %v", len(notes), err)
		}
		// A paused segment keeps its members, and other segments test these.
		_, err := w.SetStatus(t.Context(), w.org, inner.ID, segments.Paused)
		must(t, err)
		w.put(t, "bob", map[string]any{"plan": "pro"})
		w.put(t, "cid", map[string]any{"plan": "free"})
		w.follow(t)
		w.wantMembers(t, "inner", "bob")
		w.wantMembers(t, "outer", "ann", "cid")
		// If a segment is archived, those that test it become invalid and keep their
		// members.
		_, err = w.SetStatus(t.Context(), w.org, inner.ID, segments.Archived)
		must(t, err)
		w.put(t, "dan", nil)
		w.follow(t)
		must(t, w.Sweep(t.Context(), w.org))
		w.wantMembers(t, "inner", "bob")
		w.wantMembers(t, "middle", "ann", "cid")
		if seen, err := w.Store.Segment(t.Context(), w.org, "middle"); err != nil || seen.Status != segments.Invalid || seen.EvalWarning == "" {
			t.Errorf("what tests an archived segment is %+v, %v", seen, err)
		}
		// The middle segment is invalid, and the outer one uses the members that it
		// keeps.
		if seen, err := w.Store.Segment(t.Context(), w.org, "outer"); err != nil || seen.Status != segments.Active {
			t.Errorf("what tests an invalid segment is %+v, %v", seen, err)
		}
		w.wantMembers(t, "outer", "ann", "cid")
		_, err = w.SetStatus(t.Context(), w.org, inner.ID, segments.Active)
		must(t, err)
		w.follow(t)
		w.wantMembers(t, "inner", "cid")
		w.wantMembers(t, "outer", "ann", "bob", "dan")
	})
}

// attribute registers another attribute.
func (w *world) attribute(t *testing.T, a attributes.Attribute) {
	t.Helper()
	a.ID, a.Origin, a.CreatedAt, a.UpdatedAt = core.NewID(), core.ManagedOrigin, w.clock(), w.clock()
	must(t, w.db.Attributes().InsertAttribute(t.Context(), w.org, a))
}

// changeAttribute changes name and type, as the audience does.
func (w *world) changeAttribute(t *testing.T, name string, to attributes.Attribute) {
	t.Helper()
	must(t, w.db.InTx(t.Context(), func(ctx context.Context) error {
		all, err := w.db.Attributes().Attributes(ctx, w.org)
		if err != nil {
			return err
		}
		edit := segments.AttributeEdit{Name: name, NewName: to.Name, Type: segments.TypeOf(string(to.Type), to.EnumValues), Disruptive: true}
		if _, err := w.ApplyAttributeEdit(ctx, w.org, edit); err != nil {
			return err
		}
		at := slices.IndexFunc(all, func(a attributes.Attribute) bool { return a.Name == name })
		all[at].Name, all[at].Type, all[at].EnumValues = to.Name, to.Type, to.EnumValues
		return w.db.Attributes().UpdateAttribute(ctx, w.org, all[at])
	}))
}

// pass converts stored values to the registry's types, as the job does.
func (w *world) pass(t *testing.T) {
	t.Helper()
	for done := false; !done; {
		must(t, w.db.InTx(t.Context(), func(ctx context.Context) error {
			passed, err := w.db.AttributePasses().Pass(ctx, w.org, 100)
			done = passed.Done
			if err != nil {
				return err
			}
			return w.ObserveChange(ctx, w.org, passed.Changed)
		}))
	}
}

func (w *world) amount(of activities.PropertyType) activities.Property {
	return activities.Property{
		ID: core.NewID(), ActivityName: "purchase", Property: "amount", Type: of, Origin: activities.Managed,
		CreatedAt: w.clock(), UpdatedAt: w.clock(),
	}
}

// recordPurchase records an activity with these properties at the current time.
func (w *world) recordPurchase(t *testing.T, name, properties string) {
	t.Helper()
	w.put(t, name, nil)
	id := w.contacts[name].ID
	must(t, w.db.InTx(t.Context(), func(ctx context.Context) error {
		err := w.db.Activities().Insert(ctx, w.org, []activities.Activity{{
			ID: core.NewID(), ContactID: id, Name: "purchase", Properties: []byte(properties), OccurredAt: w.clock(), ReceivedAt: w.clock(), Source: activities.FromAPI,
		}})
		if err != nil {
			return err
		}
		return w.ObserveChange(ctx, w.org, []string{id})
	}))
}

// choice returns a choice about the topic news.
func choice(s sending.Subscription) []topics.Preference {
	return []topics.Preference{{Topic: "news", SubscriptionStatus: s}}
}

// The time of a log entry is taken when the worker has locked the segment, not when it
// began. Entries that another job wrote in between therefore come before.
func TestTheLogReadsInTheOrderOfWhatHappened(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		w.save(t, "pros", `attr.plan = "pro"`)
		w.follow(t)
		w.put(t, "ann", map[string]any{"plan": "pro"})
		slow := w.during(amid{after: func() {
			w.advance(time.Second)
			w.follow(t)
			w.wantMembers(t, "pros", "ann")
			w.advance(time.Second)
			w.put(t, "ann", map[string]any{"plan": "free"})
		}})
		must(t, slow.Sweep(t.Context(), w.org))
		w.wantMembers(t, "pros")
		if got, want := w.transitions(t, "pros"), []string{"ann true", "ann false"}; !slices.Equal(got, want) {
			t.Errorf("the log says %v, want %v", got, want)
		}
	})
}
