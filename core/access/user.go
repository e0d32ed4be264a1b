package access

import "time"

// User is a person with a password. Users belong to organizations by membership.
type User struct {
	ID           string
	Email        string
	Name         string
	PasswordHash string // argon2id in PHC string format
	CreatedAt    time.Time
	// DisabledAt is the time since when the operator keeps the person from signing in; nil
	// if the person may sign in.
	DisabledAt *time.Time
}
