package activities_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/activities"
	"github.com/mailhelm/mailhelm/core/contacts"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

const amount = `"activity_name":"purchase","property":"amount","type":"number","description":"In cents"`

func TestPropertiesArePromotedChangedAndEnded(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, db *storage.DB) {
		b := setup(t, db)
		p := want[activities.Property](t, b, "activity_properties_create", "{%s}", amount)
		if p.Origin != activities.Managed || p.Type != activities.NumberProperty || p.ActivityName != "purchase" || p.Property != "amount" || p.Description != "In cents" {
			t.Errorf("%+v", p)
		}
		b.wantRefusal(t, core.CodeConflict, "activity_properties_create", "{"+amount+"}")
		other := want[activities.Property](t, b, "activity_properties_create", `{"activity_name":"purchase","property":"Order id","type":"string"}`)
		if got := want[activities.Property](t, b, "activity_properties_get", `{"id":%q}`, p.ID); !cmp.Equal(got, p) {
			t.Error(cmp.Diff(p, got))
		}
		first := want[core.Page[activities.Property]](t, b, "activity_properties_list", `{"limit":1}`)
		rest := want[core.Page[activities.Property]](t, b, "activity_properties_list", `{"limit":1,"cursor":%q}`, first.Next)
		if diff := cmp.Diff([]activities.Property{other, p}, append(first.Items, rest.Items...)); diff != "" || rest.Next != "" {
			t.Error(diff)
		}
		b.advance(1)
		changed := want[activities.ChangedProperty](t, b, "activity_properties_replace", `{"id":%q,"activity_name":"purchase","property":"amount","type":"number"}`, p.ID)
		if changed.MutationClass != activities.Free || changed.Impact != nil || changed.Description != "" || changed.ID != p.ID || !changed.CreatedAt.Equal(p.CreatedAt) {
			t.Errorf("%+v", changed)
		}
		b.wantRefusal(t, core.CodeConflict, "activity_properties_replace", fmt.Sprintf(`{"id":%q,%s}`, other.ID, amount))
		ended := want[activities.Mutation](t, b, "activity_properties_delete", `{"id":%q}`, p.ID)
		if diff := cmp.Diff(activities.Mutation{MutationClass: activities.Disruptive, Impact: &activities.Impact{AffectedSegments: []activities.AffectedSegment{}}}, ended); diff != "" {
			t.Error(diff)
		}
		for _, name := range []string{"activity_properties_get", "activity_properties_delete"} {
			b.wantRefusal(t, core.CodeNotFound, name, `{"id":"`+p.ID+`"}`)
		}
		b.wantRefusal(t, core.CodeNotFound, "activity_properties_replace", `{"id":"`+p.ID+`",`+amount+`}`)
	})
}

func TestAffectedSegmentsGetThePropertyChange(t *testing.T) {
	t.Parallel()
	asked := activities.PropertyChange{}
	affected := []activities.AffectedSegment{{ID: core.NewID(), Name: "Big spenders"}}
	b := setup(t, storagetest.SQLite(t), func(cfg *activities.Config) {
		cfg.AffectedSegments = func(_ context.Context, _ string, change activities.PropertyChange) ([]activities.AffectedSegment, error) {
			asked = change
			if change.After != nil && change.After.Property == "broken" {
				return nil, errors.New("cannot tell")
			}
			return affected, nil
		}
	})
	p := want[activities.Property](t, b, "activity_properties_create", "{%s}", amount)
	for i := range 7 {
		b.record(t, `{"name":"purchase","email":"buyer%d@example.com","properties":{"amount":5}}`, i)
	}
	for _, tc := range []struct {
		to    string
		class activities.MutationClass
	}{
		{`"activity_name":"purchase","property":"amount","type":"number","description":"In cents"`, activities.Free},
		{`"activity_name":"purchase","property":"amount","type":"number","description":"Other"`, activities.Free},
		{`"activity_name":"purchase","property":"amount","type":"string"`, activities.Disruptive},
		{`"activity_name":"purchase","property":"price","type":"number"`, activities.Disruptive},
		{`"activity_name":"order","property":"amount","type":"number"`, activities.Disruptive},
	} {
		got := want[activities.Mutation](t, b, "activity_properties_preview", `{"id":%q,%s}`, p.ID, tc.to)
		if got.MutationClass != tc.class || (got.Impact != nil) != (tc.class == activities.Disruptive) {
			t.Errorf("%s: %+v", tc.to, got)
		}
		if got.Impact != nil && (got.Impact.ProjectedDropout != 7 || !cmp.Equal(got.Impact.AffectedSegments, affected) || asked.Before.ID != p.ID || asked.After.ID != p.ID || !asked.Preview) {
			t.Errorf("%s: %+v of %+v", tc.to, got.Impact, asked)
		}
	}
	if got := want[activities.Property](t, b, "activity_properties_get", `{"id":%q}`, p.ID); !cmp.Equal(got, p) {
		t.Errorf("a preview changed %s", cmp.Diff(p, got))
	}
	if _, err := b.run(t.Context(), "activity_properties_replace", `{"id":"`+p.ID+`","activity_name":"purchase","property":"broken","type":"number"}`); err == nil {
		t.Error("a change whose impact is unknown was made")
	}
	previewed, err := b.activities.PreviewPropertyDelete(t.Context(), b.org.ID, p.ID)
	if err != nil || !asked.Preview || asked.After != nil || previewed.Impact == nil || previewed.Impact.ProjectedDropout != 7 || len(previewed.Impact.AffectedSegments) != 1 {
		t.Errorf("previewed %+v %v", previewed.Impact, err)
	}
	if want[activities.Mutation](t, b, "activity_properties_delete", `{"id":%q}`, p.ID); asked.After != nil || asked.Preview {
		t.Errorf("%+v", asked)
	}
}

// TestPropertyChangeCountsContactsThatLoseAValue checks the number of contacts that drop
// out: contacts with a value that predicates find before the change and not after it. If
// the property is deleted or renamed, all contacts with a value of its type drop out.
func TestPropertyChangeCountsContactsThatLoseAValue(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, db *storage.DB) {
		b, other := setup(t, db), setup(t, db)
		for _, member := range []string{"amount", `a.b"[0]'é`} {
			quoted, err := json.Marshal(member)
			if err != nil {
				t.Fatal(err)
			}
			for _, at := range []*bundle{b, other} {
				for who, values := range map[string][]string{
					"number": {`1`, `2.5`}, "string": {`"1"`, `""`}, "moment": {`"2026-01-31T09:00:00Z"`}, "bool": {`true`}, "mixed": {`3`, `"3"`, `null`, `false`},
					"none": {`null`, `[1]`, `{"amount":1}`, `1e200`}, "archived": {`1`, `"1"`, `true`},
				} {
					for _, value := range values {
						at.record(t, `{"name":"purchase","email":"%s@example.com","properties":{%s:%s}}`, who, quoted, value)
					}
				}
				at.record(t, `{"name":"purchase","email":"without@example.com","properties":{}}, {"name":"other","email":"other@example.com","properties":{%s:1}}`, quoted)
			}
			archived, err := db.Contacts().ContactByEmail(t.Context(), b.org.ID, "archived@example.com")
			if err != nil {
				t.Fatal(err)
			}
			archived.Status = contacts.Archived
			if err := db.Contacts().UpdateContact(t.Context(), b.org.ID, archived); err != nil {
				t.Fatal(err)
			}
			for from, row := range map[activities.PropertyType]map[activities.PropertyType]int{
				activities.NumberProperty:   {activities.NumberProperty: 0, activities.StringProperty: 2, activities.BoolProperty: 2, activities.DatetimeProperty: 2, "": 2},
				activities.StringProperty:   {activities.NumberProperty: 3, activities.DatetimeProperty: 2, "": 3},
				activities.BoolProperty:     {activities.NumberProperty: 2, "": 2},
				activities.DatetimeProperty: {activities.StringProperty: 0, activities.NumberProperty: 1, "": 1},
			} {
				p := want[activities.Property](t, b, "activity_properties_create", `{"activity_name":"purchase","property":%s,"type":%q}`, quoted, from)
				for to, lost := range row {
					if to == "" {
						for _, renamed := range []string{`"activity_name":"order","property":` + string(quoted), `"activity_name":"purchase","property":"other"`} {
							b.dropsOut(t, lost, "activity_properties_preview", `{"id":%q,%s,"type":%q}`, p.ID, renamed, from)
						}
						continue
					}
					b.dropsOut(t, lost, "activity_properties_preview", `{"id":%q,"activity_name":"purchase","property":%s,"type":%q}`, p.ID, quoted, to)
				}
				b.dropsOut(t, row[""], "activity_properties_delete", `{"id":%q}`, p.ID)
			}
			p := want[activities.Property](t, b, "activity_properties_create", `{"activity_name":"purchase","property":%s,"type":"number"}`, quoted)
			b.dropsOut(t, 2, "activity_properties_replace", `{"id":%q,"activity_name":"purchase","property":%s,"type":"string"}`, p.ID, quoted)
		}
	})
}

// dropsOut runs a change or a preview of a property. It checks the number of contacts that
// lose a value, as the result reports it. A result without that number counts as 0.
func (b *bundle) dropsOut(t *testing.T, lost int, name, arguments string, values ...any) {
	t.Helper()
	out, err := b.run(t.Context(), name, fmt.Sprintf(arguments, values...))
	if err != nil {
		t.Fatalf("%s(%s): %v", name, fmt.Sprintf(arguments, values...), err)
	}
	var impact *activities.Impact
	switch out := out.(type) {
	case activities.Mutation:
		impact = out.Impact
	case activities.ChangedProperty:
		impact = out.Impact
	}
	got := 0
	if impact != nil {
		got = impact.ProjectedDropout
	}
	if got != lost {
		t.Errorf("%s(%s): %d drop out, want %d", name, fmt.Sprintf(arguments, values...), got, lost)
	}
}

// TestContactsThatLoseAValueAreCountedAgainInTheTransaction changes a property between
// Prepare, which counts the contacts that lose a value, and Do. It checks that Do counts
// them again.
func TestContactsThatLoseAValueAreCountedAgainInTheTransaction(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, db *storage.DB) {
		b := setup(t, db)
		b.record(t, `{"name":"purchase","email":"ann@example.com","properties":{"amount":5,"price":"5"}}`)
		b.record(t, `{"name":"purchase","email":"bob@example.com","properties":{"amount":5}}`)
		p := want[activities.Property](t, b, "activity_properties_create", "{%s}", amount)
		op, call := b.ops["activity_properties_delete"], &core.Call{Principal: core.Principal{Org: b.org}, Now: b.clock()}
		defer call.Finish()
		in, err := op.Decode(core.REST, []byte(`{"id":"`+p.ID+`"}`))
		if err != nil {
			t.Fatal(err)
		}
		if in, err = op.Prepare(t.Context(), call, in); err != nil {
			t.Fatal(err)
		}
		b.dropsOut(t, 2, "activity_properties_replace", `{"id":%q,"activity_name":"purchase","property":"price","type":"string"}`, p.ID)
		var out any
		err = db.InTx(t.Context(), func(ctx context.Context) error {
			out, err = op.Do(ctx, call, in)
			return err
		})
		if err != nil || out.(activities.Mutation).Impact.ProjectedDropout != 1 {
			t.Errorf("%+v, %v", out, err)
		}
	})
}

func TestPropertiesOfARepositoryAreReadOnly(t *testing.T) {
	t.Parallel()
	b := setup(t, storagetest.SQLite(t))
	p := activities.Property{ID: core.NewID(), ActivityName: "purchase", Property: "amount", Type: activities.NumberProperty, Origin: activities.Git, CreatedAt: b.now, UpdatedAt: b.now}
	if err := b.db.ActivityProperties().InsertProperty(t.Context(), b.org.ID, p); err != nil {
		t.Fatal(err)
	}
	b.wantRefusal(t, core.CodeConflict, "activity_properties_replace", `{"id":"`+p.ID+`",`+amount+`}`)
	b.wantRefusal(t, core.CodeConflict, "activity_properties_delete", `{"id":"`+p.ID+`"}`)
}

func TestPropertiesHaveBounds(t *testing.T) {
	t.Parallel()
	b := setup(t, storagetest.SQLite(t))
	for _, definition := range []string{
		`{}`, `{"activity_name":"","property":"a","type":"number"}`, `{"activity_name":"a","property":" ","type":"number"}`,
		`{"activity_name":"\t","property":"a","type":"number"}`, `{"activity_name":"a","property":"b","type":"enum"}`,
		`{"activity_name":"a","property":"b","type":"number","origin":"git"}`, `{"activity_name":"a\u0000","property":"b","type":"number"}`,
	} {
		b.wantRefusal(t, core.CodeValidationFailed, "activity_properties_create", definition)
	}
	b.wantRefusal(t, core.CodeNotFound, "activity_properties_get", `{"id":"x"}`)
}
