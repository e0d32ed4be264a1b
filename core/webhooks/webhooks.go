package webhooks

import (
	"context"
	"fmt"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/standardhooks"
)

// Sealer encrypts secrets. id is the record to which the secret belongs.
type Sealer interface {
	Seal(purpose, id string, plain []byte) ([]byte, error)
	Open(purpose, id string, sealed []byte) ([]byte, error)
}

// sealPurpose separates the secrets of endpoints from other encrypted values.
const sealPurpose = "webhook secret"

// Webhooks manages endpoints and their deliveries. It does not check permissions: callers
// do. Each change and its entry in the audit log are one transaction. All fields are
// required except Observer, which is nil in a process that records no events.
type Webhooks struct {
	Store      Store
	Transactor core.Transactor
	Audit      access.AuditAppender
	Sealer     Sealer
	Observer   *Observer
	Clock      core.Clock
	// Networks is true if the operator allows endpoints in private networks.
	Networks bool
}

// change calls do in a transaction, records an entry with the given action in the audit log,
// and forgets the subscriptions of the organization.
func (w Webhooks) change(ctx context.Context, actor access.Actor, orgID, action, id string, detail any, do func(context.Context, time.Time) error) error {
	err := w.Transactor.InTx(ctx, func(ctx context.Context) error {
		now := w.Clock()
		if err := do(ctx, now); err != nil {
			return err
		}
		return access.RecordAudit(ctx, w.Audit, now, access.AuditEntry{Actor: actor, Action: action, OrgID: orgID, Subject: id, Detail: detail})
	})
	if w.Observer != nil {
		w.Observer.Forget(orgID)
	}
	return err
}

// settingsDetail is the detail of an entry of the audit log about an endpoint. It does not
// have the URL, because URLs of receivers often contain a token.
type settingsDetail struct {
	Events  []EventType `json:"events"`
	Enabled bool        `json:"enabled"`
}

// Create stores a new endpoint and returns it with its secret, which cannot be read again.
// id is the id of the endpoint, so that a repeated form creates one endpoint. Create fails
// with core.CodeValidationFailed for invalid settings. It fails with core.CodeConflict if the
// id is taken or the organization has MaxEndpoints endpoints.
func (w Webhooks) Create(ctx context.Context, actor access.Actor, orgID, id string, s Settings) (Endpoint, string, error) {
	s, err := s.check(w.Networks)
	if err != nil {
		return Endpoint{}, "", err
	}
	e := Endpoint{ID: id, URL: s.URL, Description: s.Description, Types: s.Types, Enabled: s.Enabled}
	secret := standardhooks.NewSecret()
	if e.Secret, err = w.seal(orgID, id, secret); err != nil {
		return Endpoint{}, "", err
	}
	err = w.change(ctx, actor, orgID, "webhook.created", id, settingsDetail{s.Types, s.Enabled}, func(ctx context.Context, now time.Time) error {
		e.CreatedAt = now
		all, err := w.Store.Endpoints(ctx, orgID)
		if err != nil {
			return err
		}
		if len(all) >= MaxEndpoints {
			return core.Conflict(fmt.Sprintf("The organization has %d webhook endpoints, the most that are allowed.", len(all)), "Delete an endpoint that is no longer needed, or add the event types to an existing endpoint.")
		}
		return w.Store.InsertEndpoint(ctx, orgID, e)
	})
	if err != nil {
		return Endpoint{}, "", err
	}
	return e, secret, nil
}

// Edit replaces the settings of an endpoint. Enabling an endpoint that failed for too long
// gives it another FailingLimit. Edit fails with core.CodeNotFound for an unknown endpoint
// and with core.CodeValidationFailed for invalid settings.
func (w Webhooks) Edit(ctx context.Context, actor access.Actor, orgID, id string, s Settings) (Endpoint, error) {
	s, err := s.check(w.Networks)
	if err != nil {
		return Endpoint{}, err
	}
	var e Endpoint
	err = w.change(ctx, actor, orgID, "webhook.edited", id, settingsDetail{s.Types, s.Enabled}, func(ctx context.Context, _ time.Time) error {
		if e, err = w.Store.Endpoint(ctx, orgID, id); err != nil {
			return err
		}
		if s.Enabled && !e.Enabled || s.URL != e.URL {
			e.FailingSince = nil
		}
		if s.Enabled {
			e.DisabledAt = nil
		}
		e.URL, e.Description, e.Types, e.Enabled = s.URL, s.Description, s.Types, s.Enabled
		return w.Store.UpdateEndpoint(ctx, orgID, e)
	})
	return e, err
}

// Rotate gives an endpoint a new secret and returns it, once. The old secret also signs for
// the duration Grace. A secret that an earlier rotation replaced stops signing at once, so
// there are at most two. Rotate fails with core.CodeNotFound for an unknown endpoint.
func (w Webhooks) Rotate(ctx context.Context, actor access.Actor, orgID, id string) (Endpoint, string, error) {
	secret := standardhooks.NewSecret()
	sealed, err := w.seal(orgID, id, secret)
	if err != nil {
		return Endpoint{}, "", err
	}
	var e Endpoint
	err = w.change(ctx, actor, orgID, "webhook.secret_rotated", id, nil, func(ctx context.Context, now time.Time) error {
		if e, err = w.Store.Endpoint(ctx, orgID, id); err != nil {
			return err
		}
		until := now.Add(Grace)
		e.Secret, e.Previous, e.PreviousUntil = sealed, e.Secret, &until
		return w.Store.UpdateEndpoint(ctx, orgID, e)
	})
	if err != nil {
		return Endpoint{}, "", err
	}
	return e, secret, nil
}

// Delete removes an endpoint with its secrets. Deliveries that are not sent yet are not
// sent. It fails with core.CodeNotFound for an unknown endpoint.
func (w Webhooks) Delete(ctx context.Context, actor access.Actor, orgID, id string) error {
	return w.change(ctx, actor, orgID, "webhook.deleted", id, nil, func(ctx context.Context, now time.Time) error {
		return w.Store.DeleteEndpoint(ctx, orgID, id, now)
	})
}

func (w Webhooks) seal(orgID, id, secret string) ([]byte, error) {
	return w.Sealer.Seal(sealPurpose, orgID+"/"+id, []byte(secret))
}

// secretsOf returns the secrets with which messages to an endpoint are signed, the newest
// first.
func secretsOf(sealer Sealer, orgID string, e Endpoint, now time.Time) ([]string, error) {
	sealed := [][]byte{e.Secret}
	if e.IsInGrace(now) && e.Previous != nil {
		sealed = append(sealed, e.Previous)
	}
	secrets := make([]string, len(sealed))
	for i, one := range sealed {
		plain, err := sealer.Open(sealPurpose, orgID+"/"+e.ID, one)
		if err != nil {
			return nil, fmt.Errorf("secret of webhook endpoint %s: %w", e.ID, err)
		}
		secrets[i] = string(plain)
	}
	return secrets, nil
}
