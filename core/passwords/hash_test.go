package passwords_test

import (
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/core/passwords"
)

func TestPasswordRoundTrip(t *testing.T) {
	t.Parallel()
	const password = "correct horse battery staple"
	hash, err := passwords.Hash(password)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(hash, "$argon2id$v=19$m=19456,t=2,p=1$") {
		t.Errorf("hash %q is not in PHC format with the configured cost", hash)
	}
	again, err := passwords.Hash(password)
	if err != nil || again == hash {
		t.Errorf("a second hash equals the first: the salt is not fresh (%v)", err)
	}
	for attempt, want := range map[string]bool{
		password: true, "": false, password + " ": false, "Correct horse battery staple": false,
	} {
		if got, err := passwords.Verify(hash, attempt); err != nil || got != want {
			t.Errorf("%q: %v, %v", attempt, got, err)
		}
	}
}

// TestPasswordHashOfTheReferenceImplementation checks that Verify accepts a hash from the
// tests of Argon2's reference implementation. So hashes made by other software can be
// imported.
func TestPasswordHashOfTheReferenceImplementation(t *testing.T) {
	t.Parallel()
	const hash = "$argon2id$v=19$m=65536,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc"
	if ok, err := passwords.Verify(hash, "password"); !ok || err != nil {
		t.Errorf("%v, %v", ok, err)
	}
}

func TestPasswordHashRefusesWhatItDidNotMake(t *testing.T) {
	t.Parallel()
	const salt, sum = "c29tZXNhbHRzb21lc2FsdA", "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
	for name, hash := range map[string]string{
		"empty":              "",
		"other algorithm":    "$argon2i$v=19$m=19456,t=2,p=1$" + salt + "$" + sum,
		"old version":        "$argon2id$v=16$m=19456,t=2,p=1$" + salt + "$" + sum,
		"4 GiB of memory":    "$argon2id$v=19$m=4194304,t=2,p=1$" + salt + "$" + sum,
		"a million passes":   "$argon2id$v=19$m=19456,t=1000000,p=1$" + salt + "$" + sum,
		"no threads":         "$argon2id$v=19$m=19456,t=2,p=0$" + salt + "$" + sum,
		"negative memory":    "$argon2id$v=19$m=-1,t=2,p=1$" + salt + "$" + sum,
		"no salt":            "$argon2id$v=19$m=19456,t=2,p=1$$" + sum,
		"no sum":             "$argon2id$v=19$m=19456,t=2,p=1$" + salt + "$",
		"salt not base64":    "$argon2id$v=19$m=19456,t=2,p=1$!!$" + sum,
		"trailing parameter": "$argon2id$v=19$m=19456,t=2,p=1,x=1$" + salt + "$" + sum,
		"a bcrypt hash":      "$2a$10$N9qo8uLOickgx2ZMRZoMyeIjZAgcfl7p92ldGxad68LJZdL17lhWy",
	} {
		if ok, err := passwords.Verify(hash, "password"); ok || err == nil {
			t.Errorf("%s: %v, %v", name, ok, err)
		}
	}
}

// TestDecoy checks that a decoy has the cost of a hash, so that verifying it takes as long,
// and that it is the hash of no password.
func TestDecoy(t *testing.T) {
	t.Parallel()
	for begins, c := range map[string]passwords.Cost{"$argon2id$v=19$m=19456,t=2,p=1$": {}, "$argon2id$v=19$m=8192,t=1,p=1$": passwords.LeastCost()} {
		hash, err := c.Hash("a password")
		decoy := c.Decoy()
		if err != nil || !strings.HasPrefix(hash, begins) || !strings.HasPrefix(decoy, begins) || len(hash) != len(decoy) || decoy == c.Decoy() {
			t.Errorf("hash %s, decoy %s, %v; want both to begin with %s", hash, decoy, err, begins)
		}
		if ok, err := passwords.Verify(decoy, "a password"); ok || err != nil {
			t.Errorf("decoy %s: %v, %v", decoy, ok, err)
		}
	}
}

func TestPasswordLength(t *testing.T) {
	t.Parallel()
	for _, password := range []string{"", strings.Repeat("a", 4097)} {
		if hash, err := passwords.Hash(password); err == nil {
			t.Errorf("%d bytes: hashed to %q", len(password), hash)
		}
	}
}
