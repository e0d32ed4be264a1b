package inboxes

import (
	"context"
	"fmt"

	"github.com/mailhelm/mailhelm/core"
)

// CreatePullTokenIn has the inbox and the label of a new pull link.
type CreatePullTokenIn struct {
	ID    string `json:"id" jsonschema:"maxLength=64" jsonschema_description:"Id of the inbox."`
	Label string `json:"label,omitempty" jsonschema:"maxLength=80,default=default" jsonschema_description:"Your name for the link, one line."`
}

// MintedToken is the result of inbox_pull_tokens_create. See Minted for Sealed.
type MintedToken struct {
	Token   TokenView `json:"token"`
	Sealed  []byte    `json:"sealed"`
	PullURL string    `json:"-"`
}

// MintedTokenView is a new pull link in a REST response.
type MintedTokenView struct {
	TokenView
	PullURL string `json:"pull_url" voice:"ours" jsonschema_description:"Reads the messages without a credential until the inbox ends. It is shown only now. Treat it as a credential."`
}

// RESTView returns the pull link with its secret.
func (m MintedToken) RESTView() MintedTokenView { return MintedTokenView{m.Token, m.PullURL} }

func (x *Inboxes) pullTokensCreate() core.Operation {
	return core.Declare(core.Op[CreatePullTokenIn, MintedToken]{
		Name:    "inbox_pull_tokens_create",
		Title:   "Create a pull link",
		Purpose: "Creates a link that reads the messages of a temporary inbox without a credential, until the inbox ends. At most ten links of an inbox work at a time.",
		Example: `{"id": "` + exampleID + `", "label": "browser test"}`,
		Effect:  core.Writes,
		Scopes:  []core.Scope{core.InboxesManage},
		Fails:   []core.Code{core.CodeNotFound, core.CodeConflict, core.CodeInboxExpired},
		Do:      x.createToken,
		Recall: func(_ context.Context, _ *core.Call, m MintedToken) (MintedToken, error) {
			secret, err := x.unseal(m.Token.ID, m.Sealed)
			m.PullURL = x.pullURL(secret)
			return m, err
		},
	})
}

func (x *Inboxes) createToken(ctx context.Context, c *core.Call, in CreatePullTokenIn) (MintedToken, error) {
	if in.Label == "" {
		in.Label = defaultTokenLabel
	}
	if err := checkLabel(in.Label); err != nil {
		return MintedToken{}, err
	}
	found, err := x.visible(ctx, c.Principal, in.ID)
	if err != nil {
		return MintedToken{}, err
	}
	if status := found.StatusAt(c.Now); status != Active {
		return MintedToken{}, errEnded(status)
	}
	all, err := x.Tokens.PullTokens(ctx, found.OrgID, found.ID)
	if err != nil {
		return MintedToken{}, err
	}
	if len(all) >= MaxPullTokens && all[MaxPullTokens-1].RevokedAt == nil {
		return MintedToken{}, core.Conflict(fmt.Sprintf("The inbox has %d pull links that work, which is the maximum.", MaxPullTokens), "Revoke one of them first.")
	}
	token, secret := newToken(found.ID, in.Label, c.Now)
	if err := x.Tokens.AddToken(ctx, found.OrgID, token); err != nil {
		return MintedToken{}, err
	}
	c.SetSubject(found.ID)
	sealed, err := x.seal(token.ID, secret)
	return MintedToken{Token: viewOf(token), Sealed: sealed, PullURL: x.pullURL(secret)}, err
}

func (x *Inboxes) pullTokensList() core.Operation {
	return core.Declare(core.Op[InboxIn, core.Page[TokenView]]{
		Name:    "inbox_pull_tokens_list",
		Title:   "List pull links",
		Purpose: "Lists the pull links of a temporary inbox: first those that work, then the revoked ones. It does not show their secrets.",
		Example: `{"id": "` + exampleID + `"}`,
		Effect:  core.Reads,
		Cost:    core.Light,
		Scopes:  []core.Scope{core.InboxesView},
		Fails:   []core.Code{core.CodeNotFound},
		Do: func(ctx context.Context, c *core.Call, in InboxIn) (core.Page[TokenView], error) {
			found, err := x.visible(ctx, c.Principal, in.ID)
			if err != nil {
				return core.Page[TokenView]{}, err
			}
			all, err := x.Tokens.PullTokens(ctx, found.OrgID, found.ID)
			page := core.Page[TokenView]{Items: make([]TokenView, len(all)), Total: len(all)}
			for n, t := range all {
				page.Items[n] = viewOf(t)
			}
			return page, err
		},
	})
}

// RevokePullTokenIn names a pull link of an inbox.
type RevokePullTokenIn struct {
	ID      string `json:"id" jsonschema:"maxLength=64" jsonschema_description:"Id of the inbox."`
	TokenID string `json:"token_id" jsonschema:"maxLength=64" jsonschema_description:"Id of the pull link."`
}

func (x *Inboxes) pullTokensRevoke() core.Operation {
	return core.Declare(core.Op[RevokePullTokenIn, core.Deleted]{
		Name:    "inbox_pull_tokens_revoke",
		Title:   "Revoke a pull link",
		Purpose: "Revokes a pull link of a temporary inbox, from the next request on. It may be repeated. The inbox and its other links stay.",
		Example: `{"id": "` + exampleID + `", "token_id": "01976f3a-5b00-7000-8000-0000000000a2"}`,
		Effect:  core.Writes,
		Scopes:  []core.Scope{core.InboxesManage},
		Fails:   []core.Code{core.CodeNotFound},
		Do: func(ctx context.Context, c *core.Call, in RevokePullTokenIn) (core.Deleted, error) {
			found, err := x.visible(ctx, c.Principal, in.ID)
			if err != nil {
				return core.Deleted{}, err
			}
			c.SetSubject(found.ID)
			return core.Deleted{Deleted: true}, x.Tokens.RevokeToken(ctx, found.OrgID, found.ID, in.TokenID, c.Now)
		},
	})
}
