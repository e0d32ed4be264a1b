package contacts_test

import (
	"testing"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/contacts"
	contactstore "github.com/mailhelm/mailhelm/storage/contacts"
	"github.com/mailhelm/mailhelm/storage/engine"
	"github.com/mailhelm/mailhelm/storage/storagetest"
	"github.com/mailhelm/mailhelm/storage/storagetest/placement"
)

// TestSearchesHaveOnePlace checks that the SQL of each filter of a search is about one
// organization. The SQL is composed, so that it is not among the registered statements.
func TestSearchesHaveOnePlace(t *testing.T) {
	t.Parallel()
	conn, err := storagetest.Postgres(t).Writer().Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }() // the database is dropped
	places, err := placement.Open(t.Context(), conn)
	if err != nil {
		t.Fatal(err)
	}
	for name, search := range map[string]contacts.Search{
		"all":         {},
		"archived":    {State: contacts.OnlyArchived},
		"mailable":    {State: contacts.OnlyMailable},
		"not mailed":  {State: contacts.Unmailable},
		"of list":     {List: core.NewID()},
		"of segment":  {Segment: core.NewID()},
		"of topic":    {Topic: "news"},
		"attribute":   {AttributeKey: "plan", AttributeValue: "pro"},
		"text":        {Text: "ada"},
		"id":          {Text: core.NewID()},
		"all filters": {State: contacts.Unmailable, List: core.NewID(), Segment: core.NewID(), Topic: "news", AttributeKey: "plan", AttributeValue: "pro", Text: "ada"},
	} {
		text, err := contactstore.SearchSQL(core.NewID(), contacts.SearchFilter{Search: search, Names: []string{"first_name", "last_name"}})
		if err != nil {
			t.Fatal(err)
		}
		faults, err := places.Faults(t.Context(), engine.PostgreSQL.Text(text))
		if err != nil || len(faults) > 0 {
			t.Errorf("%s: %v %v\n%s", name, faults, err, text)
		}
	}
}
