package rest_test

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/conformance/product"
	"github.com/mailhelm/mailhelm/core/attributes"
	"github.com/mailhelm/mailhelm/core/segments"
	"github.com/mailhelm/mailhelm/storage/engine"
)

// followWait is the time after which a test gives up waiting for the product's jobs.
const followWait = time.Minute

// segmentsCaller is an API caller for tests of segments. It can also define segments and
// queue the product's background jobs.
type segmentsCaller struct {
	*api
	segments *segments.Segments
	jobs     *engine.Jobs
}

func divide(t *testing.T, p *product.Product) segmentsCaller {
	t.Helper()
	jobs, err := p.DB.NewJobs(engine.JobsConfig{})
	if err != nil {
		t.Fatal(err)
	}
	return segmentsCaller{on(t, p), segments.New(segments.Config{
		Store: p.DB.Segments(), Members: p.DB.SegmentMembers(), Changes: p.DB.SegmentChanges(), Transactor: p.DB, Suppressions: p.Simulator, Orgs: p.DB.Orgs().OrgIDs,
		Clock: p.Clock.Now, Log: slog.New(slog.DiscardHandler),
	}), jobs}
}

// save defines a segment with the key and the predicate source. The API has no route for
// that.
func (d segmentsCaller) save(t *testing.T, key, source string) {
	t.Helper()
	_, err := d.segments.Save(t.Context(), d.OrgID, segments.Definition{Key: key, Name: key, Source: source, Origin: segments.Managed})
	if err != nil {
		t.Fatalf("%s: %v", source, err)
	}
}

// create posts an object to the path and returns the object's id.
func (d segmentsCaller) create(t *testing.T, path, body string) string {
	t.Helper()
	var made struct{ ID string }
	d.do(t, "POST", path, body).want(201).decode(&made)
	return made.ID
}

// put creates or replaces the contact name@example.com.
func (d segmentsCaller) put(t *testing.T, name, body string) {
	t.Helper()
	if got := d.do(t, "PUT", "/v1/contacts/"+name+"@example.com", body); got.status != 200 && got.status != 201 {
		t.Fatalf("%s: %d %s", name, got.status, got.body)
	}
}

// state returns the status of a segment, whether it has a warning, and the names of its
// members, as one text.
func (d segmentsCaller) state(t *testing.T, key string) string {
	t.Helper()
	var head struct {
		Status        string  `json:"status"`
		EvalWarning   string  `json:"eval_warning"`
		EvalWarningAt *string `json:"eval_warning_at"`
		MemberCount   int     `json:"member_count"`
	}
	d.do(t, "GET", "/v1/segments/"+key, "").want(200).decode(&head)
	var page struct{ Data []struct{ Email string } }
	d.do(t, "GET", "/v1/segments/"+key+"/members", "").want(200).decode(&page)
	names := []string{}
	for _, m := range page.Data {
		names = append(names, strings.TrimSuffix(m.Email, "@example.com"))
	}
	slices.Sort(names)
	warns := ""
	if head.EvalWarning != "" && head.EvalWarningAt != nil {
		warns = " with a warning"
	}
	return fmt.Sprintf("%s%s: %d of %s", head.Status, warns, head.MemberCount, strings.Join(names, " "))
}

// waitForState queues the jobs that evaluate segments until the segment's state, as the
// method state returns it, equals want. It fails the test after followWait.
func (d segmentsCaller) waitForState(t *testing.T, key, want string) {
	t.Helper()
	product.Await(t, followWait, func() error {
		got := d.state(t, key)
		if got == want {
			return nil
		}
		if _, err := d.jobs.EnqueueOnce(t.Context(), attributes.PassArgs{}); err != nil {
			t.Fatal(err)
		}
		if _, err := d.jobs.EnqueueOnce(t.Context(), segments.FollowArgs{OrgID: d.OrgID}); err != nil {
			t.Fatal(err)
		}
		return fmt.Errorf("%s is %s, want %s", key, got, want)
	})
}

// checkState checks, without waiting, that the segment's current state equals the parameter
// want.
func (d segmentsCaller) checkState(t *testing.T, key, want string) {
	t.Helper()
	if got := d.state(t, key); got != want {
		t.Errorf("%s became %s, and was to stay %s", key, got, want)
	}
}

// effect has the members of a response to a change of an attribute or property: the class
// of the change, the affected segments, and how many contacts leave them.
type effect struct {
	MutationClass string `json:"mutation_class"`
	Impact        *struct {
		AffectedSegments []struct {
			ID          string `json:"id"`
			Name        string `json:"name"`
			TypecheckOK bool   `json:"typecheck_ok"`
			Warning     string `json:"warning"`
		} `json:"affected_segments"`
		ProjectedDropout int `json:"projected_dropout"`
	} `json:"impact"`
}

// String returns the effect as a short text. "!" follows the name of a segment whose
// predicate no longer compiles.
func (e effect) String() string {
	text := e.MutationClass
	if e.Impact == nil {
		return text
	}
	var names []string
	for _, a := range e.Impact.AffectedSegments {
		if a.Warning == "" {
			a.Name += " (no warning)"
		}
		if !a.TypecheckOK {
			a.Name += "!"
		}
		names = append(names, a.Name)
	}
	slices.Sort(names)
	return fmt.Sprintf("%s, %d drop out, %v", text, e.Impact.ProjectedDropout, names)
}

// has makes a call that changes an attribute or property. It checks that the effect in the
// response equals want, in the format of effect.String.
func (d segmentsCaller) has(t *testing.T, want, method, path, body string) {
	t.Helper()
	var got effect
	d.do(t, method, path, body).want(200).decode(&got)
	if got.String() != want {
		t.Errorf("%s %s %s: %s, want %s", method, path, body, got, want)
	}
}

// TestSegmentsFollowTheRegistry changes attributes. The preview and the response to the
// change say which segments the change affects. The test checks that the status or the
// members of exactly these segments then change.
func TestSegmentsFollowTheRegistry(t *testing.T) {
	t.Parallel()
	product.Each(t, func(t *testing.T, p *product.Product) {
		d := divide(t, p)
		score := "/v1/attributes/" + d.create(t, "/v1/attributes", `{"name":"score","type":"number"}`)
		tier := "/v1/attributes/" + d.create(t, "/v1/attributes", `{"name":"tier","type":"enum","enum_values":["silver","gold"]}`)
		d.create(t, "/v1/attributes", `{"name":"control","type":"bool"}`)
		d.put(t, "ann", `{"attributes":{"score":5,"tier":"gold"}}`)
		d.put(t, "bob", `{"attributes":{"score":50,"tier":"silver"}}`)
		d.save(t, "high", `attr.score > 10`)
		d.save(t, "scored", `has attr.score`)
		d.save(t, "golden", `attr.tier = "gold"`)
		d.save(t, "control", `attr.control = true`)
		d.waitForState(t, "high", "active: 1 of bob")
		d.waitForState(t, "scored", "active: 2 of ann bob")
		d.waitForState(t, "golden", "active: 1 of ann")

		const text, number = `{"name":"score","type":"string"}`, `{"name":"score","type":"number"}`
		d.has(t, "disruptive, 0 drop out, [high! scored]", "POST", score+"/preview", text)
		d.checkState(t, "high", "active: 1 of bob")
		d.has(t, "disruptive, 0 drop out, [high! scored]", "PUT", score, text)
		d.checkState(t, "high", "invalid with a warning: 1 of bob") // with the change itself
		d.put(t, "bob", `{"attributes":{"score":"low","tier":"silver","control":true}}`)
		d.put(t, "cid", `{"attributes":{"score":"99"}}`)
		d.waitForState(t, "control", "active: 1 of bob")
		d.checkState(t, "high", "invalid with a warning: 1 of bob")
		d.waitForState(t, "scored", "active with a warning: 3 of ann bob cid")
		d.has(t, "disruptive, 1 drop out, [scored]", "PUT", score, number)
		d.waitForState(t, "high", "active with a warning: 1 of cid")
		d.waitForState(t, "scored", "active with a warning: 2 of ann cid")
		d.save(t, "high", `attr.score > 10`)
		d.checkState(t, "high", "active: 1 of cid") // saving it ends its warning

		d.has(t, "free", "PUT", tier, `{"name":"tier","type":"enum","enum_values":["silver","gold","lead"]}`)
		d.put(t, "cid", `{"attributes":{"score":99,"tier":"lead","control":true}}`)
		d.waitForState(t, "control", "active: 2 of bob cid")
		d.checkState(t, "golden", "active: 1 of ann")
		d.has(t, "safe_but_stale", "PUT", tier, `{"name":"tier","type":"enum","enum_values":["silver","lead"]}`)
		d.checkState(t, "golden", "active with a warning: 1 of ann")
		d.has(t, "disruptive, 3 drop out, [golden!]", "PUT", tier, `{"name":"rank","type":"enum","enum_values":["silver","lead"]}`)
		d.checkState(t, "golden", "invalid with a warning: 1 of ann")
		d.do(t, "PATCH", "/v1/contacts/ann@example.com", `{"attributes":{"rank":"silver"}}`).want(200)
		d.has(t, "disruptive, 3 drop out, []", "PUT", tier, `{"name":"tier","type":"enum","enum_values":["silver","gold"]}`)
		d.do(t, "PATCH", "/v1/contacts/bob@example.com", `{"attributes":{"tier":"gold"}}`).want(200)
		d.waitForState(t, "golden", "active with a warning: 1 of bob")
		d.has(t, "disruptive, 2 drop out, [high! scored!]", "DELETE", score, "")
		d.checkState(t, "high", "invalid with a warning: 1 of cid")
		d.checkState(t, "scored", "invalid with a warning: 2 of ann cid")
	})
}

// TestSegmentsFollowProperties changes promoted properties of activities. The preview and
// the response to the change say which segments the change affects. The test checks that
// the status or the members of exactly these segments then change.
func TestSegmentsFollowProperties(t *testing.T) {
	t.Parallel()
	product.Each(t, func(t *testing.T, p *product.Product) {
		d := divide(t, p)
		amount := "/v1/activity-properties/" + d.create(t, "/v1/activity-properties", `{"activity_name":"paid","property":"amount","type":"number"}`)
		var items []string
		for name, value := range map[string]string{"ann": `5`, "bob": `50`, "cid": `"50"`} {
			items = append(items, fmt.Sprintf(`{"name":"paid","email":"%s@example.com","properties":{"amount":%s}}`, name, value))
		}
		d.do(t, "POST", "/v1/activities", "["+strings.Join(items, ",")+"]").want(202)
		d.save(t, "big", `max(amount of activity.paid within 7d) > 10`)
		d.save(t, "known", `exists(activity.paid where has amount)`)
		d.save(t, "payers", `exists(activity.paid)`)
		d.waitForState(t, "payers", "active: 3 of ann bob cid")
		d.waitForState(t, "big", "active: 1 of bob")
		d.waitForState(t, "known", "active: 2 of ann bob")

		const text = `{"activity_name":"paid","property":"amount","type":"string"}`
		d.has(t, "disruptive, 2 drop out, [big! known]", "POST", amount+"/preview", text)
		d.checkState(t, "known", "active: 2 of ann bob")
		d.has(t, "disruptive, 2 drop out, [big! known]", "PUT", amount, text)
		d.waitForState(t, "known", "active with a warning: 1 of cid")
		d.checkState(t, "big", "invalid with a warning: 1 of bob")
		d.checkState(t, "payers", "active: 3 of ann bob cid")
		d.has(t, "free", "PUT", amount, text)
		d.has(t, "disruptive, 1 drop out, [known]", "PUT", amount, `{"activity_name":"paid","property":"amount","type":"number"}`)
		d.waitForState(t, "known", "active with a warning: 2 of ann bob")
		d.waitForState(t, "big", "active with a warning: 1 of bob")
		// After eight days the activities are older than the time window of the segment
		// "big". The sweep job must remove all contacts from the segment.
		d.Clock.Advance(8 * 24 * time.Hour)
		if err := d.jobs.Enqueue(t.Context(), segments.SweepArgs{OrgID: d.OrgID}); err != nil {
			t.Fatal(err)
		}
		d.waitForState(t, "big", "active with a warning: 0 of ")
		d.has(t, "disruptive, 2 drop out, [big! known!]", "DELETE", amount, "")
		d.checkState(t, "known", "invalid with a warning: 2 of ann bob")
		d.checkState(t, "payers", "active: 3 of ann bob cid")
	})
}

// TestSegmentsFollowLists deletes a list. A segment that tests the list must become invalid
// and keep its members. A segment that tests the invalid segment must then use the kept
// members. The membership log must have no entry for contacts that leave the deleted list.
func TestSegmentsFollowLists(t *testing.T) {
	t.Parallel()
	product.Each(t, func(t *testing.T, p *product.Product) {
		d := divide(t, p)
		list := d.create(t, "/v1/lists", `{"name":"Guests","key":"guests"}`)
		d.put(t, "ann", fmt.Sprintf(`{"lists":[%q]}`, list))
		d.put(t, "bob", `{}`)
		d.save(t, "guests", `in list "guests"`)
		d.save(t, "of-guests", `in segment "guests"`)
		d.waitForState(t, "of-guests", "active: 1 of ann")
		d.put(t, "bob", `{"lists":["guests"]}`)
		d.waitForState(t, "of-guests", "active: 2 of ann bob")

		d.do(t, "DELETE", "/v1/lists/guests", "").want(204)
		d.checkState(t, "guests", "invalid with a warning: 2 of ann bob")
		d.checkState(t, "of-guests", "active: 2 of ann bob")
		var log struct{ Lists []any }
		if d.do(t, "GET", "/v1/contacts/ann@example.com", "").want(200).decode(&log); len(log.Lists) != 0 {
			t.Errorf("ann is still on %v", log.Lists)
		}
		if entered, exited := d.logged(t, list); entered != 2 || exited != 0 {
			t.Errorf("the log has %d entries and %d exits of the list", entered, exited)
		}

		again := d.create(t, "/v1/lists", `{"name":"Guests","key":"guests"}`)
		d.put(t, "bob", fmt.Sprintf(`{"lists":[%q]}`, again))
		d.waitForState(t, "of-guests", "active: 1 of bob")
		d.waitForState(t, "guests", "active with a warning: 1 of bob")
		if entered, exited := d.logged(t, list); entered != 2 || exited != 0 {
			t.Errorf("later the log has %d entries and %d exits of the list", entered, exited)
		}
	})
}

// logged counts the entries of the membership log about the list: how many say that a
// contact entered it, and how many that one left it.
func (d segmentsCaller) logged(t *testing.T, list string) (entered, exited int) {
	t.Helper()
	lines, err := d.DB.ListMembers().MembershipLog(t.Context(), d.OrgID, nil, 10_000)
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range lines {
		switch {
		case line.SetID != list:
		case line.Entered:
			entered++
		default:
			exited++
		}
	}
	return entered, exited
}

// TestSegmentsFollowTopics checks that contacts without a choice about a topic match
// segments by the topic's default. If a topic is deleted, the segments that test it become
// invalid and keep their members.
func TestSegmentsFollowTopics(t *testing.T) {
	t.Parallel()
	product.Each(t, func(t *testing.T, p *product.Product) {
		d := divide(t, p)
		topic := func(status string) string {
			raw, err := json.Marshal(map[string]string{"name": "cupping", "default_subscription_status": status})
			if err != nil {
				t.Fatal(err)
			}
			return string(raw)
		}
		d.do(t, "POST", "/v1/topics", topic("OPT_IN")).want(201)
		d.create(t, "/v1/lists", `{"name":"Guests","key":"guests"}`)
		d.put(t, "ann", `{"lists":["guests"]}`)
		d.put(t, "bob", `{"lists":["guests"],"topic_preferences":[{"topic":"cupping","subscription_status":"OPT_IN"}]}`)
		d.put(t, "cid", `{"lists":["guests"],"topic_preferences":[{"topic":"cupping","subscription_status":"OPT_OUT"}]}`)
		d.save(t, "readers", `subscribed to "cupping" and in list "guests"`)
		d.waitForState(t, "readers", "active: 2 of ann bob")
		d.do(t, "PUT", "/v1/topics/cupping", `{"default_subscription_status":"OPT_OUT"}`).want(200)
		d.waitForState(t, "readers", "active: 1 of bob")
		d.do(t, "PUT", "/v1/topics/cupping", `{"default_subscription_status":"OPT_IN"}`).want(200)
		d.waitForState(t, "readers", "active: 2 of ann bob")
		d.do(t, "DELETE", "/v1/topics/cupping", "").want(204)
		d.checkState(t, "readers", "invalid with a warning: 2 of ann bob")
		d.do(t, "POST", "/v1/topics", topic("OPT_OUT")).want(201)
		d.put(t, "ann", `{"lists":["guests"],"topic_preferences":[{"topic":"cupping","subscription_status":"OPT_IN"}]}`)
		d.put(t, "bob", `{"lists":["guests"]}`)
		d.waitForState(t, "readers", "active with a warning: 1 of ann")
	})
}
