package attempts

import (
	"context"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/people"
)

// devicesKept is the maximum number of known devices that are stored for a person.
const devicesKept = 20

// DeviceStore stores known devices; package storage/people implements it. Both methods take
// part in the transaction of their context.
type DeviceStore interface {
	// PutDevice stores a device, or updates its last use and expiry. The parameter keep is
	// the maximum number of stored devices of a person. PutDevice deletes the least recently
	// used devices beyond this number.
	PutDevice(ctx context.Context, d people.Device, keep int) error
	// Device returns the device with the hash, if it has not expired at now, and its
	// person's email address. It fails with core.CodeNotFound if there is no such device.
	Device(ctx context.Context, hash []byte, now time.Time) (d people.Device, email string, err error)
}

// Remember stores that a person has signed in on a device, and returns the secret for the
// device's cookie. It keeps the given secret if that belongs to a device of the same
// person. Any other secret, which an attacker may have planted, is replaced.
func (l *Limits) Remember(ctx context.Context, userID, secret string) (string, error) {
	now := l.Clock()
	d := people.Device{UserID: userID, LastUsedAt: now, ExpiresAt: now.Add(people.DeviceLifetime)}
	known, err := l.deviceOf(ctx, userID, secret, now)
	if err != nil {
		return "", err
	}
	if known {
		d.Hash = access.HashSecret(secret)
	} else {
		minted := access.MintLink()
		secret, d.Hash = minted.Secret, minted.Hash
	}
	return secret, l.Devices.PutDevice(ctx, d, devicesKept)
}

func (l *Limits) deviceOf(ctx context.Context, userID, secret string, now time.Time) (bool, error) {
	if !access.IsLink(secret) {
		return false, nil
	}
	d, _, err := l.Devices.Device(ctx, access.HashSecret(secret), now)
	if core.IsNotFound(err) {
		return false, nil
	}
	return err == nil && d.UserID == userID, err
}
