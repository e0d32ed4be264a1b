package inboxes

import (
	"context"
	"crypto/rand"
	"errors"
	"strings"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
)

const exampleID = "01976f3a-5b00-7000-8000-0000000000a1"

// CreateInboxIn has the settings of a new inbox. All are optional, except AccountRef in
// platform mode.
type CreateInboxIn struct {
	TTL            int        `json:"ttl,omitempty" jsonschema:"minimum=60,maximum=3600,default=600" jsonschema_description:"Life in seconds."`
	Label          string     `json:"label,omitempty" jsonschema:"maxLength=80" jsonschema_description:"Your name for the inbox, one line."`
	Visibility     Visibility `json:"visibility,omitempty" jsonschema:"enum=private,enum=org,default=private" jsonschema_description:"private: only you see it. org: the whole organization does."`
	AllowedSenders []string   `json:"allowed_senders,omitempty" jsonschema:"maxItems=100" jsonschema_description:"Who may send: addresses that you verified, and verified domains of the organization as @example.com, without their subdomains. Empty or absent: all senders. It cannot be changed later."`
	AccountRef     string     `json:"account_ref,omitempty" jsonschema:"maxLength=128" jsonschema_description:"Your id of the customer for whom the inbox is, such as customer-1042; no email address. Required in platform mode, where limits are counted for each."`
}

// Minted is the result of inboxes_create. The secret of the pull link is stored encrypted, in
// the record of the call only, so that a repeated call gets the same link.
type Minted struct {
	Inbox  Record `json:"inbox"`
	Sealed []byte `json:"sealed"`
	// PullURL is a credential. The stored result does not have it.
	PullURL string `json:"-"`
}

// MintedView is a new inbox in a REST response.
type MintedView struct {
	Record
	PullURL string `json:"pull_url" voice:"ours" jsonschema_description:"Reads the messages without a credential until the inbox ends. It is shown only now. Treat it as a credential."`
}

// RESTView returns the inbox with its pull link.
func (m Minted) RESTView() MintedView { return MintedView{m.Inbox, m.PullURL} }

func (x *Inboxes) inboxesCreate() core.Operation {
	return core.Declare(core.Op[CreateInboxIn, Minted]{
		Name:  "inboxes_create",
		Title: "Create an inbox",
		Purpose: "Creates an email address that receives mail for a minute up to an hour. Use it in a test, or to receive one confirmation. " +
			"Returns the address, the address of the long poll, and a pull link that reads the messages without a credential. It sends no mail.",
		Example: `{"ttl": 900, "label": "sign-up test"}`,
		Effect:  core.Writes,
		Scopes:  []core.Scope{core.InboxesManage},
		Fails:   []core.Code{core.CodeRateLimited},
		Do:      x.create,
		Recall: func(_ context.Context, _ *core.Call, m Minted) (Minted, error) {
			secret, err := x.unseal(m.Inbox.PullToken.ID, m.Sealed)
			m.PullURL = x.pullURL(secret)
			return m, err
		},
	})
}

func (x *Inboxes) create(ctx context.Context, c *core.Call, in CreateInboxIn) (Minted, error) {
	i, err := x.newInbox(ctx, c, in)
	if err != nil {
		return Minted{}, err
	}
	if err := x.admit(ctx, c.Principal, i); err != nil {
		return Minted{}, err
	}
	token, secret := newToken(i.ID, defaultTokenLabel, c.Now)
	i.First = token
	if i, err = x.insert(ctx, i); err != nil {
		return Minted{}, err
	}
	c.SetSubject(i.ID)
	sealed, err := x.seal(token.ID, secret)
	return Minted{Inbox: x.recordOf(i, c.Now), Sealed: sealed, PullURL: x.pullURL(secret)}, err
}

// newInbox returns the inbox that a call asks for, without its address.
func (x *Inboxes) newInbox(ctx context.Context, c *core.Call, in CreateInboxIn) (Inbox, error) {
	if err := checkLabel(in.Label); err != nil {
		return Inbox{}, err
	}
	if err := checkAccountRef(in.AccountRef, c.Principal.Org.PlatformMode); err != nil {
		return Inbox{}, err
	}
	allowed, err := x.allowedSenders(ctx, c.Principal, in.AllowedSenders)
	if err != nil {
		return Inbox{}, err
	}
	if in.TTL == 0 {
		in.TTL = DefaultTTL
	}
	if in.Visibility == "" {
		in.Visibility = Private
	}
	i := Inbox{
		ID: core.NewID(), OrgID: c.Principal.Org.ID, Owner: c.Principal.Owner(), Caller: c.Principal.Caller(), AccountRef: in.AccountRef,
		Label: in.Label, Visibility: in.Visibility, AllowedSenders: allowed, CreatedAt: c.Now.UTC().Truncate(time.Microsecond),
	}
	i.ExpiresAt = i.CreatedAt.Add(time.Duration(in.TTL) * time.Second)
	switch {
	case len(allowed) == 0:
	case c.Principal.Org.PlatformMode:
		i.Restriction = Platform
	default:
		i.Restriction = Verified
	}
	return i, nil
}

// insert stores the inbox under a new address, and returns it with the address.
func (x *Inboxes) insert(ctx context.Context, i Inbox) (Inbox, error) {
	const tries = 5 // even the second is improbable: there are 36^10 addresses
	for range tries {
		i.LocalPart = newLocalPart()
		if stored, err := x.Store.InsertInbox(ctx, i); err != nil || stored {
			return i, err
		}
	}
	return i, errors.New("no free address was found")
}

// newLocalPart returns ten random lower-case letters and digits.
func newLocalPart() string {
	const length, alphabet = 10, "abcdefghijklmnopqrstuvwxyz0123456789"
	const fair = 256 / len(alphabet) * len(alphabet) // bytes from here on would favour some letters
	local := make([]byte, 0, length)
	for len(local) < length {
		var random [2 * length]byte
		rand.Read(random[:]) // never returns an error
		for _, b := range random {
			if int(b) < fair && len(local) < length {
				local = append(local, alphabet[int(b)%len(alphabet)])
			}
		}
	}
	return string(local)
}

func checkLabel(label string) error {
	if label == "" {
		return nil
	}
	return core.CheckLine("label", label, MaxLabel)
}

// checkAccountRef fails for a reference that is not valid, or missing in platform mode.
func checkAccountRef(ref string, platform bool) error {
	switch {
	case ref == "" && platform:
		return core.Invalid("account_ref", "is required, because this organization is in platform mode: send your id of the customer for whom the inbox is")
	case strings.ContainsFunc(ref, notInRef):
		return core.Invalid("account_ref", "may have letters, digits and . _ : @ / - only, and no white space")
	case core.IsEmail(ref):
		return core.Invalid("account_ref", "must not be an email address: send an id")
	}
	return nil
}

func notInRef(r rune) bool {
	letter := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
	return !letter && !strings.ContainsRune("._:@/-", r)
}

// newToken returns a new pull link and its secret, which is not stored in clear.
func newToken(inboxID, label string, now time.Time) (Token, string) {
	const prefix = 8
	minted := access.MintLink()
	return Token{
		ID: core.NewID(), InboxID: inboxID, Hash: minted.Hash, Prefix: minted.Secret[:prefix], Label: label, CreatedAt: now.UTC().Truncate(time.Microsecond),
	}, minted.Secret
}

// pullURL returns the pull link with a secret.
func (x *Inboxes) pullURL(secret string) string { return x.FetchURL + "/p/" + secret + "/messages" }

// sealPurpose separates the secrets of pull links from other encrypted values.
const sealPurpose = "inbox pull link"

func (x *Inboxes) seal(tokenID, secret string) ([]byte, error) {
	return x.Sealer.Seal(sealPurpose, tokenID, []byte(secret))
}

func (x *Inboxes) unseal(tokenID string, sealed []byte) (string, error) {
	secret, err := x.Sealer.Open(sealPurpose, tokenID, sealed)
	return string(secret), err
}
