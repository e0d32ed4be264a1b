package browser_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/conformance/browser"
	"github.com/mailhelm/mailhelm/conformance/product"
)

// TestInboxes creates an inbox, watches mail arrive, reads a message, and ends the inbox, with
// and without scripts.
func TestInboxes(t *testing.T) {
	t.Parallel()
	h, s := newTarget(t), newScene(t, product.Options{})
	tab := browser.Open(t, browser.Options{})
	s.openSignedIn(tab, "/dashboard/inboxes")
	tab.Expect(http.StatusOK, "No inbox is active")
	tab.Picture("inboxes-none")
	useInbox(t, s, tab, false, h)
	quiet := browser.Open(t, browser.Options{NoScript: true})
	s.openSignedIn(quiet, "/dashboard/inboxes")
	useInbox(t, s, quiet, true, h)
}

func useInbox(t *testing.T, s *scene, tab *browser.Tab, quiet bool, h *target) {
	t.Helper()
	tab.Submit(".head a.button.primary")
	tab.Picture("inbox-new")
	tab.Fill("#label", "Sign-up test")
	tab.Choose("#ttl", "1800")
	tab.Submit(".page form button.primary")
	tab.Expect(http.StatusOK, "Inbox created", "The pull link is not shown again")
	tab.Picture("inbox-created")
	address, pull := tab.ReadAll("pre.secret code")[0], tab.ReadAll("pre.secret code")[1]
	if answer := s.p.Send(t, product.Request{URL: pull}); answer.Status != http.StatusOK {
		t.Errorf("the pull link: %d %s", answer.Status, answer.Body)
	}
	tab.Submit(".page .row a.button")
	tab.Expect(http.StatusOK, "No mail has arrived yet", address)
	tab.Picture("inbox-waiting")
	inbox := tab.Address().String()
	if !quiet {
		tab.AwaitPoll("#progress")
	}
	for i, raw := range []string{signUpMail(address, h.server.URL+"/hit"), trickMail(address)} {
		if err := deliver(s.p, "bounces@acme.test", address, raw); err != nil {
			t.Fatal(err)
		}
		arrived := fmt.Sprintf("Messages: %d.", i+1)
		if quiet {
			tab.ReloadUntil(arrived)
		} else {
			tab.AwaitText("#progress", arrived)
		}
	}
	tab.Expect(http.StatusOK, "Your code is 482913", "Acme Accounts <noreply@acme.test>", "attacker@evil.test", "<img src=x")
	expectVisible(t, tab)
	tab.Picture("inbox")
	tab.ExpectReachable()
	readMail(t, s, tab, h)
	tab.Go(inbox)
	tab.Submit("#progress tbody tr:first-child a")
	tab.Expect(http.StatusOK, "attacker@evil.test", "See the attachment.")
	tab.AwaitColour("iframe.preview", logoColour)
	if title := tab.Title(); strings.HasPrefix(title, "run") {
		t.Error("a script of an image has run")
	}
	expectVisible(t, tab)
	tab.Picture("received-trick")
	tab.Go(inbox + "/links")
	tab.Picture("inbox-links")
	tab.Go(inbox + "/edit")
	tab.Picture("inbox-edit")
	tab.Go(inbox + "/delete")
	tab.Picture("inbox-delete")
	tab.Submit(".page form button.danger")
	tab.Expect(http.StatusOK, "The inbox has ended")
	tab.Go(inbox)
	tab.Expect(http.StatusOK, "The messages are deleted", "deleted Messages: 2.")
	tab.Picture("inbox-ended")
	tab.Go(s.p.AppURL + "/dashboard/inboxes?status=all")
	tab.Expect(http.StatusOK, address, "deleted")
	tab.Picture("inboxes")
}

// readMail opens the message with HTML from the page of the inbox and checks its parts.
func readMail(t *testing.T, s *scene, tab *browser.Tab, h *target) {
	t.Helper()
	tab.Submit("#progress tbody tr:last-child a")
	tab.Expect(http.StatusOK, "482913", "Confirm address", "https://acme.test/confirm?token=abc", "Reply to", "help@acme.test", "bounces@acme.test",
		"not checked here", "Your verification code is 482913.", "invoicefdp.exe", "Remote images are not loaded")
	tab.AwaitColour("iframe.preview", "#ffffff")
	if title := tab.Title(); strings.HasPrefix(title, "run") {
		t.Error("a script of the mail has run")
	}
	if hits := h.names(); len(hits) != 0 {
		t.Errorf("the preview requested %q", hits)
	}
	expectVisible(t, tab)
	tab.Picture("received-message")
	tab.ExpectReachable()
	files := 0
	for _, link := range tab.Links() {
		if !strings.Contains(link.Address, "/o/") {
			continue
		}
		files++
		answer := s.p.Send(t, product.Request{URL: link.Address})
		if answer.Status != http.StatusOK || !strings.HasPrefix(answer.Header.Get("Content-Disposition"), "attachment") || !strings.Contains(answer.Header.Get("Content-Security-Policy"), "sandbox") {
			t.Errorf("%s: %d %v", link.Address, answer.Status, answer.Header)
		}
		expectPlain(t, answer.Header.Get("Content-Disposition"))
	}
	if files != 3 {
		t.Errorf("%d files, want the message and two attachments", files)
	}
}

// expectVisible fails the test if a page has characters that are invisible or turn the direction
// of the text around them.
func expectVisible(t *testing.T, tab *browser.Tab) {
	t.Helper()
	expectPlain(t, tab.Text()+tab.Title())
}

// expectPlain fails the test if a text has such characters.
func expectPlain(t *testing.T, text string) {
	t.Helper()
	if strings.ContainsAny(text, "\u202e\u2066\u200b\x1b\x00") || strings.Contains(strings.ToUpper(text), "%E2%80%AE") {
		t.Errorf("invisible characters: %q", text)
	}
}
