package rest_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/mailhelm/mailhelm/conformance/product"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/lists"
	"github.com/mailhelm/mailhelm/core/topics"
)

// TestWhatARepositoryDefinesIsReadOnly checks that topics and lists that a Git repository
// defines cannot be changed over the API, and that their names are taken. Other topics and
// lists can be changed. The members of lists from a repository can be changed too.
func TestWhatARepositoryDefinesIsReadOnly(t *testing.T) {
	t.Parallel()
	product.Once(t, func(t *testing.T, p *product.Product) {
		a := on(t, p)
		var list struct {
			ID, Key, Origin string
			SourcePath      string `json:"source_path"`
		}
		for _, statement := range []string{
			`UPDATE topics SET origin = 'git' WHERE org_id = $1 AND name = 'offers'`,
			`UPDATE lists SET origin = 'git', source_path = 'audience/lists.json' WHERE org_id = $1 AND key = 'newsletter'`,
		} {
			if done, err := p.SQL(t).ExecContext(t.Context(), statement, p.OrgID); err != nil {
				t.Fatal(err)
			} else if n, err := done.RowsAffected(); n != 1 || err != nil {
				t.Fatalf("%d rows, %v: %s", n, err, statement)
			}
		}
		a.do(t, "GET", "/v1/lists/newsletter", "").want(200).decode(&list)
		if list.Origin != "git" || list.SourcePath != "audience/lists.json" {
			t.Errorf("%+v", list)
		}
		before, err := p.Simulator.ContactList(t.Context(), p.OrgID)
		if err != nil {
			t.Fatal(err)
		}
		for _, refused := range [][3]string{
			{"POST", "/v1/topics", `{"name":"offers","default_subscription_status":"OPT_IN"}`},
			{"PUT", "/v1/topics/offers", `{"display_name":"Ours"}`},
			{"DELETE", "/v1/topics/offers", ""},
			{"POST", "/v1/lists", `{"name":"Newsletter"}`},
			{"POST", "/v1/lists", `{"name":"Other","key":"newsletter"}`},
			{"PUT", "/v1/lists/newsletter", `{"name":"Ours"}`},
			{"PUT", "/v1/lists/" + list.ID, `{}`},
			{"DELETE", "/v1/lists/newsletter", ""},
			{"DELETE", "/v1/lists/" + list.ID, ""},
		} {
			a.do(t, refused[0], refused[1], refused[2]).refused(409, core.CodeConflict)
		}
		after, err := p.Simulator.ContactList(t.Context(), p.OrgID)
		if err != nil || !slices.Equal(before.Topics, after.Topics) {
			t.Errorf("the account's topics became %+v, %v", after.Topics, err)
		}
		a.do(t, "PUT", "/v1/topics/events", `{"display_name":"Events"}`).want(200)
		a.do(t, "PUT", "/v1/lists/app-testers", `{"name":"Testers"}`).want(200)
		c := a.do(t, "POST", "/v1/contacts", `{"email":"git@example.com","topic_preferences":{"offers":"OPT_IN"},"lists":{"add":["newsletter"]}}`).want(201).contact()
		if len(c.Lists) != 1 || len(c.TopicPreferences) != 1 {
			t.Errorf("%+v", c)
		}
		var topics struct{ Data []topics.Topic }
		a.do(t, "GET", "/v1/topics", "").want(200).decode(&topics)
		for _, topic := range topics.Data {
			if (topic.Origin == core.GitOrigin) != (topic.Name == "offers") {
				t.Errorf("%+v", topic)
			}
		}
	})
}

// TestFiftyTopics checks that an organization may have 50 topics and no more. After a
// deletion, another topic can be created.
func TestFiftyTopics(t *testing.T) {
	t.Parallel()
	product.Once(t, func(t *testing.T, p *product.Product) {
		a := on(t, p)
		topic := func(name string) string {
			return `{"name":"` + name + `","default_subscription_status":"OPT_IN"}`
		}
		count := func() int {
			var topics struct{ Data []any }
			a.do(t, "GET", "/v1/topics", "").want(200).decode(&topics)
			return len(topics.Data)
		}
		for n := count(); n < 50; n++ {
			a.do(t, "POST", "/v1/topics", topic(fmt.Sprint("topic-", n))).want(201)
		}
		a.do(t, "POST", "/v1/topics", topic("one-more")).refused(422, core.CodeValidationFailed)
		if n := count(); n != 50 {
			t.Errorf("%d topics", n)
		}
		a.do(t, "PUT", "/v1/topics/topic-49", `{"default_subscription_status":"OPT_OUT"}`).want(200)
		a.do(t, "DELETE", "/v1/topics/topic-49", "").want(204)
		a.do(t, "POST", "/v1/topics", topic("one-more")).want(201)
	})
}

// TestAThousandLists checks that an organization may have 1,000 static lists and no more.
func TestAThousandLists(t *testing.T) {
	t.Parallel()
	product.Once(t, func(t *testing.T, p *product.Product) {
		fresh, org := on(t, p).anotherOrg(t, false)
		err := p.DB.InTx(t.Context(), func(ctx context.Context) error {
			for i := range 999 {
				if err := p.DB.Lists().InsertList(ctx, org.ID, lists.List{
					ID: core.NewID(), Key: fmt.Sprint("list-", i), Name: "L", Source: "api", Origin: core.ManagedOrigin, Status: "active",
					CreatedAt: p.Clock.Now(), UpdatedAt: p.Clock.Now(),
				}); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		fresh.do(t, "POST", "/v1/lists", `{"name":"The last"}`).want(201)
		fresh.do(t, "POST", "/v1/lists", `{"name":"One more"}`).refused(422, core.CodeValidationFailed)
		fresh.do(t, "DELETE", "/v1/lists/list-7", "").want(204)
		fresh.do(t, "POST", "/v1/lists", `{"name":"One more"}`).want(201)
	})
}
