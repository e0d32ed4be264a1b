package dashboard_test

import (
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/conformance/product"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/contacts"
	"github.com/mailhelm/mailhelm/core/lists"
	"github.com/mailhelm/mailhelm/core/topics"
)

// audience is a small list of a product.
type audience struct {
	id      string
	members []contacts.Contact
}

// newAudience creates a list with contacts that get mail.
func newAudience(t *testing.T, p *product.Product, size int) audience {
	t.Helper()
	now := p.Clock.Now()
	a := audience{id: core.NewID()}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(p.DB.Lists().InsertList(t.Context(), p.OrgID, lists.List{ID: a.id, Key: "few", Name: "Few", Source: "api", Origin: core.ManagedOrigin, Status: "active", CreatedAt: now, UpdatedAt: now}))
	for i := range size {
		c := contacts.Contact{
			ID: core.NewID(), Email: fmt.Sprintf("reader-%d@example.com", i), Status: contacts.Active, Attributes: map[string]any{"first_name": fmt.Sprint("Reader ", i)},
			TopicPreferences: []topics.Preference{}, Lists: []lists.Ref{}, CreatedAt: now, UpdatedAt: now,
		}
		must(p.DB.Contacts().InsertContact(t.Context(), p.OrgID, c))
		_, _, err := p.DB.ListMembers().ReplaceMembership(t.Context(), p.OrgID, c.ID, []string{a.id}, now)
		must(err)
		a.members = append(a.members, c)
	}
	return a
}

// compose saves a draft from inline HTML for the list and returns the path and the text of
// its page.
func (b *browser) compose(a audience, change func(url.Values)) (path, page string) {
	b.t.Helper()
	form := b.form(b.open("/dashboard/broadcasts/new"), "/dashboard/broadcasts/new")
	form.Set("name", "Opening hours")
	form.Set("content", "inline")
	form.Set("html", `<p>Dear {{first_name}}, we open at {{hour}}.</p>`)
	form.Set("subject", "We open earlier")
	form.Set("template_data", `{"hour": 7}`)
	form.Set("audience_id", "list:"+a.id)
	change(form)
	status, location, text := b.send("/dashboard/broadcasts/new", form)
	if status != http.StatusSeeOther {
		b.t.Fatalf("compose: %d %s", status, text)
	}
	path, _, _ = strings.Cut(location, "?")
	return path, b.open(location)
}

// TestBroadcastsOnTheDashboard writes a broadcast without script, previews it, sends a test,
// and sends it in two steps. Between the steps, the audience changes. It pauses and resumes
// the send and looks at the results.
func TestBroadcastsOnTheDashboard(t *testing.T) {
	t.Parallel()
	product.EachWith(t, product.Options{Past: true}, func(t *testing.T, p *product.Product) {
		b, few := owner(t, p), newAudience(t, p, 12)
		path, page := b.compose(few, func(form url.Values) { form.Set("rate_per_minute", "60") })
		b.wants(page, "<strong>12</strong>get the message now", "The draft is saved", "has no topic", "<code>hour</code>", "<code>first_name</code>")
		frames := regexp.MustCompile(`<iframe[^>]* src="([^"]+)"`).FindAllStringSubmatch(page, -1)
		if len(frames) != 6 { // three contacts at two widths
			t.Fatalf("%d frames: %s", len(frames), page)
		}
		b.wants(b.open(frames[0][1]), "Dear Reader", "we open at 7.")
		b.wants(b.submit(page, path+"/test", func(form url.Values) { form.Set("recipients", "me@example.com") }), "1 of 1 test was sent", "me@example.com")

		send := path + "/send"
		status, _, text := b.send(send, b.form(b.open(send), send))
		if status != http.StatusUnprocessableEntity || !strings.Contains(text, "Tick the box") {
			t.Errorf("without acknowledgement: %d %s", status, text)
		}
		review := b.submit(b.open(send), send, func(form url.Values) { form.Set("acknowledge", "true") })
		b.wants(review, "to 12 of the 12 members", "Send to 12 contacts now")
		// A change of the database alone would last until the sync with the account.
		gone := product.Request{
			Method: http.MethodPatch, URL: p.BaseURL + "/v1/contacts/" + url.PathEscape(few.members[11].Email), Bearer: p.Live.APIKey, Body: `{"unsubscribe_all":true}`,
		}
		if got := p.Send(t, gone); got.Status != http.StatusOK {
			t.Fatal(got)
		}
		status, _, review = b.send(send, b.form(review, send))
		if status != http.StatusConflict {
			t.Errorf("after a change of the audience: %d", status)
		}
		b.wants(review, "Nothing was sent", "to 11 of the 12 members", "Send to 11 contacts now")
		page = b.submit(review, send, unchanged)
		b.wants(page, "The send has begun", `data-poll`, "Change rate")

		page = b.submit(page, path+"/pause", unchanged)
		b.wants(page, "A person paused the broadcast", `<span class="mark ">Paused</span>`)
		b.wants(b.open("/dashboard/broadcasts"), "Paused", "Opening hours")
		page = b.submit(page, path+"/rate", func(form url.Values) { form.Set("rate_per_minute", "") })
		b.submit(page, path+"/resume", unchanged)
		product.Await(t, 20*time.Second, func() error {
			if page = b.open(path); !strings.Contains(page, `<span class="mark good">Sent</span> 12 recipients`) {
				return fmt.Errorf("the send has not ended: %s", page)
			}
			return nil
		})
		b.wants(page, "Filtered by the account", "message", "reader-3@example.com")
		found := b.open(path + "?result=filtered&q=READER-11")
		b.wants(found, "reader-11@example.com", "opted out of all mail", "1 to 1")
		if strings.Contains(found, "reader-3@example.com") {
			t.Error("the filters select another recipient")
		}
		if status, _, _ := b.send(send, url.Values{}); status == http.StatusOK {
			t.Error("a sent broadcast was sent again")
		}
	})
}

// TestScheduledBroadcastsOnTheDashboard schedules a part of an audience, moves the time,
// and cancels the rest.
func TestScheduledBroadcastsOnTheDashboard(t *testing.T) {
	t.Parallel()
	product.EachWith(t, product.Options{Past: true}, func(t *testing.T, p *product.Product) {
		b, few := owner(t, p), newAudience(t, p, 2)
		rest, page := b.compose(few, unchanged)
		status, location, text := b.send(rest+"/split", b.form(page, rest+"/split"))
		if status != http.StatusSeeOther {
			t.Fatalf("split: %d %s", status, text)
		}
		path, _, _ := strings.Cut(location, "?")
		b.wants(b.open(location), "(5 % first)", "5 % of the members")
		at := p.Clock.Now().Add(48 * time.Hour).UTC()
		review := b.submit(b.open(path+"/send"), path+"/send", func(form url.Values) {
			form.Set("acknowledge", "true")
			form.Set("when", "at")
			form.Set("at", at.Format("2006-01-02T15:04"))
		})
		b.wants(review, "Schedule broadcast", at.Format("2006-01-02T15:04"))
		page = b.submit(review, path+"/send", unchanged)
		b.wants(page, "The broadcast is scheduled", "Reschedule")
		page = b.submit(page, path+"/reschedule", func(form url.Values) { form.Set("at", at.Add(time.Hour).Format("2006-01-02T15:04")) })
		b.wants(page, "The broadcast has a new time", at.Add(time.Hour).Format("2006-01-02T15:04"))
		b.wants(b.submit(b.open(path+"/unschedule"), path+"/unschedule", unchanged), "The broadcast is a draft again", "Send or schedule")
		b.wants(b.submit(b.open(rest+"/cancel"), rest+"/cancel", unchanged), "The broadcast is cancelled", "Nothing was sent")
		b.wants(b.submit(b.open(rest+"/delete"), rest+"/delete", unchanged), "The broadcast is deleted")
		b.wants(b.open("/dashboard/audit"), "Broadcast rescheduled", "Broadcast divided into two", "Broadcast cancelled")
	})
}
