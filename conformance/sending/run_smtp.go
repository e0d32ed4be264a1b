package sending

import (
	"testing"

	port "github.com/mailhelm/mailhelm/core/sending"
)

// RunSMTP runs the tests of an SMTP account. Mailhelm stores the consent of such an account
// itself. An SMTP server sends messages, but has no templates, channels and suppression
// list.
func RunSMTP(t *testing.T, open func(t *testing.T) Subject) {
	t.Helper()
	promises{
		{"an organization without an account is not connected", noAccountIsNotConnected},
		{"an account without a list has no contacts", noListNoContacts},
		{"an account gets a list once, however many ask for it", listIsMadeOnce},
		{"a contact comes back as it was put", contactRoundTrip},
		{"addresses differ in more than case", caseDoesNotMatter},
		{"a put replaces all consent", putReplaces},
		{"a repeated put changes nothing", repeatedPutChangesNothing},
		{"values the account does not take are invalid", invalidValues},
		{"of many contacts each has its outcome", manyContacts},
		{"a delete may be repeated", deleteIsRepeatable},
		{"an erased contact is gone", erasedContact},
		{"topics are what a change makes of them", topicsAreChanged},
		{"a change of topics that changes nothing leaves the list", unchangedTopics},
		{"a change that refuses is no failure of the account", refusedChange},
		{"topics the account does not take are invalid", invalidTopics},
		{"a list has room for so many topics", topicsHaveALimit},
		{"concurrent changes of topics lose nothing", concurrentTopics},
		{"pages hold every contact once", pagesHoldEveryContactOnce},
		{"pages survive changes in between", pagesSurviveChanges},
		{"a page token that is none fails", badTokens},
		{"concurrent writers lose nothing", concurrentWriters},
		{"a call that is called off fails", cancelledCallsFail},
		{"a message that is handed over has an id and counts", serverTakesMessages},
		{"messages from somebody else are rejected", serverRejectsStrangers},
		{"the quota of a day is kept", serverQuotaIsKept},
		{"what a server cannot do is unsupported", serverCannot},
		{"what a server has none of is empty", serverHasNone},
	}.runAll(t, open)
}

// bareMessage returns a valid message without a configuration set.
func bareMessage(to ...string) port.Message {
	m := message("")
	m.ConfigurationSet, m.To = "", to
	return m
}

// serverTakesMessages sends three messages to four recipients in all. Each message must get
// an id of its own. All four recipients must count for the daily quota.
func serverTakesMessages(t *testing.T, s Subject) {
	s.Seed(t, "org", senders())
	ids := map[string]bool{}
	for _, m := range []port.Message{bareMessage("ada@example.org"), bareMessage("ada@example.org"), bareMessage("ada@example.org", "bob@example.org")} {
		id, err := s.Account.Send(t.Context(), "org", m)
		if err != nil || id == "" || ids[id] {
			t.Errorf("the message to %v has the id %q, %v", m.To, id, err)
		}
		ids[id] = true
	}
	wantSent(t, s, 4)
}

// serverRejectsStrangers sends a message from an address that is not verified. The call
// must fail with Rejected. A malformed message must fail with Invalid.
func serverRejectsStrangers(t *testing.T, s Subject) {
	s.Seed(t, "org", senders())
	stranger := bareMessage("ada@example.org")
	stranger.From = "ada@elsewhere.example"
	_, err := s.Account.Send(t.Context(), "org", stranger)
	WantKind(t, "a sender that is none of the identities", err, port.Rejected)
	wantShown(t, "Send", err, 409, 0)
	for name, spoil := range map[string]func(*port.Message){
		"no recipient":               func(m *port.Message) { m.To = nil },
		"a sender with a line break": func(m *port.Message) { m.From = "ada@example.com\r\nBcc: eve@example.com" },
		"a header with a line break": func(m *port.Message) { m.Headers = []port.Header{{Name: "X-A", Value: "a\r\nBcc: eve@example.com"}} },
		"a channel":                  func(m *port.Message) { m.ConfigurationSet = "marketing" },
	} {
		bad := bareMessage("ada@example.org")
		spoil(&bad)
		_, err := s.Account.Send(t.Context(), "org", bad)
		WantKind(t, name, err, port.Invalid)
	}
	wantSent(t, s, 0)
}

// serverQuotaIsKept sends to more recipients than the daily quota allows. The call must
// fail with Throttled, and its recipients must not count for the quota.
func serverQuotaIsKept(t *testing.T, s Subject) {
	setup := senders()
	setup.Overview.Max24HourSend = 2
	s.Seed(t, "org", setup)
	for range 2 {
		if _, err := s.Account.Send(t.Context(), "org", bareMessage("ada@example.org")); err != nil {
			t.Fatal(err)
		}
	}
	_, err := s.Account.Send(t.Context(), "org", bareMessage("ada@example.org"))
	WantKind(t, "a third message of two", err, port.Throttled)
	wantSent(t, s, 2)
}

// serverCannot calls the methods that SMTP has no equivalent for. Each must fail with
// Unsupported, which API callers get as status 409.
func serverCannot(t *testing.T, s Subject) {
	s.Seed(t, "org", senders())
	templated := bareMessage("ada@example.org")
	templated.Content = port.Content{Template: "welcome"}
	_, err := s.Account.Send(t.Context(), "org", templated)
	WantKind(t, "a message of a template", err, port.Unsupported)
	all := Calls(t, s.Account, "org")
	for _, name := range []string{"SendBulk", "PutTemplate", "RequestProductionAccess"} {
		err := all[name](t.Context())
		WantKind(t, name, err, port.Unsupported)
		wantShown(t, name, err, 409, 0)
	}
	wantSent(t, s, 0)
}

// serverHasNone calls methods about templates, channels and suppressed addresses, which
// SMTP does not have. Calls that list such objects or delete one must succeed. Calls that
// read one must fail with NotFound.
func serverHasNone(t *testing.T, s Subject) {
	s.Seed(t, "org", senders())
	all := Calls(t, s.Account, "org")
	for _, name := range []string{"FindSuppressed", "Template"} {
		WantKind(t, name, all[name](t.Context()), port.NotFound)
	}
	for _, name := range []string{"ConfigurationSets", "SuppressedPage", "TemplatesPage", "DeleteTemplate"} {
		WantKind(t, name, all[name](t.Context()), "")
	}
	identities, err := s.Account.Identities(t.Context(), "org")
	if err != nil || len(identities) != 2 {
		t.Errorf("the identities are %+v, %v", identities, err)
	}
}
