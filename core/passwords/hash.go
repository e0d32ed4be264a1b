package passwords

import (
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"golang.org/x/crypto/argon2"
)

// Cost has the argon2id parameters of a password hash. The zero value is the cost of the
// product's hashes: the 19 MiB setting of OWASP's password storage cheat sheet, whose
// settings are equal in strength. Hashing a password at this cost takes about 25 ms on one
// core.
type Cost struct {
	memory  uint32 // in KiB
	passes  uint32
	threads uint8
}

// The cost that the zero value of Cost stands for, and the minimum and maximum cost of a
// stored hash. Verify refuses hashes outside these bounds: Hash did not make them, and
// verifying them could exhaust the memory.
var (
	productCost = Cost{memory: 19 * 1024, passes: 2, threads: 1}
	leastCost   = Cost{memory: 8 * 1024, passes: 1, threads: 1}
	mostCost    = Cost{memory: 256 * 1024, passes: 10, threads: 8}
)

// LeastCost returns the lowest cost that Verify accepts, about a fifth of the product's. It
// is for tests: conformance/layout checks that the product does not use it.
func LeastCost() Cost { return leastCost }

const (
	saltBytes     = 16
	passwordBytes = 32
	maxPassword   = Most * utf8.UTFMax // bytes
)

var (
	errPasswordLength = fmt.Errorf("a password has 1 to %d bytes", maxPassword)
	errPasswordHash   = errors.New("not an argon2id hash within bounds")
)

// Hash returns [Cost.Hash] of the password with the product's cost.
func Hash(password string) (string, error) { return Cost{}.Hash(password) }

// Hash returns the argon2id hash (RFC 9106) of a password with a new salt, in PHC string
// format, which includes the parameters. It fails for an empty password and for one that is
// too long.
func (c Cost) Hash(password string) (string, error) {
	if len(password) == 0 || len(password) > maxPassword {
		return "", errPasswordLength
	}
	c = c.orProduct()
	salt := randomBytes(saltBytes)
	return c.format(salt, argon2.IDKey([]byte(password), salt, c.passes, c.memory, c.threads, passwordBytes)), nil
}

// Decoy returns a random hash of this cost, of no known password. Verify takes as long with
// it as with a hash of a password.
func (c Cost) Decoy() string {
	return c.orProduct().format(randomBytes(saltBytes), randomBytes(passwordBytes))
}

// orProduct returns c, or the product's cost if c is the zero value.
func (c Cost) orProduct() Cost {
	if c == (Cost{}) {
		return productCost
	}
	return c
}

// format returns a hash in PHC string format.
func (c Cost) format(salt, sum []byte) string {
	return fmt.Sprintf("$argon2id$v=%d$%s$%s$%s", argon2.Version, c,
		base64.RawStdEncoding.EncodeToString(salt), base64.RawStdEncoding.EncodeToString(sum))
}

func randomBytes(n int) []byte {
	b := make([]byte, n)
	rand.Read(b) // never returns an error
	return b
}

// Verify reports whether the hash was made from the password. It fails if the hash is
// invalid or its cost is out of bounds.
func Verify(hash, password string) (bool, error) {
	c, salt, want, err := parsePasswordHash(hash)
	if err != nil {
		return false, err
	}
	if len(password) > maxPassword {
		return false, nil
	}
	got := argon2.IDKey([]byte(password), salt, c.passes, c.memory, c.threads, uint32(len(want)))
	return subtle.ConstantTimeCompare(got, want) == 1, nil
}

func parsePasswordHash(hash string) (Cost, []byte, []byte, error) {
	parts := strings.Split(hash, "$")
	if len(parts) != 6 || parts[0] != "" || parts[1] != "argon2id" || parts[2] != fmt.Sprintf("v=%d", argon2.Version) {
		return Cost{}, nil, nil, errPasswordHash
	}
	var c Cost
	_, err := fmt.Sscanf(parts[3], "m=%d,t=%d,p=%d", &c.memory, &c.passes, &c.threads)
	if err != nil || parts[3] != c.String() || !c.isBounded() {
		return Cost{}, nil, nil, errPasswordHash
	}
	salt, saltErr := base64.RawStdEncoding.DecodeString(parts[4])
	sum, sumErr := base64.RawStdEncoding.DecodeString(parts[5])
	if saltErr != nil || sumErr != nil || len(salt) < 8 || len(salt) > 64 || len(sum) < 16 || len(sum) > 64 {
		return Cost{}, nil, nil, errPasswordHash
	}
	return c, salt, sum, nil
}

// String returns the parameters in PHC string format, such as m=19456,t=2,p=1.
func (c Cost) String() string {
	return fmt.Sprintf("m=%d,t=%d,p=%d", c.memory, c.passes, c.threads)
}

func (c Cost) isBounded() bool {
	return c.memory >= leastCost.memory && c.memory <= mostCost.memory &&
		c.passes >= leastCost.passes && c.passes <= mostCost.passes &&
		c.threads >= leastCost.threads && c.threads <= mostCost.threads
}
