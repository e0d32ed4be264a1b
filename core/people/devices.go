package people

import (
	"context"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
)

const (
	// DeviceLifetime is how long a device is known after its person signed in there.
	DeviceLifetime = 180 * 24 * time.Hour
	// devicesKept bounds how many devices of a person are known.
	devicesKept = 20
)

// Remember notes that a person has signed in on a device, and returns the secret for
// its cookie. A secret that belongs to the same person's device stays. Any other,
// such as one that an attacker planted, is replaced by a fresh one.
func (a *Attempts) Remember(ctx context.Context, userID, secret string) (string, error) {
	now := a.Clock()
	d := Device{UserID: userID, LastUsedAt: now, ExpiresAt: now.Add(DeviceLifetime)}
	known, err := a.deviceOf(ctx, userID, secret, now)
	if err != nil {
		return "", err
	}
	if known {
		d.Hash = access.HashSecret(secret)
	} else {
		minted := access.MintLink()
		secret, d.Hash = minted.Secret, minted.Hash
	}
	return secret, a.Store.PutDevice(ctx, d, devicesKept)
}

func (a *Attempts) deviceOf(ctx context.Context, userID, secret string, now time.Time) (bool, error) {
	if !access.IsLink(secret) {
		return false, nil
	}
	d, _, err := a.Store.Device(ctx, access.HashSecret(secret), now)
	if core.IsNotFound(err) {
		return false, nil
	}
	return err == nil && d.UserID == userID, err
}
