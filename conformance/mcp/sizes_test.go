package mcp_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/conformance/ordinary"
	"github.com/mailhelm/mailhelm/conformance/product"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/attributes"
	"github.com/mailhelm/mailhelm/core/catalogue"
	"github.com/mailhelm/mailhelm/core/lists"
	"github.com/mailhelm/mailhelm/storage/engine/enginetest"
	validator "github.com/santhosh-tekuri/jsonschema/v6"
)

const (
	hardCap   = 32 << 10
	usualSize = 8 << 10
)

// parts returns the lengths of a result's text and of its structured content, both as JSON
// and in bytes.
func parts(t *testing.T, body string) (int, int) {
	t.Helper()
	var answer struct {
		Result struct {
			Content []struct {
				Text json.RawMessage `json:"text"`
			} `json:"content"`
			Structured json.RawMessage `json:"structuredContent"`
		} `json:"result"`
	}
	if err := json.Unmarshal([]byte(body), &answer); err != nil || len(answer.Result.Content) != 1 {
		t.Fatalf("no result: %v %.200s", err, body)
	}
	return len(answer.Result.Content[0].Text), len(answer.Result.Structured)
}

// schemasOf returns the compiled output schema of every listed tool, by name.
func schemasOf(t *testing.T, p *product.Product, token string) map[string]*validator.Schema {
	t.Helper()
	compiled := map[string]*validator.Schema{}
	listed := post(t, p, token, revision, `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
	for _, entry := range listed.Result["tools"].([]any) {
		described := entry.(map[string]any)
		c := validator.NewCompiler()
		if err := c.AddResource("schema.json", described["outputSchema"]); err != nil {
			t.Fatal(err)
		}
		compiled[described["name"].(string)] = c.MustCompile("schema.json")
	}
	return compiled
}

// dayOfCalls returns the arguments of typical valid and invalid calls, by tool. known is
// the address of an existing contact.
func dayOfCalls(known string) map[string][]string {
	return map[string][]string{
		"contacts_lookup":              {`{"email":"` + known + `"}`, `{"external_id":"customer-1001"}`, `{"email":"nobody@example.com"}`, `{}`},
		"contacts_set_list_membership": {`{"contact":"` + known + `","add":["newsletter"]}`, `{"contact":"nobody@example.com","add":["newsletter"]}`, `{"contact":"x"}`},
		"lists_list":                   {`{}`, `{"query":"news"}`, `{"limit":200}`, `{"limit":0}`},
		"audience_get_schema":          {`{}`},
		"sending_readiness_check":      {`{}`, `{"channel":"marketing"}`, `{"channel":"none"}`},
		"contacts_upsert": {
			`{"email":"new@example.com","attributes":{"first_name":"Ann"}}`, `{"email":"new@example.com","attributes":{"firstname":"Ann"}}`,
			`{"external_id":"customer-1002","unsubscribe_all":true}`,
		},
		"contacts_archive":           {`{"external_id":"customer-1003"}`, `{"email":"nobody@example.com"}`},
		"suppressions_list":          {`{}`, `{"reason":"complaint"}`, `{"limit":51}`},
		"suppressions_check_address": {`{"email":"` + known + `"}`, `{"email":"nobody"}`},
		"undeliverable_list":         {`{}`, `{"since":"2999-01-01T00:00:00Z"}`, `{"since":"yesterday"}`},
		"messages_search":            {`{}`, `{"status":"Bounce"}`, `{"from":"2001-01-01T00:00:00Z"}`},
		"messages_diagnose":          {`{"message_id":"none"}`, `{}`},
		"templates_list":             {`{}`, `{"query":"welcome"}`, `{"tag":"none"}`},
		"templates_author":           {`{"slug":"harvest","html":"<p>Hello {{first_name}}</p>"}`, `{"slug":"harvest","html":"<p>{{#if a}}{{lookup b}}</p>"}`, `{"slug":"harvest","html":"<p>1</p>","base_content_hash":"none"}`},
		"templates_render":           {`{"slug":"welcome","data":{"first_name":"Ann"}}`, `{"slug":"none"}`, `{}`},

		"templates_test_send":   {`{"slug":"welcome","recipients":["ann@example.com"]}`, `{"slug":"none","recipients":["ann@example.com"]}`},
		"broadcasts_compose":    {`{"name":"News","html":"<p>Hello {{first_name}}</p>","subject":"Hello","audience_kind":"list","audience_id":"newsletter"}`, `{"name":"News","audience_kind":"list","audience_id":"none"}`},
		"broadcasts_preview":    {`{"broadcast_id":"none"}`},
		"broadcasts_test_send":  {`{"broadcast_id":"none","recipients":["ann@example.com"]}`, `{"broadcast_id":"none","recipients":["ann"]}`},
		"broadcasts_send":       {`{"broadcast_id":"none"}`},
		"broadcasts_get_status": {`{"broadcast_id":"none"}`},

		"workflows_author": {
			`{"key":"thanks","source":"workflow \"Thanks\" v1 { enter on activity.order_placed wait 3 days send \"welcome\" }"}`, `{"key":"thanks","source":"workflow"}`,
		},
		"workflows_get_performance":     {`{}`, `{"workflow":"thanks","include_source":true}`, `{"workflow":"none"}`},
		"workflows_dry_run":             {`{"workflow":"thanks","contact_id":"none"}`, `{"source":"workflow","contact_id":"none"}`},
		"workflows_estimate_enrollment": {`{"workflow":"thanks"}`, `{"source":"workflow \"Thanks\" v1 { enter on activity.order_placed wait 3 days }"}`},
		"workflows_activate":            {`{"workflow":"thanks"}`},

		"segments_list":              {`{}`, `{"query":"trial"}`, `{"status":"none"}`},
		"segments_preview_predicate": {`{"source":"has attr.first_name"}`, `{"source":"attr.first_nam = \"x\""}`, `{"source":"("}`},
		"activities_record": {
			`{"activities":[{"name":"signed_up","email":"` + known + `","properties":{"plan":"pro"}},{"name":"","email":"` + known + `"}]}`,
			`{"activities":[]}`,
		},

		"reports_get_sending_health": {`{}`, `{"identity":"shop.example","group_by":"week"}`, `{"channel":"none"}`},
	}
}

// ordinaryArguments returns valid arguments for a tool for which the function dayOfCalls
// returns none. It fails the test if it cannot derive them from the schema.
func ordinaryArguments(t *testing.T, name, known string) string {
	t.Helper()
	for _, op := range catalogue.Operations(catalogue.Domains{}) {
		if op.Info().Name != name {
			continue
		}
		c, err := ordinary.Tool(op, ordinary.Values{"email": known, "contact": known})
		if err != nil {
			t.Fatalf("add the arguments of %s to dayOfCalls in sizes_test.go: %v", name, err)
		}
		return c.Body
	}
	t.Fatalf("%s is no operation", name)
	return ""
}

// TestAnswersAreUsuallySmall checks that in an organization of typical size the 95th
// percentile of result sizes is at most 8 KB.
func TestAnswersAreUsuallySmall(t *testing.T) {
	t.Parallel()
	p := product.Start(t, product.Options{})
	token := "Bearer " + p.Token(t, p.MCPURL)
	schemas := schemasOf(t, p, token)
	var sizes []int
	day := dayOfCalls(p.Contact)
	for name, schema := range schemas {
		if len(day[name]) == 0 {
			day[name] = []string{ordinaryArguments(t, name, p.Contact)}
		}
		for _, arguments := range day[name] {
			got := post(t, p, token, revision, tool(name, arguments, ""))
			if err := schema.Validate(any(got.structured(t))); err != nil {
				t.Errorf("%s%s: %v", name, arguments, err)
			}
			text, structured := parts(t, got.body)
			sizes = append(sizes, text, structured)
		}
	}
	slices.Sort(sizes)
	p95 := sizes[len(sizes)*95/100]
	t.Logf("%d parts of results: median %d, p95 %d, largest %d bytes", len(sizes), sizes[len(sizes)/2], p95, sizes[len(sizes)-1])
	if p95 > usualSize {
		t.Errorf("the 95th percentile is %d bytes, more than %d", p95, usualSize)
	}
}

// fillToMaximum fills an organization with data of maximum size. It creates lists with long
// names, each with the same contact; the parameter count is their number. It also creates
// attributes of many multi-byte characters.
func fillToMaximum(t *testing.T, p *product.Product, count int) {
	t.Helper()
	store, now := p.DB.Contacts(), p.Clock.Now()
	err := p.DB.InTx(t.Context(), func(ctx context.Context) error {
		contact, err := store.ContactByEmail(ctx, p.OrgID, p.Contact)
		if err != nil {
			return err
		}
		var ids []string
		for i := range count {
			l := lists.List{
				ID: core.NewID(), Key: fmt.Sprintf("flood-%d", i), Name: strings.Repeat("😀", 200), Description: strings.Repeat(`<"`, 900),
				Source: "api", Origin: core.ManagedOrigin, Status: "active", CreatedAt: now, UpdatedAt: now,
			}
			if err := p.DB.Lists().InsertList(ctx, p.OrgID, l); err != nil {
				return err
			}
			ids = append(ids, l.ID)
		}
		for i := range 300 {
			a := attributes.Attribute{
				ID: core.NewID(), Name: fmt.Sprintf("flood_%d", i), Type: attributes.Enum, EnumValues: []string{"x"},
				Origin: core.ManagedOrigin, CreatedAt: now, UpdatedAt: now,
			}
			if err := p.DB.Attributes().InsertAttribute(ctx, p.OrgID, a); err != nil {
				return err
			}
			contact.Attributes[a.Name] = strings.Repeat("😀", 1000)
		}
		if err := store.UpdateContact(ctx, p.OrgID, contact); err != nil {
			return err
		}
		_, _, err = p.DB.ListMembers().ReplaceMembership(ctx, p.OrgID, contact.ID, ids, now)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	// Each InsertAttribute reads all definitions, which would be slow with long texts. So
	// the definitions get their long texts only after all of them are inserted.
	values := `["` + strings.Join(slices.Repeat([]string{strings.Repeat("é", 50)}, 30), `","`) + `"]`
	const lengthen = `UPDATE attributes SET enum_values = $1, description = $2 WHERE org_id = $3 AND name LIKE 'flood%'`
	changed, err := p.SQL(t).ExecContext(t.Context(), lengthen, values, strings.Repeat("\u202e<", 500), p.OrgID)
	if err != nil {
		t.Fatal(err)
	}
	if n, err := changed.RowsAffected(); n != 300 || err != nil {
		t.Fatalf("%d attributes changed, %v", n, err)
	}
}

// TestNoAnswerIsTooLarge checks answers in an organization with very much data. Text and
// structured content have at most 32 KB each. The structured content matches the tool's
// schema. The answers of contacts_lookup and lists_list must say how many lists there are.
func TestNoAnswerIsTooLarge(t *testing.T) {
	t.Parallel()
	lists := enginetest.Share(10_000)
	p := product.Start(t, product.Options{})
	fillToMaximum(t, p, lists)
	token := "Bearer " + p.Token(t, p.MCPURL)
	for name, schema := range schemasOf(t, p, token) {
		calls := append(dayOfCalls(p.Contact)[name], `{"limit":200,"query":"flood"}`, `{"email":"`+p.Contact+`","attributes":{"flood_1":"`+strings.Repeat("x", 900)+`"}}`)
		for _, arguments := range calls {
			got := post(t, p, token, revision, tool(name, arguments, ""))
			value := got.structured(t)
			if text, structured := parts(t, got.body); text > hardCap || structured > hardCap {
				t.Errorf("%s%.60s: text of %d, structured content of %d bytes", name, arguments, text, structured)
			}
			if err := schema.Validate(any(value)); err != nil {
				t.Errorf("%s%.60s: %v", name, arguments, err)
			}
		}
	}
	found := post(t, p, token, revision, tool("contacts_lookup", `{"email":"`+p.Contact+`"}`, "")).structured(t)
	// The contact is on one list more than fillToMaximum has created, because a call above
	// added it to another list.
	if shortened := fmt.Sprint(found["shortened"]); !strings.Contains(shortened, "at:contact.lists of:items") || !strings.Contains(shortened, fmt.Sprintf("total:%d]", lists+1)) {
		t.Errorf("contacts_lookup does not say how many lists there are: %.300s", shortened)
	}
	listed := post(t, p, token, revision, tool("lists_list", `{"query":"flood","limit":200}`, "")).structured(t)
	items := listed["items"].([]any)
	if listed["total"] != float64(lists) || listed["shown"] != float64(len(items)) || listed["truncated"] != true || listed["more"] == "" || len(items) == 0 {
		t.Errorf("lists_list: %d items, shown %v of %v", len(items), listed["shown"], listed["total"])
	}
}

// TestNoErrorTextHoldsAnAddress checks that a tool error names an invalid value by its path
// and never repeats an email address.
func TestNoErrorTextHoldsAnAddress(t *testing.T) {
	t.Parallel()
	p := product.Start(t, product.Options{})
	token := "Bearer " + p.Token(t, p.MCPURL)
	for _, arguments := range []string{
		`{"email":"secret.person@example.com"}`, `{"email":"secret.person@example.com","x":1}`, `{"email":"secret.person@"}`,
		`{"email":"secret.person@example.com","limit":-1}`, `{"email":"secret.person@example.com","external_id":"secret.person@example.com"}`,
		`{"email":"secret.person@example.com","attributes":{"unknown":"secret.person@example.com","orders":"secret.person@example.com"}}`,
	} {
		for name := range dayOfCalls("") {
			got := post(t, p, token, revision, tool(name, arguments, ""))
			if got.Result["isError"] == true && strings.Contains(got.body, "secret.person") {
				t.Errorf("%s%s: %s", name, arguments, got.body)
			}
		}
	}
}
