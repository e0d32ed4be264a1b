// Package passwordstest makes password hashes that are fast to verify, for tests that sign
// users in.
package passwordstest

import "github.com/mailhelm/mailhelm/core/passwords"

// Hash returns a hash of the password at the lowest cost that passwords.Verify accepts. It
// panics for an empty password and for one that is too long. It does not check the password
// otherwise; tests of new passwords use passwords.Hash.
func Hash(password string) string {
	hash, err := passwords.LeastCost().Hash(password)
	if err != nil {
		panic(err)
	}
	return hash
}
