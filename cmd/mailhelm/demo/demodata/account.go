package demodata

import (
	"context"

	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/core/sending/simulator"
)

// account creates the demo's simulated sending account with the given people as contacts.
// The account is out of the sandbox and has a channel for each kind of mail. The domain
// example.net is not verified yet: it waits for DNS records. account may be called again.
func (s Seeder) account(ctx context.Context, orgID string, people []person) error {
	contacts := make([]sending.Contact, len(people))
	for i, p := range people {
		contacts[i] = p.consent()
	}
	return s.Account.Seed(ctx, orgID, simulator.Setup{
		Account: overview(1_284),
		Identities: []sending.Identity{
			{Identity: "example.com", Verification: sending.Success},
			{Identity: "news@example.org", Verification: sending.Success},
			{Identity: "example.net", Verification: sending.Pending},
		},
		ConfigurationSets: configurationSets,
		List:              &sending.ContactList{Name: "fernhill", Description: "Customers and subscribers of the roastery.", Topics: accountTopics},
		Contacts:          contacts,
	})
}

// overview returns the state of a sending account out of the sandbox. sentLast24Hours is
// the number of messages it shows as sent.
func overview(sentLast24Hours int64) *sending.Overview {
	return &sending.Overview{
		Region: "eu-central-1", SendingEnabled: true,
		Max24HourSend: 50_000, MaxSendRate: 14, SentLast24Hours: sentLast24Hours,
	}
}

// configurationSets are the channels of the demo's account, one for each kind of mail.
var configurationSets = []sending.ConfigurationSet{
	{Name: "default", SuppressionPolicy: []string{"BOUNCE"}},
	{Name: "transactional", SuppressionPolicy: []string{"BOUNCE"}},
	{Name: "marketing", TrackingDomain: "click.example.com", SuppressionPolicy: []string{"BOUNCE", "COMPLAINT"}},
	{Name: "onboarding", SuppressionPolicy: []string{"BOUNCE"}},
}
