package browser_test

import (
	"net/http"
	"testing"

	"github.com/mailhelm/mailhelm/conformance/browser"
	"github.com/mailhelm/mailhelm/conformance/product"
)

// TestBroadcasts opens the pages about broadcasts with the demo's data. It writes a broadcast
// and sees the audience counted without a reload, previews it, sends a test, confirms the
// send, sees the counts change without a reload, pauses it and resumes it.
func TestBroadcasts(t *testing.T) {
	t.Parallel()
	s := newScene(t, product.Options{Past: true})
	tab := browser.Open(t, browser.Options{})
	s.openSignedIn(tab, "/dashboard/broadcasts")
	tab.Expect(http.StatusOK, "Spring news", "Invitation to the tasting", "Newsletter of the week", "New broadcast")
	tab.Picture("broadcasts")
	tab.ExpectReachable()
	tab.Submit("#rows tbody tr:first-child a")
	tab.Expect(http.StatusOK, "Send or schedule", "Preview", "Variables")

	tab.Go(s.p.AppURL + "/dashboard/broadcasts/new")
	tab.Picture("broadcast-new")
	tab.Fill("#name", "Opening hours")
	tab.Mark("[name=content][value=inline]")
	tab.Fill("#html", `<p>Dear {{first_name}}, we open at {{hour}}.</p><p><a href="{{unsubscribe_url}}">Unsubscribe</a></p>`)
	tab.Fill("#subject", "We open earlier, {{first_name}}")
	tab.Fill("#template_data", "hour: 7")
	tab.ChooseText("#audience_id", "Newsletter")
	tab.AwaitText("#reach", "get the message now")
	tab.Submit("main form button.primary")
	tab.Expect(http.StatusUnprocessableEntity, "Correct the marked fields", "is not a JSON object")
	tab.Picture("broadcast-faulty")
	tab.Fill("#template_data", `{"hour": "7"}`)
	tab.Submit("main form button.primary")
	tab.Expect(http.StatusOK, "The draft is saved", "get the message now", "We open earlier, ", "hour", "has no topic")
	tab.Picture("broadcast-draft")
	tab.Accessible("#side")
	draft := tab.Address().Path

	tab.Fill("#recipients", "me@example.com, you@example.com")
	tab.Submit("form[action$='/test'] button")
	tab.Expect(http.StatusOK, "2 of 2 tests were sent", "me@example.com", "View message")
	tab.Picture("broadcast-test")
	tab.Go(s.p.AppURL + draft)
	tab.Submit("a[href$='/send']")
	tab.Expect(http.StatusOK, "Nothing is sent before you confirm it")
	tab.Picture("broadcast-send")
	tab.Submit("main form button.primary")
	tab.Expect(http.StatusUnprocessableEntity, "Tick the box")
	tab.Mark("[name=acknowledge]")
	tab.Submit("main form button.primary")
	tab.Expect(http.StatusOK, "without a topic", "from ", "Confirm the send")
	tab.Picture("broadcast-confirm")
	tab.Submit("main form button.primary")
	tab.Expect(http.StatusOK, "The send has begun", "recipients have an outcome")
	tab.AwaitText("#progress", "About")
	tab.Picture("broadcast-sending")
	tab.Submit("form[action$='/pause'] button")
	tab.Expect(http.StatusOK, "A person paused the broadcast", "Resume")
	tab.Picture("broadcast-paused")
	tab.Submit("form[action$='/resume'] button")
	tab.Expect(http.StatusOK, "The broadcast goes on", "Pause")

	tab.Go(s.p.AppURL + "/dashboard/broadcasts?state=scheduled")
	tab.Submit("#rows tbody tr:first-child a")
	tab.Expect(http.StatusOK, "Time of the send", "Reschedule")
	tab.Picture("broadcast-scheduled")
	tab.Go(s.p.AppURL + "/dashboard/broadcasts?state=sent")
	tab.Submit("#rows tbody tr:first-child a")
	tab.Expect(http.StatusOK, "Filtered by the topic", "messages a second", "Results")
	tab.Picture("broadcast-sent")
	tab.Submit("#outcomes tbody a[href*='/messages/']")
	tab.Expect(http.StatusOK)
}
