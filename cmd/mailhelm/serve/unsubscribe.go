package serve

import (
	"context"
	"fmt"
	"net/http"
	"strconv"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/config"
	"github.com/mailhelm/mailhelm/core/catalogue"
	"github.com/mailhelm/mailhelm/core/handover"
	"github.com/mailhelm/mailhelm/core/mailsettings"
	"github.com/mailhelm/mailhelm/core/signing"
	"github.com/mailhelm/mailhelm/core/unsubscribe"
	"github.com/mailhelm/mailhelm/core/webhooks"
	pages "github.com/mailhelm/mailhelm/rest/unsubscribe"
)

// newLinks returns the unsubscribe links of an installation. All processes with the same
// master key make the same links without storing a key.
func newLinks(master signing.MasterKey, public config.Public) (*unsubscribe.Links, error) {
	key, err := master.Derive(unsubscribe.KeyPurpose, unsubscribe.KeyBytes)
	if err != nil {
		return nil, fmt.Errorf("key of unsubscribe links: %w", err)
	}
	return unsubscribe.NewLinks(key, public.App)
}

// unsubscribePages returns the handler of the public pages behind unsubscribe links.
func unsubscribePages(cfg config.Config, s *stores, domains catalogue.Domains) (http.Handler, error) {
	trusted, err := cfg.Proxies()
	if err != nil {
		return nil, err
	}
	site, err := pages.New(pages.Config{
		Choices: unsubscribe.New(unsubscribe.Config{
			Links: s.links, Contacts: s.db.Contacts(), Choices: domains.Contacts, Topics: s.db.Topics(), Orgs: s.db.Orgs(), Transactor: s.db,
			Addresses: sentAddresses{s.db.Handover()}, OnUnsubscribe: notifyUnsubscribes(s.hooks), Languages: recipientLanguages{newMailSettings(cfg, s)}, Clock: cfg.Clock,
		}),
		Remote: trusted.Remote, Clock: cfg.Clock, Log: cfg.Log,
	})
	if err != nil {
		return nil, err
	}
	return site.Handler(), nil
}

// recipientLanguages reads in which language recipients are addressed; it is an
// [unsubscribe.LanguageReader].
type recipientLanguages struct{ settings *mailsettings.MailSettings }

// Language returns the language of the organization's mail.
func (l recipientLanguages) Language(ctx context.Context, orgID string) (string, error) {
	found, err := l.settings.Of(ctx, orgID)
	return found.Language, err
}

// notifyUnsubscribes returns the function that creates webhook deliveries of opt-outs. An
// opt-out is identified by the contact, the topic and its time.
func notifyUnsubscribes(hooks *webhooks.Observer) func(ctx context.Context, orgID string, u unsubscribe.Unsubscription) error {
	return func(ctx context.Context, orgID string, u unsubscribe.Unsubscription) error {
		return hooks.ObserveUnsubscribe(ctx, orgID, webhooks.Unsubscribe{
			ID: u.ContactID + "/" + u.Topic + "/" + strconv.FormatInt(u.At.UnixMicro(), 10), At: u.At, Recipient: u.Email,
			ContactID: u.ContactID, BroadcastID: u.SendID, Topic: u.Topic,
		})
	}
}

// sentAddresses reads the addresses of recipients; it is an [unsubscribe.AddressReader]. The
// key of a recipient is the id of its contact.
type sentAddresses struct{ store handover.Store }

// RecipientAddress returns the address to which the mail of a send to a contact was sent.
func (a sentAddresses) RecipientAddress(ctx context.Context, orgID, sendID, contactID string) (string, error) {
	recipient, err := a.store.Recipient(ctx, orgID, sendID, contactID)
	return recipient.Email, err
}
