package inboxes

import (
	"time"
)

// Record is an inbox as the API shows it.
type Record struct {
	ID        string    `json:"id" jsonschema:"format=uuid"`
	Address   string    `json:"address" voice:"ours" jsonschema_description:"Address that receives mail until expires_at."`
	ExpiresAt time.Time `json:"expires_at" jsonschema_description:"End of the inbox. It cannot be extended."`
	PollURL   string    `json:"poll_url" voice:"ours" jsonschema_description:"Address of the long poll for messages, which needs the credential."`
	PullToken TokenView `json:"pull_token" jsonschema_description:"The pull link that was made with the inbox, without its secret."`
	// Restricted is true if only AllowedSenders may send.
	Restricted        bool              `json:"restricted" jsonschema_description:"Whether only allowed_senders may send."`
	RestrictionSource RestrictionSource `json:"restriction_source,omitempty" jsonschema:"enum=verified,enum=platform" jsonschema_description:"How the entries of allowed_senders were checked: verified are proven addresses and domains, platform only have a valid form. Absent without a restriction."`
	AccountRef        string            `json:"account_ref,omitempty" voice:"untrusted" jsonschema_description:"Your id of the customer for whom the inbox is."`
	Visibility        Visibility        `json:"visibility" jsonschema:"enum=private,enum=org"`
	Label             string            `json:"label" voice:"untrusted"`
	Status            Status            `json:"status" jsonschema:"enum=active,enum=expired,enum=deleted"`
	AllowedSenders    []string          `json:"allowed_senders" voice:"untrusted" jsonschema_description:"Addresses, and domains as @example.com, that may send; empty means all senders."`
	MessageCount      int               `json:"message_count" jsonschema_description:"Accepted messages."`
	DroppedCount      int               `json:"dropped_count" jsonschema_description:"Messages that were dropped: of other senders, with malware, after the end, or when the inbox was full."`
	CreatedAt         time.Time         `json:"created_at"`
}

// TokenView is a pull link as the API shows it.
type TokenView struct {
	ID        string     `json:"id" jsonschema:"format=uuid"`
	Prefix    string     `json:"prefix" voice:"ours" jsonschema_description:"First eight characters of the secret in the link."`
	Label     string     `json:"label" voice:"untrusted"`
	CreatedAt time.Time  `json:"created_at"`
	RevokedAt *time.Time `json:"revoked_at" jsonschema:"nullable" jsonschema_description:"When the link was revoked, null while it works."`
}

func viewOf(t Token) TokenView {
	return TokenView{ID: t.ID, Prefix: t.Prefix, Label: t.Label, CreatedAt: t.CreatedAt, RevokedAt: t.RevokedAt}
}

// recordOf returns an inbox as the API shows it at a time.
func (x *Reader) recordOf(i Inbox, now time.Time) Record {
	return Record{
		ID: i.ID, Address: x.AddressOf(i), ExpiresAt: i.ExpiresAt, PollURL: x.BaseURL + "/v1/inboxes/" + i.ID + "/messages",
		PullToken: viewOf(i.First), Restricted: i.Restriction != Unrestricted, RestrictionSource: i.Restriction, AccountRef: i.AccountRef,
		Visibility: i.Visibility, Label: i.Label, Status: i.StatusAt(now), AllowedSenders: append([]string{}, i.AllowedSenders...),
		MessageCount: i.MessageCount, DroppedCount: i.DroppedCount, CreatedAt: i.CreatedAt,
	}
}

// AddressOf returns the address of an inbox.
func (x *Reader) AddressOf(i Inbox) string { return i.LocalPart + "@" + x.Domain }
