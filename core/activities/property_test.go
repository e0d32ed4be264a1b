package activities_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/activities"
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
		b.refused(t, core.CodeConflict, "activity_properties_create", "{"+amount+"}")
		other := want[activities.Property](t, b, "activity_properties_create", `{"activity_name":"purchase","property":"Order id","type":"string"}`)
		if got := want[activities.Property](t, b, "activity_properties_get", `{"id":%q}`, p.ID); !cmp.Equal(got, p) {
			t.Error(cmp.Diff(p, got))
		}
		first := want[core.Page[activities.Property]](t, b, "activity_properties_list", `{"limit":1}`)
		rest := want[core.Page[activities.Property]](t, b, "activity_properties_list", `{"limit":1,"cursor":%q}`, first.Next)
		if diff := cmp.Diff([]activities.Property{other, p}, append(first.Items, rest.Items...)); diff != "" || rest.Next != "" {
			t.Error(diff)
		}
		if all, err := db.Activities().Properties(t.Context(), b.org.ID); err != nil || len(all) != 2 || all[0].ID != other.ID {
			t.Errorf("%+v, %v", all, err)
		}
		b.advance(1)
		changed := want[activities.ChangedProperty](t, b, "activity_properties_replace", `{"id":%q,"activity_name":"purchase","property":"amount","type":"number"}`, p.ID)
		if changed.MutationClass != activities.Free || changed.Impact != nil || changed.Description != "" || changed.ID != p.ID || !changed.CreatedAt.Equal(p.CreatedAt) {
			t.Errorf("%+v", changed)
		}
		b.refused(t, core.CodeConflict, "activity_properties_replace", fmt.Sprintf(`{"id":%q,%s}`, other.ID, amount))
		ended := want[activities.Mutation](t, b, "activity_properties_delete", `{"id":%q}`, p.ID)
		if diff := cmp.Diff(activities.Mutation{MutationClass: activities.Disruptive, Impact: &activities.Impact{AffectedSegments: []activities.AffectedSegment{}}}, ended); diff != "" {
			t.Error(diff)
		}
		for _, name := range []string{"activity_properties_get", "activity_properties_delete"} {
			b.refused(t, core.CodeNotFound, name, `{"id":"`+p.ID+`"}`)
		}
		b.refused(t, core.CodeNotFound, "activity_properties_replace", `{"id":"`+p.ID+`",`+amount+`}`)
	})
}

func TestWhatAChangeIs(t *testing.T) {
	t.Parallel()
	asked := activities.PropertyChange{}
	impact := activities.Impact{ProjectedDropout: 7, AffectedSegments: []activities.AffectedSegment{{ID: core.NewID(), Name: "Big spenders"}}}
	b := setup(t, storagetest.SQLite(t), func(cfg *activities.Config) {
		cfg.Affected = func(_ context.Context, _ string, change activities.PropertyChange) (activities.Impact, error) {
			asked = change
			if change.After != nil && change.After.Property == "broken" {
				return activities.Impact{}, errors.New("cannot tell")
			}
			return impact, nil
		}
	})
	p := want[activities.Property](t, b, "activity_properties_create", "{%s}", amount)
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
		if got.Impact != nil && (got.Impact.ProjectedDropout != 7 || asked.Before.ID != p.ID || asked.After.ID != p.ID || !asked.Preview) {
			t.Errorf("%s: %+v of %+v", tc.to, got.Impact, asked)
		}
	}
	if got := want[activities.Property](t, b, "activity_properties_get", `{"id":%q}`, p.ID); !cmp.Equal(got, p) {
		t.Errorf("a preview changed %s", cmp.Diff(p, got))
	}
	if _, err := b.run(t.Context(), "activity_properties_replace", `{"id":"`+p.ID+`","activity_name":"purchase","property":"broken","type":"number"}`); err == nil {
		t.Error("a change whose impact cannot be told was made")
	}
	if want[activities.Mutation](t, b, "activity_properties_delete", `{"id":%q}`, p.ID); asked.After != nil || asked.Preview {
		t.Errorf("%+v", asked)
	}
}

func TestPropertiesOfARepositoryAreReadOnly(t *testing.T) {
	t.Parallel()
	b := setup(t, storagetest.SQLite(t))
	p := activities.Property{ID: core.NewID(), ActivityName: "purchase", Property: "amount", Type: activities.NumberProperty, Origin: activities.Git, CreatedAt: b.now, UpdatedAt: b.now}
	if err := b.db.Activities().InsertProperty(t.Context(), b.org.ID, p); err != nil {
		t.Fatal(err)
	}
	b.refused(t, core.CodeConflict, "activity_properties_replace", `{"id":"`+p.ID+`",`+amount+`}`)
	b.refused(t, core.CodeConflict, "activity_properties_delete", `{"id":"`+p.ID+`"}`)
}

func TestPropertiesHaveBounds(t *testing.T) {
	t.Parallel()
	b := setup(t, storagetest.SQLite(t))
	for _, definition := range []string{
		`{}`, `{"activity_name":"","property":"a","type":"number"}`, `{"activity_name":"a","property":" ","type":"number"}`,
		`{"activity_name":"\t","property":"a","type":"number"}`, `{"activity_name":"a","property":"b","type":"enum"}`,
		`{"activity_name":"a","property":"b","type":"number","origin":"git"}`, `{"activity_name":"a\u0000","property":"b","type":"number"}`,
	} {
		b.refused(t, core.CodeValidationFailed, "activity_properties_create", definition)
	}
	b.refused(t, core.CodeValidationFailed, "activity_properties_get", `{"id":"x"}`)
}
