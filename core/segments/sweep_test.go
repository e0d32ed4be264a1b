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

// hooks are functions of a test that a worker's stores call, each once. before and after
// run before and after DifferingContacts, which searches for wrong memberships. noting runs
// before Touches, which reads the changed contacts. compiling runs after PredicateSchema,
// which reads the names that predicates may use.
type hooks struct{ before, after, noting, compiling func() }

type hookedStore struct {
	segments.Store
	hooks *hooks
}

func (s hookedStore) PredicateSchema(ctx context.Context, orgID string) (segments.Schema, error) {
	schema, err := s.Store.PredicateSchema(ctx, orgID)
	runOnce(&s.hooks.compiling)
	return schema, err
}

type hookedMembers struct {
	segments.MemberStore
	hooks *hooks
}

func (s hookedMembers) DifferingContacts(ctx context.Context, q segments.Question, segmentID string, limit int) ([]string, error) {
	runOnce(&s.hooks.before)
	differing, err := s.MemberStore.DifferingContacts(ctx, q, segmentID, limit)
	runOnce(&s.hooks.after)
	return differing, err
}

type hookedChanges struct {
	segments.ChangeStore
	hooks *hooks
}

func (s hookedChanges) Touches(ctx context.Context, orgID string, limit int) ([]segments.Touch, error) {
	runOnce(&s.hooks.noting)
	return s.ChangeStore.Touches(ctx, orgID, limit)
}

func runOnce(happens *func()) {
	if f := *happens; f != nil {
		*happens = nil
		f()
	}
}

// segmentsWithHooks returns a second Segments on the same database, which acts as another
// worker. Its stores call the functions of the test during a sweep.
func (w *world) segmentsWithHooks(h hooks) *segments.Segments {
	worker := segments.New(w.Config)
	worker.Store = hookedStore{worker.Store, &h}
	worker.Members = hookedMembers{worker.Members, &h}
	worker.Changes = hookedChanges{worker.Changes, &h}
	return worker
}

// redefinition is a change of what a segment tests. Contact ann is a member before the
// change, and bob after it.
type redefinition struct {
	source string
	// prepare creates everything that the segment's predicate names, and the contacts ann
	// and bob.
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
			must(t, w.db.ActivityProperties().InsertProperty(t.Context(), w.org, w.amount(activities.NumberProperty)))
			w.recordPurchase(t, "ann", `{"amount":1}`)
			w.recordPurchase(t, "bob", `{"amount":"one"}`)
		},
		change: func(t *testing.T, w *world) {
			after := predicate.ActivityProperty{Activity: "purchase", Property: "amount"}
			must(t, w.db.InTx(t.Context(), func(ctx context.Context) error {
				if _, err := w.ApplyPropertyEdit(ctx, w.org, segments.PropertyEdit{Before: after, After: &after, Type: predicate.String}); err != nil {
					return err
				}
				all, err := w.db.ActivityProperties().PropertyPage(ctx, w.org, nil, 1)
				if err != nil {
					return err
				}
				all[0].Type = activities.StringProperty
				return w.db.ActivityProperties().UpdateProperty(ctx, w.org, all[0])
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

// TestWhatChangesDuringASweepIsNotLost makes each change in redefinitions while a sweep
// evaluates all contacts. The changes are to the segment's predicate, or to an attribute,
// property, topic, list or segment that it tests. The test checks that the segment finally
// has the members that match after the change.
func TestWhatChangesDuringASweepIsNotLost(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		for name, tc := range redefinitions {
			for when, hook := range map[string]func(*hooks, func()){
				"before contacts are looked for": func(h *hooks, f func()) { h.before = f },
				"after contacts are looked for":  func(h *hooks, f func()) { h.after = f },
			} {
				t.Run(name+" "+when, func(t *testing.T) {
					w := newWorld(t, w.db)
					tc.prepare(t, w)
					w.follow(t)
					w.save(t, "one", tc.source)
					w.advance(time.Second)
					var atSweep hooks
					hook(&atSweep, func() { tc.change(t, w); w.advance(time.Second) })
					must(t, w.segmentsWithHooks(atSweep).Follow(t.Context(), w.org))
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

// TestWorkerWithAnOldDefinitionChangesNothing checks a worker that read a segment's
// definition before it was changed. The worker must not undo the result of the newer
// definition, and must log no wrong entry or exit.
func TestWorkerWithAnOldDefinitionChangesNothing(t *testing.T) {
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
				slow := w.segmentsWithHooks(hooks{before: func() {
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

// TestAPauseDuringASweepIsNoticed pauses and resumes a segment during a sweep, an
// evaluation of all contacts. It checks that the segment is evaluated again, because
// contacts were not evaluated while it was paused.
func TestAPauseDuringASweepIsNoticed(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		pros := w.save(t, "pros", `attr.plan = "pro"`)
		w.advance(time.Second)
		slow := w.segmentsWithHooks(hooks{after: func() {
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

// TestChangedContactsAreEvaluatedByNewerDefinitions makes a segment active after the
// worker has read the changed contacts and before it reads the definitions. It checks
// that the contacts are evaluated for the segment.
func TestChangedContactsAreEvaluatedByNewerDefinitions(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		pros := w.save(t, "pros", `attr.plan = "pro"`)
		_, err := w.SetStatus(t.Context(), w.org, pros.ID, segments.Paused)
		must(t, err)
		slow := w.segmentsWithHooks(hooks{noting: func() {
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

// TestSegmentsFollowTheSegmentsTheyTest evaluates all contacts. It checks that contacts
// that enter or leave a segment also enter or leave the segments that test it, directly or
// through other segments.
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
		if notes, err := w.Changes.Touches(t.Context(), w.org, 10); err != nil || len(notes) != 0 {
			t.Errorf("%d notes are left, %v", len(notes), err)
		}
		// The segment inner is paused and keeps its members. The segments that test it are
		// evaluated with these members.
		_, err := w.SetStatus(t.Context(), w.org, inner.ID, segments.Paused)
		must(t, err)
		w.put(t, "bob", map[string]any{"plan": "pro"})
		w.put(t, "cid", map[string]any{"plan": "free"})
		w.follow(t)
		w.wantMembers(t, "inner", "bob")
		w.wantMembers(t, "outer", "ann", "cid")
		// The segment inner is archived. The segment that tests it becomes invalid and keeps
		// its members.
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
		// The segment outer tests the members that the invalid segment middle keeps.
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

// changeAttribute replaces the definition of an attribute and reports the change to
// segments, in one transaction as attributes_update does.
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

// pass converts the attribute values of stored contacts to the registered types, as the
// background job does after an attribute's type changed.
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

// recordPurchase records an activity "purchase" of a contact with these properties, at the
// present time.
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

// choice returns the status as an explicit choice about the topic news.
func choice(s sending.Subscription) []topics.Preference {
	return []topics.Preference{{Topic: "news", SubscriptionStatus: s}}
}

// TestTheLogReadsInTheOrderOfWhatHappened checks that the time of a log entry is read after
// the worker has locked the segment, and not when the worker begins. Otherwise it could be
// earlier than the time of an entry that another job stored first.
func TestTheLogReadsInTheOrderOfWhatHappened(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		w.save(t, "pros", `attr.plan = "pro"`)
		w.follow(t)
		w.put(t, "ann", map[string]any{"plan": "pro"})
		slow := w.segmentsWithHooks(hooks{after: func() {
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
