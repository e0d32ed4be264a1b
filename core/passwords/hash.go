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

// cost has the argon2id parameters of a password hash. memory is in KiB.
type cost struct {
	memory  uint32
	passes  uint32
	threads uint8
}

// passwordCost are the parameters of new hashes: the 19 MiB setting of OWASP's password
// storage cheat sheet, whose settings are equal in strength. A hash takes about 25 ms on
// one core.
var passwordCost = cost{memory: 19 * 1024, passes: 2, threads: 1}

// The minimum and maximum cost of a stored hash. Verify refuses hashes outside these
// bounds: Hash did not make them, and verifying them could exhaust the memory.
var (
	leastCost = cost{memory: 8 * 1024, passes: 1, threads: 1}
	mostCost  = cost{memory: 256 * 1024, passes: 10, threads: 8}
)

const (
	saltBytes     = 16
	passwordBytes = 32
	maxPassword   = Most * utf8.UTFMax // bytes
)

var (
	errPasswordLength = fmt.Errorf("a password has 1 to %d bytes", maxPassword)
	errPasswordHash   = errors.New("not an argon2id hash within bounds")
)

// Hash returns the argon2id hash (RFC 9106) of a password with a new salt, in PHC string
// format, which includes the parameters. It fails for an empty password and for one that is
// too long.
func Hash(password string) (string, error) {
	if len(password) == 0 || len(password) > maxPassword {
		return "", errPasswordLength
	}
	salt := make([]byte, saltBytes)
	rand.Read(salt) // never returns an error
	c := passwordCost
	sum := argon2.IDKey([]byte(password), salt, c.passes, c.memory, c.threads, passwordBytes)
	return fmt.Sprintf("$argon2id$v=%d$%s$%s$%s", argon2.Version, c,
		base64.RawStdEncoding.EncodeToString(salt), base64.RawStdEncoding.EncodeToString(sum)), nil
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

func parsePasswordHash(hash string) (cost, []byte, []byte, error) {
	parts := strings.Split(hash, "$")
	if len(parts) != 6 || parts[0] != "" || parts[1] != "argon2id" || parts[2] != fmt.Sprintf("v=%d", argon2.Version) {
		return cost{}, nil, nil, errPasswordHash
	}
	var c cost
	_, err := fmt.Sscanf(parts[3], "m=%d,t=%d,p=%d", &c.memory, &c.passes, &c.threads)
	if err != nil || parts[3] != c.String() || !c.isBounded() {
		return cost{}, nil, nil, errPasswordHash
	}
	salt, saltErr := base64.RawStdEncoding.DecodeString(parts[4])
	sum, sumErr := base64.RawStdEncoding.DecodeString(parts[5])
	if saltErr != nil || sumErr != nil || len(salt) < 8 || len(salt) > 64 || len(sum) < 16 || len(sum) > 64 {
		return cost{}, nil, nil, errPasswordHash
	}
	return c, salt, sum, nil
}

// String returns the parameters in PHC string format, such as m=19456,t=2,p=1.
func (c cost) String() string {
	return fmt.Sprintf("m=%d,t=%d,p=%d", c.memory, c.passes, c.threads)
}

func (c cost) isBounded() bool {
	return c.memory >= leastCost.memory && c.memory <= mostCost.memory &&
		c.passes >= leastCost.passes && c.passes <= mostCost.passes &&
		c.threads >= leastCost.threads && c.threads <= mostCost.threads
}
