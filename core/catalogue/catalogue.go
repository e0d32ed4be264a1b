// Package catalogue lists every operation of Mailhelm, in the order in which the
// documentation and tools/list show them. It decides only this order; each operation is
// declared in the package of its subject.
package catalogue

import (
	"slices"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/account"
	"github.com/mailhelm/mailhelm/core/activities"
	"github.com/mailhelm/mailhelm/core/approving"
	"github.com/mailhelm/mailhelm/core/assets"
	"github.com/mailhelm/mailhelm/core/attributes"
	"github.com/mailhelm/mailhelm/core/broadcasts"
	"github.com/mailhelm/mailhelm/core/bulk"
	"github.com/mailhelm/mailhelm/core/bundles"
	"github.com/mailhelm/mailhelm/core/channels"
	"github.com/mailhelm/mailhelm/core/contacts"
	"github.com/mailhelm/mailhelm/core/domainauth"
	"github.com/mailhelm/mailhelm/core/inboxes"
	"github.com/mailhelm/mailhelm/core/lists"
	"github.com/mailhelm/mailhelm/core/messages"
	"github.com/mailhelm/mailhelm/core/receiving"
	"github.com/mailhelm/mailhelm/core/reports"
	"github.com/mailhelm/mailhelm/core/segments"
	"github.com/mailhelm/mailhelm/core/senders"
	"github.com/mailhelm/mailhelm/core/suppression"
	"github.com/mailhelm/mailhelm/core/tags"
	"github.com/mailhelm/mailhelm/core/templates"
	"github.com/mailhelm/mailhelm/core/testsends"
	"github.com/mailhelm/mailhelm/core/topics"
	"github.com/mailhelm/mailhelm/core/workflows"
)

// Domains has the values that implement the operations, one per subject. The zero Domains
// is enough to read the declarations, as the documentation does.
type Domains struct {
	Account     *account.Account
	Messages    *messages.Messages
	Reports     *reports.Reports
	Suppression *suppression.Suppression
	Channels    *channels.Channels
	Templates   *templates.Templates
	Tags        *tags.Tags
	Contacts    *contacts.Contacts
	Bulk        *bulk.Bulk
	Pushes      *bulk.Pushes
	Lists       *lists.Lists
	Attributes  *attributes.Attributes
	Topics      *topics.Topics
	Sync        *topics.Sync
	Activities  *activities.Activities
	Segments    *segments.Segments
	Workflows   *workflows.Workflows
	Broadcasts  *broadcasts.Broadcasts
	Receiving   *receiving.Receiving
	Inboxes     *inboxes.Inboxes
	Senders     *senders.Senders
	DomainAuth  *domainauth.DomainAuth
	Bundles     *bundles.Bundles
	Assets      *assets.Assets
	// Approvals is where people decide about sends. It has no operations.
	Approvals *approving.Desk
	// TemplateTests and BroadcastTests send tests of templates and broadcasts.
	TemplateTests  *testsends.Templates
	BroadcastTests *testsends.Broadcasts
}

// Operations returns every operation, in the order in which the documentation shows them.
func Operations(d Domains) []core.Operation {
	if d == (Domains{}) {
		d = documentationOnly()
	}
	return slices.Concat(
		d.Account.Operations(),
		[]core.Operation{access.CredentialsGetScopes()},
		d.Suppression.Operations(),
		d.Reports.Operations(),
		d.Messages.Operations(),
		d.Channels.Operations(),
		d.Contacts.Operations(),
		d.Bulk.Operations(),
		[]core.Operation{d.Contacts.SetListMembership()},
		d.Lists.Operations(),
		d.Attributes.Operations(),
		d.Topics.Operations(),
		[]core.Operation{d.Attributes.GetSchema()},
		d.Activities.Operations(),
		d.Segments.Operations(),
		d.Templates.Operations(),
		d.TemplateTests.Operations(),
		d.Workflows.Operations(),
		d.Broadcasts.Operations(),
		d.BroadcastTests.Operations(),
		d.Tags.Operations(),
		d.Bundles.Operations(),
		d.Assets.Operations(),
		d.Receiving.Operations(),
		d.Inboxes.Operations(),
		d.Senders.Operations(),
		d.DomainAuth.Operations(),
	)
}

// NeededScopes returns the scopes that at least one of the operations or their arguments
// needs, sorted.
func NeededScopes(operations []core.Operation) core.Scopes {
	var names []string
	for _, op := range operations {
		names = append(names, op.Info().NeededScopes().Strings()...)
	}
	return core.NewScopes(names...)
}

// documentationOnly returns domains without stores. Their operations can be described but
// not called.
func documentationOnly() Domains {
	return Domains{
		Account:     account.New(account.Config{Clock: core.SystemClock}),
		Messages:    messages.New(messages.Config{Clock: core.SystemClock}),
		Reports:     reports.New(reports.Config{Clock: core.SystemClock}),
		Suppression: suppression.New(suppression.Config{Clock: core.SystemClock}),
		Channels:    channels.New(channels.Config{Clock: core.SystemClock}),
		Templates:   templates.New(templates.Config{Clock: core.SystemClock}),
		Tags:        tags.New(tags.Config{Clock: core.SystemClock}),
		Contacts:    contacts.New(contacts.Config{Clock: core.SystemClock}),
		Bulk:        bulk.New(bulk.Config{Clock: core.SystemClock}),
		Lists:       lists.New(lists.Config{Clock: core.SystemClock}),
		Attributes:  attributes.New(attributes.Config{Clock: core.SystemClock}),
		Topics:      topics.New(topics.Config{Clock: core.SystemClock}),
		Activities:  activities.New(activities.Config{Clock: core.SystemClock}),
		Segments:    segments.New(segments.Config{Clock: core.SystemClock}),
		Workflows:   workflows.New(workflows.Config{Clock: core.SystemClock}),
		Broadcasts:  broadcasts.New(broadcasts.Config{Clock: core.SystemClock}),
		Receiving:   receiving.New(receiving.Config{Clock: core.SystemClock}),
		Inboxes:     inboxes.New(inboxes.Config{Clock: core.SystemClock}),
		Senders:     senders.New(senders.Config{Clock: core.SystemClock}),
		DomainAuth:  domainauth.New(domainauth.Config{}),
		Bundles:     bundles.New(bundles.Config{}),
		Assets:      assets.New(assets.Config{Clock: core.SystemClock}),

		TemplateTests:  testsends.NewTemplates(testsends.TemplatesConfig{}),
		BroadcastTests: &testsends.Broadcasts{},
	}
}

// TitlesOfWrites returns the titles of the operations that write, by name.
func TitlesOfWrites(operations []core.Operation) map[string]string {
	titles := map[string]string{}
	for _, op := range operations {
		if info := op.Info(); info.Effect != core.Reads {
			titles[info.Name] = info.Title
		}
	}
	return titles
}
