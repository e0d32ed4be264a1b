package audience_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/audience"
	"github.com/mailhelm/mailhelm/core/sending"
)

// Whoever follows the audience hears of every write of a contact once, and of none
// that was refused or had nothing to do.
func TestEveryWriteTellsWhoChanged(t *testing.T) {
	t.Parallel()
	b := setup(t)
	made := b.want(t, "contacts_create", `{"email":"ada@example.com"}`)
	ada := []string{b.org.ID + "/" + made["id"].(string)}
	for _, step := range []struct {
		name, arguments string
		told            []string
	}{
		{"contacts_lookup", `{"email":"ada@example.com"}`, ada}, // of the create before
		{"contacts_update", `{"email":"ada@example.com","lists":{"add":["beta"]}}`, ada},
		{"contacts_replace", `{"email":"ada@example.com"}`, ada},
		{"contacts_upsert", `{"email":"ada@example.com","external_id":"1"}`, ada},
		{"contacts_upsert_by_external_id", `{"external_id":"1","unsubscribe_all":true}`, ada},
		{"contacts_set_list_membership", `{"contact":"1","remove":["beta"]}`, ada},
		{"contacts_identify", `{"external_id":"1"}`, nil},
		{"contacts_archive", `{"email":"ada@example.com"}`, ada},
		{"contacts_archive", `{"email":"ada@example.com"}`, nil},
		{"contacts_archive_by_external_id", `{"external_id":"nobody"}`, nil},
		{"contacts_upsert", `{"external_id":"1"}`, ada},
		{"contacts_archive_by_external_id", `{"external_id":"1"}`, ada},
		{"lists_update", `{"id":"beta","name":"B"}`, nil},
	} {
		b.surface = core.REST
		if step.name == "contacts_upsert" {
			b.surface = core.Agent
		}
		b.want(t, step.name, step.arguments)
		if got := b.noted(); !cmp.Equal(got, step.told) {
			t.Errorf("%s %s told of %v, want %v", step.name, step.arguments, got, step.told)
		}
	}
	b.refuse(t, "contacts_update", `{"email":"nobody@example.com"}`, core.CodeNotFound)
	b.refuse(t, "contacts_create", `{"email":"new@example.com","lists":{"add":["nowhere"]}}`, core.CodeValidationFailed)
	if got := b.noted(); got != nil {
		t.Errorf("refusals told of %v", got)
	}
	b.advance(time.Minute)
	if err := b.account.PutContact(t.Context(), b.org.ID, sending.Contact{Email: "stranger@example.com"}); err != nil {
		t.Fatal(err)
	}
	b.syncLater(t)
	if got := b.noted(); len(got) != 1 || got[0] == ada[0] {
		t.Errorf("a sync told of %v", got)
	}
	b.syncLater(t)
	if got := b.noted(); got != nil {
		t.Errorf("a sync that found nothing told of %v", got)
	}
}

// Whoever reads definitions hears of lists that go before they go, and can keep them.
func TestADeletedListIsToldOf(t *testing.T) {
	t.Parallel()
	b := setup(t)
	var told []audience.Redefinition
	var refusal error
	b.audience.Redefined = func(_ context.Context, orgID string, what audience.Redefinition) error {
		if orgID != b.org.ID {
			t.Errorf("told of organization %s", orgID)
		}
		told = append(told, what)
		return refusal
	}
	id := b.want(t, "lists_get", `{"id":"beta"}`)["id"].(string)
	refusal = errors.New("no")
	b.refuse(t, "lists_delete", `{"id":"beta"}`, core.CodeInternalError)
	refusal = nil
	b.want(t, "lists_delete", `{"id":"beta"}`)
	b.refuse(t, "lists_delete", `{"id":"beta"}`, core.CodeNotFound)
	want := audience.Redefinition{GoneLists: []string{id}}
	if diff := cmp.Diff([]audience.Redefinition{want, want}, told); diff != "" {
		t.Error(diff)
	}
}

// So it is with topics, whoever changed them: a call, or somebody at the account.
func TestChangedTopicsAreToldOf(t *testing.T) {
	t.Parallel()
	b := setup(t)
	var told []audience.Redefinition
	b.audience.Redefined = func(_ context.Context, _ string, what audience.Redefinition) error {
		told = append(told, what)
		return nil
	}
	b.syncLater(t) // the mirror learns the topics
	for _, step := range []struct {
		name, arguments string
		want            []audience.Redefinition
	}{
		{"topics_create", `{"name":"tips","default_subscription_status":"OPT_IN"}`, nil},
		{"topics_update", `{"name":"tips","description":"Weekly"}`, nil},
		{"topics_update", `{"name":"tips","default_subscription_status":"OPT_IN"}`, nil},
		{"topics_update", `{"name":"tips","default_subscription_status":"OPT_OUT"}`, []audience.Redefinition{{TurnedTopics: []string{"tips"}}}},
		{"topics_delete", `{"name":"tips"}`, []audience.Redefinition{{GoneTopics: []string{"tips"}}}},
	} {
		told = nil
		b.want(t, step.name, step.arguments)
		if diff := cmp.Diff(step.want, told); diff != "" {
			t.Errorf("%s %s (-want +told):\n%s", step.name, step.arguments, diff)
		}
	}
	told = nil
	b.syncLater(t)
	err := b.account.ChangeTopics(t.Context(), b.org.ID, func([]sending.Topic) ([]sending.Topic, error) {
		return []sending.Topic{{Name: "news", DisplayName: "News", Default: sending.OptOut}}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	b.syncLater(t)
	b.syncLater(t)
	if diff := cmp.Diff([]audience.Redefinition{{GoneTopics: []string{"offers"}, TurnedTopics: []string{"news"}}}, told); diff != "" {
		t.Errorf("by syncs (-want +told):\n%s", diff)
	}
}
