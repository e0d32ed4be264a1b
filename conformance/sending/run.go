package sending

import (
	"testing"

	port "github.com/mailhelm/mailhelm/core/sending"
)

// Subject is the adapter under test. Its account is empty at first.
type Subject struct {
	Account port.Account
	// Seed sets the content of an organization's account directly, not through the adapter
	// under test.
	Seed func(t *testing.T, orgID string, s Setup)
	// Restart closes the account and opens it again, as after a restart of the process.
	Restart func(t *testing.T) port.Account
	// Fail makes every call of the adapter fail with the failure f, until the test calls
	// heal.
	Fail func(t *testing.T, f port.Failure) (heal func())
}

// Setup is the initial content of an account. If List is nil, the account has no contact
// list.
type Setup struct {
	Overview          port.Overview
	Identities        []port.Identity
	ConfigurationSets []port.ConfigurationSet
	List              *port.ContactList
	Contacts          []port.Contact
	Suppressed        []port.Suppressed
	Templates         []port.Template
}

// Run runs all tests of an adapter, in parallel. It calls open for a new Subject for each
// test.
func Run(t *testing.T, open func(t *testing.T) Subject) {
	t.Helper()
	promises{
		{"the account is read as it was set up", accountIsRead},
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
		{"an erased address is on no list", erasedAddress},
		{"topics are what a change makes of them", topicsAreChanged},
		{"a change of topics that changes nothing leaves the list", unchangedTopics},
		{"a change that refuses is no failure of the account", refusedChange},
		{"topics the account does not take are invalid", invalidTopics},
		{"a list has room for so many topics", topicsHaveALimit},
		{"concurrent changes of topics lose nothing", concurrentTopics},
		{"pages hold every contact once", pagesHoldEveryContactOnce},
		{"pages survive changes in between", pagesSurviveChanges},
		{"a page token that is none fails", badTokens},
		{"organizations do not see one another", organizationsAreApart},
		{"concurrent writers lose nothing", concurrentWriters},
		{"a restart finds everything", restartFindsEverything},
		{"failures are typed and say nothing to callers", failuresAreTyped},
		{"a call that is called off fails", cancelledCallsFail},
		{"a domain has DKIM tokens and an address none", domainsHaveTokens},
		{"production access is asked for once", productionAccessIsAskedForOnce},
		{"the suppression list is read as it was set up", suppressionIsRead},
		{"the suppression list has windows", suppressionHasWindows},
		{"pages hold every suppressed address once", suppressionPages},
		{"a template comes back as it was put", templateRoundTrip},
		{"organizations do not see one another's templates", templatesAreApart},
		{"templates the account does not take are invalid", invalidTemplates},
		{"pages hold every template once", templatePages},
		{"a message that is handed over has an id and counts", messagesAreHandedOver},
		{"messages the account does not send are rejected", unsendableMessages},
		{"messages that are none are invalid", invalidMessages},
		{"the quota of a day is kept", dailyQuotaIsKept},
		{"a bulk has an outcome for each recipient", bulkOutcomes},
		{"a bulk may have its template and the headers of each recipient in the call", inlineBulks},
		{"a bulk that is none is invalid", invalidBulks},
	}.runAll(t, open)
}

// promises is a list of independent tests of an adapter, each named by the behaviour that
// it checks.
type promises []struct {
	name string
	run  func(t *testing.T, s Subject)
}

// runAll runs each test in p as a parallel subtest with a new Subject.
func (p promises) runAll(t *testing.T, open func(t *testing.T) Subject) {
	t.Helper()
	for _, promise := range p {
		t.Run(promise.name, func(t *testing.T) {
			t.Parallel()
			promise.run(t, open(t))
		})
	}
}

// people returns the setup of most tests: an account with a list of two topics and these
// contacts.
func people(contacts ...port.Contact) Setup {
	return Setup{
		Overview: port.Overview{AccountID: "111122223333", Region: "eu-west-1", SendingEnabled: true, Max24HourSend: 200, MaxSendRate: 1},
		List: &port.ContactList{Name: "people", Topics: []port.Topic{
			{Name: "news", DisplayName: "News", Description: "What is new", Default: port.OptIn},
			{Name: "offers", DisplayName: "Offers", Default: port.OptOut},
		}},
		Contacts: contacts,
	}
}

// WantKind fails the test unless err is a failure of the kind, or nil if kind is "".
func WantKind(t *testing.T, what string, err error, kind port.FailureKind) {
	t.Helper()
	if got := kindOf(err); got != kind {
		t.Errorf("%s fails with %q (%v), want %q", what, got, err, kind)
	}
}
