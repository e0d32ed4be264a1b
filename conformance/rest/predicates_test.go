package rest_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/conformance/product"
	"github.com/mailhelm/mailhelm/core"
)

// previewAnswer is the answer to a preview of a predicate: how many contacts match, a
// sample of them, its evaluation class, warnings, and the predicate's fault.
type previewAnswer struct {
	Count  int
	Class  string `json:"eval_class"`
	Sample []struct{ Email string }
	Lint   []struct{ Message string }
	Error  *struct {
		Message      string
		Line, Column int
	}
}

// sampleLetters returns the first letters of the addresses in the preview's sample of
// matching contacts, sorted.
func (p previewAnswer) sampleLetters() string {
	var who []string
	for _, contact := range p.Sample {
		who = append(who, contact.Email[:1])
	}
	slices.Sort(who)
	return strings.Join(who, "")
}

// previews sends segment expressions to the REST route and to the MCP tool that preview
// them. Both return the number of matching contacts and a sample.
type previews struct {
	a     *api
	agent string
}

func (v previews) ask(t *testing.T, source string) (route *answer, tool previewAnswer) {
	t.Helper()
	body, err := json.Marshal(map[string]string{"source": source})
	if err != nil {
		t.Fatal(err)
	}
	route = v.a.do(t, "POST", "/v1/segments/preview", string(body))
	v.a.callTool(t, v.agent, "segments_preview_predicate", string(body)).decode(&tool)
	return route, tool
}

// who has the three contacts of the tests of segment expressions. The contact "full" has a
// value for everything an expression can test. The contact "half" has an address, a city
// and an opt-out. The contact "none" has only an address.
const who = `[
	{"email":"full@p.example","attributes":{"city":"Graz","orders":5,"wholesale":true,"subscription":"monthly","last_order_at":"$10d"},"topic_preferences":{"offers":"OPT_IN","product-news":"OPT_OUT"},"lists":{"add":["newsletter"]}},
	{"email":"half@p.example","attributes":{"city":"Linz"},"unsubscribe_all":true},
	{"email":"none@p.example"}]`

const did = `[
	{"name":"paid","email":"full@p.example","properties":{"amount":10,"method":"card","gift":true,"due":"$1d","other":1},"occurred_at":"$40d"},
	{"name":"paid","email":"full@p.example","properties":{"amount":2.5,"method":"bank"},"occurred_at":"$1d"},
	{"name":"paid","email":"half@p.example","properties":{"amount":"much"},"occurred_at":"$1d"},
	{"name":"Order paid","email":"half@p.example","properties":{}},
	{"name":"site_visit","email":"full@p.example","properties":{"path":"/pricing","referrer":"r","title":"t","utm_source":"a","utm_medium":"b","utm_campaign":"c"}}]`

// meanings has predicates of every form of the predicate language. found has the first
// letters of the addresses of the contacts that match, and class is evaluation_class in the
// answer of a preview of the predicate. A test of an absent value is unknown, and so is its
// negation. An unknown predicate does not match.
var meanings = []struct{ source, found, class string }{
	{`attr.city = "Graz"`, "f", "incremental"},
	{`attr.city != "Graz"`, "h", "incremental"},
	{`not attr.city = "Graz"`, "h", "incremental"},
	{`not attr.city != "Graz"`, "f", "incremental"},
	{`attr.city = "graz"`, "", "incremental"},
	{`attr.city in ["Graz", "Linz"]`, "fh", "incremental"},
	{`not attr.city in ["Graz"]`, "h", "incremental"},
	{`attr.city starts with "Gr"`, "f", "incremental"},
	{`attr.city ends with "z"`, "fh", "incremental"},
	{`attr.city contains "in"`, "h", "incremental"},
	{`not attr.city contains "in"`, "f", "incremental"},
	{`has attr.city`, "fh", "incremental"},
	{`attr.city is known`, "fh", "incremental"},
	{`attr.city is unknown`, "n", "incremental"},
	{`not has attr.city`, "n", "incremental"},
	{`attr.email = "half@p.example"`, "h", "incremental"},
	{`attr.email is known`, "fhn", "incremental"},
	{`attr.orders = 5`, "f", "incremental"},
	{`attr.orders != 5`, "", "incremental"},
	{`attr.orders < 5`, "", "incremental"},
	{`attr.orders <= 5`, "f", "incremental"},
	{`attr.orders > -4.5`, "f", "incremental"},
	{`attr.orders >= 5.01`, "", "incremental"},
	{`attr.orders in [4, 5]`, "f", "incremental"},
	{`attr.wholesale = true`, "f", "incremental"},
	{`attr.wholesale = false`, "", "incremental"},
	{`not attr.wholesale = false`, "f", "incremental"},
	// A contact cannot be written with a value that its enum does not have, but a predicate
	// may test for such a value.
	{`attr.subscription = "monthly"`, "f", "incremental"},
	{`attr.subscription = "never heard of"`, "", "incremental"},
	{`attr.last_order_at > 2001-02-03`, "f", "incremental"},
	{`attr.last_order_at < "2001-02-03T04:05:06Z"`, "", "incremental"},
	{`attr.last_order_at < now`, "f", "sweep"},
	{`attr.last_order_at > now - 11d`, "f", "sweep"},
	{`attr.last_order_at > now - 1w`, "", "sweep"},
	{`attr.last_order_at < now + 1s`, "f", "sweep"},
	{`now - attr.last_order_at > 9d`, "f", "sweep"},
	{`now - attr.last_order_at < 1w`, "", "sweep"},
	{`now - attr.last_order_at between 1w and 1mo`, "f", "sweep"},
	{`now - attr.last_order_at between 11d and 1y`, "", "sweep"},
	{`now - attr.last_order_at < 14500m and now - attr.last_order_at > 200h`, "f", "sweep"},
	{`attr.city = "Graz" and attr.orders > 1`, "f", "incremental"},
	{`attr.city = "Linz" and attr.orders > 1`, "", "incremental"},
	{`attr.city = "Linz" or attr.orders > 1`, "fh", "incremental"},
	{`not (attr.city = "Linz" or attr.orders > 1)`, "", "incremental"},
	{`not (attr.city = "Graz" and attr.orders > 10)`, "fh", "incremental"},
	{`attr.city = "Graz" or attr.city is unknown`, "fn", "incremental"},
	{`attr.city = "Linz" or attr.city = "Graz" and attr.orders > 10`, "h", "incremental"},
	{`(attr.city = "Linz" or attr.city = "Graz") and attr.orders > 1`, "f", "incremental"},
	{"  # a comment\n attr.city\t= \"Graz\" // and another", "f", "incremental"},
	{`subscribed to "offers"`, "f", "incremental"},
	{`opted out of "offers"`, "hn", "incremental"},
	{`subscribed to "product-news"`, "n", "incremental"},
	{`opted out of "product-news"`, "f", "incremental"},
	{`unsubscribed from all`, "h", "incremental"},
	{`not unsubscribed from all`, "fn", "incremental"},
	{`suppressed`, "", "incremental"},
	{`not suppressed`, "fhn", "incremental"},
	{`in list "newsletter"`, "f", "incremental"},
	{`not in list "newsletter"`, "hn", "incremental"},
	{`in segment "good-customers"`, "", "incremental"},
	{`not in segment "good-customers"`, "fhn", "incremental"},
	// Each of the following predicates repeats a test of suppression, which the SQL then has
	// only once. The tests of topics and lists must still decide the result.
	{limit(10, "not suppressed", " and ") + ` and subscribed to "offers" and in list "newsletter"`, "f", "incremental"},
	{limit(10, "not suppressed", " and ") + ` and opted out of "offers" and not in list "newsletter"`, "hn", "incremental"},
	{limit(10, "not suppressed", " and ") + ` and subscribed to "product-news" and (suppressed or opted out of "offers")`, "n", "incremental"},
	// If a contact has no matching activities, count is 0, exists is false, and every other
	// aggregate is unknown.
	{`count(activity.paid) = 2`, "f", "incremental"},
	{`count(activity.paid) = 0`, "n", "incremental"},
	{`count(activity.paid within 30d) = 1`, "fh", "sweep"},
	{`exists(activity.paid)`, "fh", "incremental"},
	{`not exists(activity.paid)`, "n", "incremental"},
	{`exists(activity."Order paid")`, "h", "incremental"},
	{`exists(activity.paid between 2001-01-01 and 2001-12-31)`, "", "incremental"},
	{`exists(activity.paid where amount > 5)`, "f", "incremental"},
	{`exists(activity.paid where amount > 5 within 30d)`, "", "sweep"},
	{`count(activity.paid where method = "card" or method starts with "ba") = 2`, "f", "incremental"},
	{`exists(activity.paid where not method = "card")`, "f", "incremental"},
	{`exists(activity.paid where has gift and gift = true)`, "f", "incremental"},
	{`exists(activity.paid where due < now)`, "f", "sweep"},
	{`exists(activity.paid where amount in [2.5, 3])`, "f", "incremental"},
	{`exists(activity.paid where amount is unknown)`, "h", "incremental"},
	{`sum(amount of activity.paid) = 12.5`, "f", "incremental"},
	{`avg(amount of activity.paid) > 6`, "f", "incremental"},
	{`min(amount of activity.paid) < 3`, "f", "incremental"},
	{`max(amount of activity.paid) >= 10`, "f", "incremental"},
	{`not sum(amount of activity.paid) > 100`, "f", "incremental"},
	{`last(activity.paid) > now - 2d`, "fh", "sweep"},
	{`first(activity.paid) < now - 30d`, "f", "sweep"},
	{`last(activity.paid) < 2001-01-01`, "", "sweep"},
	{`not last(activity.paid) < 2001-01-01`, "fh", "sweep"},
	{`exists(activity.site_visit where path = "/pricing" and referrer = "r" and title = "t" and utm_source = "a" and utm_medium = "b" and utm_campaign = "c")`, "f", "incremental"},
	{`exists(send) or exists(delivery) or exists(open) or exists(click) or exists(bounce) or exists(complaint) or exists(reject) or exists(delivery_delay)`, "", "incremental"},
	{`count(open where subject = "a" and template = "b" and sender_domain = "c") = 0`, "fhn", "incremental"},
	{`exists(click where url contains "x")`, "", "incremental"},
	{`exists(bounce where type = "Permanent" and sub_type = "General")`, "", "incremental"},
	{`exists(delivery where processing_ms > 5)`, "", "incremental"},
	{`last(open) < now or not last(open) < now`, "", "sweep"},
	{`attr.city = "Graz" and count(activity.paid within 1y) >= 1`, "f", "both"},
}

// TestPredicatesMeanWhatTheySay previews each predicate in the variable meanings over REST
// and over MCP, on both databases. The preview must find the expected contacts.
func TestPredicatesMeanWhatTheySay(t *testing.T) {
	t.Parallel()
	product.Each(t, func(t *testing.T, p *product.Product) {
		a := on(t, p)
		v := previews{a, p.Token(t, p.MCPURL)}
		a.Clock.Freeze(a.Clock.Now())
		ago := func(text string) string {
			for _, days := range []int{40, 10, 1} {
				text = strings.ReplaceAll(text, fmt.Sprintf("$%dd", days), a.Clock.Now().AddDate(0, 0, -days).Format("2006-01-02T15:04:05Z07:00"))
			}
			return text
		}
		var contacts []json.RawMessage
		if err := json.Unmarshal([]byte(ago(who)), &contacts); err != nil {
			t.Fatal(err)
		}
		for _, contact := range contacts {
			a.do(t, "POST", "/v1/contacts", string(contact)).want(201)
		}
		for _, result := range results(t, a.do(t, "POST", "/v1/activities", ago(did))) {
			if result["status"] != "accepted" {
				t.Fatal(result)
			}
		}
		for property, of := range map[string]string{"amount": "number", "method": "string", "gift": "bool", "due": "datetime"} {
			a.do(t, "POST", "/v1/activity-properties", `{"activity_name":"paid","property":"`+property+`","type":"`+of+`"}`).want(201)
		}
		for _, m := range meanings {
			// The condition on the address limits the matches to the contacts of this test,
			// but it can change the evaluation class. So the class is checked with another
			// preview, without this condition.
			framed, tool := v.ask(t, `attr.email ends with "@p.example" and (`+m.source+"\n)")
			var route previewAnswer
			if framed.want(200).decode(&route); route.sampleLetters() != m.found || route.Count != len(m.found) {
				t.Errorf("%s: the route finds %q (%d), want %q", m.source, route.sampleLetters(), route.Count, m.found)
			}
			if tool.Error != nil || tool.sampleLetters() != m.found || tool.Count != len(m.found) {
				t.Errorf("%s: the tool finds %q (%d), want %q: %v", m.source, tool.sampleLetters(), tool.Count, m.found, tool.Error)
			}
			alone, tool := v.ask(t, m.source)
			if alone.want(200).decode(&route); route.Class != m.class || tool.Class != m.class {
				t.Errorf("%s is %s and %s, want %s", m.source, route.Class, tool.Class, m.class)
			}
			// Segments are evaluated in the background, so the two answers can differ.
			for _, found := range []previewAnswer{route, tool} {
				if len(found.Sample) != min(found.Count, 10) {
					t.Errorf("%s: a count of %d and a sample of %d", m.source, found.Count, len(found.Sample))
				}
			}
		}
	})
}

// predicateFaults has invalid predicates. For each, it has the expected position of the
// error, and texts that the error must contain.
var predicateFaults = []struct {
	source       string
	line, column int
	says         []string
}{
	{`attr.ordrs > 1`, 1, 1, []string{`"ordrs" is not registered`, `did you mean attr.orders?`}},
	{`attr.zzz = 1`, 1, 1, []string{`"zzz" is not registered`, `there are "city"`}},
	{"attr.city = \"Graz\" and\n  attr.orders > \"many\"", 2, 17, []string{`a number`, `"many"`, "expected a number"}},
	{`attr.city > "a"`, 1, 1, []string{"no order"}},
	{`attr.wholesale = 1`, 1, 18, []string{"expected true or false"}},
	{`attr.last_order_at = 5`, 1, 22, []string{"expected"}},
	{`attr.orders contains "5"`, 1, 1, []string{"attr.orders is a number"}},
	{`now - attr.orders > 5d`, 1, 7, []string{"only a datetime has an age"}},
	{`attr.city = "Graz" AND attr.orders > 1`, 1, 20, []string{`did you mean and?`}},
	{`attr.city == "Graz"`, 1, 11, []string{`did you mean =?`}},
	{`attr.city = Graz`, 1, 13, []string{`did you mean "Graz"?`}},
	{`attr.city in []`, 1, 15, []string{"expected"}},
	{`attr.city`, 1, 10, []string{"ends too early"}},
	{`count(opens) > 1`, 1, 7, []string{"did you mean open?"}},
	{`count(open within 30 days) > 1`, 1, 19, []string{"did you mean 30d?"}},
	{`exists(activity.paid where all = 1)`, 1, 28, []string{"property.all"}},
	{`exists(activity.paid where amount > 1)`, 1, 28, []string{`no property "amount"`}},
	{`exists(open where url = "a")`, 1, 19, []string{`no property "url"`}},
	{`sum(subject of open) > 1`, 1, 5, []string{"needs a number"}},
	{`subscribed to "offer"`, 1, 15, []string{`did you mean "offers"?`}},
	{`in list "newsleter"`, 1, 9, []string{`did you mean "newsletter"?`}},
	{`in segment "good-customer"`, 1, 12, []string{`did you mean "good-customers"?`}},
	// Each of the following predicates exceeds a limit of the language by one or two. The
	// predicates in atTheLimits reach the limits exactly.
	{limit(201, "suppressed", " and "), 0, 0, []string{"200 nodes"}},
	{strings.Repeat("not ", 20) + "suppressed", 0, 0, []string{"20 deep"}},
	{"attr.orders in [" + limit(101, "1", ", ") + "]", 0, 0, []string{"100 values"}},
	{limit(9, "exists(open)", " or "), 0, 0, []string{"8 tests of events"}},
	{limit(9, `in list "newsletter"`, " or "), 0, 0, []string{"8 tests of lists and segments"}},
}

var atTheLimits = []string{
	limit(199, "suppressed", " and "), strings.Repeat("not ", 19) + "suppressed", "attr.orders in [" + limit(100, "1", ", ") + "]",
	limit(8, "exists(open)", " or "), limit(4, `in list "newsletter" or in segment "good-customers"`, " or "),
}

func limit(n int, test, by string) string {
	return strings.TrimSuffix(strings.Repeat(test+by, n), by)
}

// TestWhatIsWrongWithAPredicate previews invalid predicates. The REST route must refuse
// them, and the MCP tool must return a result that describes the fault. Route and tool must
// report the same position and text of the fault.
func TestWhatIsWrongWithAPredicate(t *testing.T) {
	t.Parallel()
	product.Once(t, func(t *testing.T, p *product.Product) {
		v := previews{on(t, p), p.Token(t, p.MCPURL)}
		for _, f := range predicateFaults {
			route, tool := v.ask(t, f.source)
			problem := route.refused(422, core.CodeValidationFailed)
			if len(problem.Errors) == 0 || problem.Errors[0].Field != "source" || tool.Error == nil {
				t.Errorf("%.60s: %+v, %+v", f.source, problem, tool)
				continue
			}
			if f.line > 0 && (tool.Error.Line != f.line || tool.Error.Column != f.column) {
				t.Errorf("%s: line %d, column %d, want %d, %d", f.source, tool.Error.Line, tool.Error.Column, f.line, f.column)
			}
			if want := fmt.Sprintf("line %d, column %d: %s", tool.Error.Line, tool.Error.Column, tool.Error.Message); problem.Errors[0].Reason != want {
				t.Errorf("%.60s: the route says %s, the tool %s", f.source, problem.Errors[0].Reason, want)
			}
			for _, want := range f.says {
				if !strings.Contains(tool.Error.Message, want) {
					t.Errorf("%.60s: %q does not say %s", f.source, tool.Error.Message, want)
				}
			}
		}
		for _, source := range atTheLimits {
			if route, tool := v.ask(t, source); route.status != 200 || tool.Error != nil {
				t.Errorf("%.60s: %d %s, %+v", source, route.status, route.body, tool.Error)
			}
		}
	})
}

// TestPredicatesOnMissingValuesWarn checks that an agent gets a warning if a predicate
// excludes contacts without a value. A test for the presence of the value must remove the
// warning.
func TestPredicatesOnMissingValuesWarn(t *testing.T) {
	t.Parallel()
	p := product.Start(t, product.Options{})
	v := previews{on(t, p), p.Token(t, p.MCPURL)}
	for source, warned := range map[string]bool{
		`attr.city != "Graz"`: true, `has attr.city and attr.city != "Graz"`: false, `attr.city != "Graz" or attr.city is unknown`: false,
		`not attr.city = "Graz"`: true, `not in list "newsletter"`: false, `attr.city = "Graz"`: false,
		`now - attr.last_order_at > 5d`: true, `has attr.last_order_at and now - attr.last_order_at > 5d`: false,
		`last(open) < now - 5d`: true, `exists(open) and last(open) < now - 5d`: false, `first(open) > 2026-01-01`: true, `count(open) = 0`: false,
	} {
		route, tool := v.ask(t, source)
		if route.status != 200 || tool.Error != nil || (len(tool.Lint) > 0) != warned {
			t.Errorf("%s: %d, warnings %v", source, route.status, tool.Lint)
		}
	}
}
