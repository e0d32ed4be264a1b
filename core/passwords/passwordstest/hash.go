// Package passwordstest makes password hashes that are fast to verify, for tests that sign
// users in.
package passwordstest

import (
	"crypto/rand"
	"encoding/base64"
	"fmt"

	"golang.org/x/crypto/argon2"
)

// The parameters of argon2id with the lowest cost that passwords.Verify accepts. The cost
// is about a fifth of that of the hashes that passwords.Hash makes.
const (
	memoryKiB = 8 * 1024
	passes    = 1
	threads   = 1
)

const (
	saltBytes = 16
	sumBytes  = 32
)

// Hash returns a hash of the password at the lowest cost that passwords.Verify accepts. It
// does not check the password; tests of new passwords use passwords.Hash.
func Hash(password string) string {
	salt := make([]byte, saltBytes)
	rand.Read(salt) // never returns an error
	sum := argon2.IDKey([]byte(password), salt, passes, memoryKiB, threads, sumBytes)
	return fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=%d$%s$%s", argon2.Version, memoryKiB, passes, threads,
		base64.RawStdEncoding.EncodeToString(salt), base64.RawStdEncoding.EncodeToString(sum))
}
