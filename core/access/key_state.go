package access

import "time"

// KeyState is where an API key is in its life.
type KeyState string

// The states. A key in grace was rotated and still works; an expired one was in
// grace until that ended; a revoked one was ended by somebody.
const (
	KeyActive  KeyState = "active"
	KeyInGrace KeyState = "grace"
	KeyExpired KeyState = "expired"
	KeyRevoked KeyState = "revoked"
)

// StateAt is the key's state at an instant. The job that ends the grace revokes
// too, so the order of the two instants tells expired from revoked.
func (k APIKey) StateAt(now time.Time) KeyState {
	expired := k.ExpiresAt != nil && !now.Before(*k.ExpiresAt)
	switch {
	case k.RevokedAt != nil && (!expired || k.RevokedAt.Before(*k.ExpiresAt)):
		return KeyRevoked
	case expired:
		return KeyExpired
	case k.ExpiresAt != nil:
		return KeyInGrace
	}
	return KeyActive
}

func (k APIKey) worksAt(now time.Time) bool {
	state := k.StateAt(now)
	return state == KeyActive || state == KeyInGrace
}
