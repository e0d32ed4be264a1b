package testsends

import (
	"context"
	"time"

	"github.com/mailhelm/mailhelm/core/handover"
	"github.com/mailhelm/mailhelm/core/sending"
)

// mailing is a test send as package handover drives it: all recipients at once, without
// checks of consent.
type mailing struct{ Request }

var _ handover.Mailing = mailing{}

func (mailing) Running(_ context.Context, _ string, want int, _ time.Time) (handover.Allowance, error) {
	return handover.Allowance{Recipients: want}, nil
}

func (mailing) Claimed(context.Context, string, int, time.Time) error { return nil }

func (mailing) Application() string { return "" }

func (mailing) Filter(context.Context, string, []handover.Recipient) (map[string]handover.Tier, error) {
	return nil, nil
}

func (m mailing) Message(ctx context.Context, _ string, r handover.Recipient) (sending.Message, error) {
	message, err := m.Request.Message(ctx, r.Email)
	message.Test = true
	message.Content.Subject = subjectPrefix + message.Content.Subject
	return message, err
}
