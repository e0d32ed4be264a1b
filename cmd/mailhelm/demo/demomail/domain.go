package demomail

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/receiving"
)

// patterns are the local parts whose mail is delivered.
var patterns = []string{"support", "returns", "order-*"}

// domain makes the receiving domain with its webhook and two addresses. It may be repeated after
// an interruption.
func (s Seeder) domain(ctx context.Context) error {
	d, err := s.API.domain(ctx)
	if core.IsNotFound(err) {
		if err := s.API.call(ctx, http.MethodPost, "/v1/inbound/domains", map[string]string{"domain": Domain}, nil); err != nil {
			return err
		}
		d, err = s.API.domain(ctx)
	}
	if err != nil {
		return err
	}
	if d.Status != string(receiving.Verified) {
		if err := s.API.call(ctx, http.MethodPost, "/v1/inbound/domains/"+Domain+"/verify", nil, nil); err != nil {
			return err
		}
	}
	if err := s.setWebhook(ctx, Domain, map[string]any{"allow_patterns": patterns}); err != nil {
		return err
	}
	for _, address := range []map[string]any{
		{"local_part": orderLocalPart, "metadata": map[string]any{"order": 1043, "customer": "ada.almeida@example.com"}},
		{"metadata": map[string]any{"order": 1044, "customer": "bruno.berg@example.org"}},
	} {
		err := s.API.call(ctx, http.MethodPost, "/v1/inbound/domains/"+Domain+"/addresses", address, nil)
		if err != nil && core.AsError(err).Code != core.CodeConflict {
			return err
		}
	}
	return nil
}

// setWebhook sets the webhook of a domain to the receiver of this start.
func (s Seeder) setWebhook(ctx context.Context, domain string, hook map[string]any) error {
	hook["webhook_url"] = s.Receiver.URL
	return s.API.call(ctx, http.MethodPut, "/v1/inbound/domains/"+domain+"/webhook", hook, nil)
}

// moveWebhooks moves the webhooks of earlier receivers to that of this start, whose port is another
// one than before. It leaves webhooks of other servers.
func (s Seeder) moveWebhooks(ctx context.Context) error {
	all, err := s.API.domains(ctx)
	for _, d := range all {
		if err != nil {
			break
		}
		if h := d.Webhook; h != nil && strings.HasPrefix(h.URL, "https://localhost:") && strings.HasSuffix(h.URL, receiverPath) {
			err = s.setWebhook(ctx, d.Domain, map[string]any{"allow_patterns": h.Patterns, "spam_posture": h.Spam, "virus_posture": h.Virus})
		}
	}
	return err
}

// secrets returns the signing secrets of the webhooks of the organization.
func (s Seeder) secrets(ctx context.Context) ([]string, error) {
	all, err := s.Domains.Domains(ctx, s.OrgID)
	if err != nil {
		return nil, err
	}
	var secrets []string
	for _, d := range all {
		if d.Webhook == nil {
			continue
		}
		secret, err := receiving.OpenSecret(s.Sealer, s.OrgID, d.ID, d.Secret)
		if err != nil {
			return nil, err
		}
		secrets = append(secrets, secret)
	}
	return secrets, nil
}

// mailDomain sends mail to the domain once its webhook is published, and waits until it is
// delivered or refused.
func (s Seeder) mailDomain(ctx context.Context) error {
	err := s.await(ctx, "the webhook of "+Domain, func() (bool, error) {
		d, err := s.API.domain(ctx)
		return err == nil && d.Webhook != nil && d.Webhook.Status == string(receiving.Published), err
	})
	if err != nil {
		return err
	}
	letters := append(domainLetters(), lostLetter)
	err = s.await(ctx, "the route of "+Domain, func() (bool, error) {
		err := s.send(ctx, letters[0], letters[0].to+"@"+Domain)
		return err == nil, ignoreRefusal(err) // the receiver learns of the domain within two seconds
	})
	if err != nil {
		return err
	}
	for _, l := range letters[1:] {
		if err := s.send(ctx, l, l.to+"@"+Domain); ignoreRefusal(err) != nil {
			return err
		}
	}
	var lost entry
	err = s.await(ctx, "deliveries of received mail", func() (bool, error) {
		log, err := s.API.log(ctx)
		settled := 0
		for _, m := range log {
			if m.Outcome != string(receiving.Received) {
				settled++
			}
			if m.Subject == lostLetter.subject {
				lost = m
			}
		}
		return settled == len(letters), err
	})
	if err != nil || lost.ID == "" {
		return err
	}
	return s.await(ctx, "the delivery that failed", func() (bool, error) { return s.giveUp(ctx, lost) })
}

// giveUp stores that the last attempt of a delivery failed, which takes ten hours otherwise. It
// reports false while the courier sends to the webhook.
func (s Seeder) giveUp(ctx context.Context, m entry) (bool, error) {
	d, err := s.Domains.Domain(ctx, s.OrgID, Domain)
	if err != nil {
		return false, err
	}
	now := s.Clock()
	var leased bool
	err = s.Tx.InTx(ctx, func(ctx context.Context) error {
		var e receiving.Endpoint
		if e, leased, err = s.Queue.Lease(ctx, receiving.Target{OrgID: s.OrgID, DomainID: d.ID}, now, now.Add(patience)); err != nil || !leased {
			return err
		}
		const all = 100
		items, err := s.Queue.Items(ctx, e, now.AddDate(0, 0, 1), nil, all)
		if err != nil {
			return err
		}
		for _, item := range items {
			if item.ID != m.ID {
				continue
			}
			status := http.StatusServiceUnavailable
			result := receiving.Result{
				Target: e.Target, Item: item, Failed: true, Slow: true,
				State: receiving.State{State: receiving.DeliveryFailed, OccurredAt: now, Detail: "The endpoint answered 503: The desk for returns is closed.", HTTPStatus: &status},
			}
			if err := s.Queue.Settle(ctx, []receiving.Result{result}); err != nil {
				return err
			}
		}
		return s.Queue.Release(ctx, e, now)
	})
	return leased, err
}

// ignoreRefusal returns nil for a recipient that the SMTP server refused, which it does for up to
// two seconds after a domain was published.
func ignoreRefusal(err error) error {
	if errors.Is(err, errRefused) {
		return nil
	}
	return err
}

// sendTimeout limits the sending of a message.
const sendTimeout = 10 * time.Second
