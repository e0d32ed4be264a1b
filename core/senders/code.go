package senders

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math/big"
	"strings"
	"time"

	"github.com/mailhelm/mailhelm/core"
)

// CodeKeyBytes is the length of the key of the hashes of codes.
const CodeKeyBytes = 32

// codes is the number of codes: those of six digits.
var codes = big.NewInt(1_000_000)

// newCode returns a random code of six digits.
func newCode() (string, error) {
	n, err := rand.Int(rand.Reader, codes)
	if err != nil {
		return "", fmt.Errorf("code: %w", err)
	}
	return fmt.Sprintf("%06d", n), nil
}

// hashCode returns the keyed hash of a code for the latest start of a claim: HMAC-SHA256 (RFC
// 2104). The ids are UUIDs, so different inputs have different texts.
func (s *Senders) hashCode(c Claim, code string) []byte {
	mac := hmac.New(sha256.New, s.CodeKey)
	mac.Write([]byte(c.ID + " " + c.StartID + " " + code)) // never returns an error
	return mac.Sum(nil)
}

// hashMailbox returns the keyed hash of a mailbox, in hexadecimal digits. The count of codes has
// it in place of the address, so that the table is no list of addresses. The text differs from
// every text of hashCode, which begins with a UUID.
func (s *Senders) hashMailbox(email string) string {
	mac := hmac.New(sha256.New, s.CodeKey)
	mac.Write([]byte("mailbox " + mailbox(email))) // never returns an error
	return hex.EncodeToString(mac.Sum(nil))
}

// dotless has domains whose provider ignores dots in local parts. The value is the name that
// stands for all names of the provider.
var dotless = map[string]string{"gmail.com": "gmail.com", "googlemail.com": "gmail.com"}

// mailbox returns a text that is the same for addresses whose mail probably arrives in one
// mailbox: it ignores case, and the detail after "+" (RFC 5233). It is for limits only, because
// other servers may have separate mailboxes for such addresses.
func mailbox(email string) string {
	key := core.EmailKey(email)
	at := strings.LastIndexByte(key, '@')
	local, _, _ := strings.Cut(key[:at], "+")
	domain := key[at+1:]
	if name, ok := dotless[domain]; ok {
		local, domain = strings.ReplaceAll(local, ".", ""), name
	}
	return local + "@" + domain
}

// isCode reports whether the code is that of the claim. The time of the comparison does not
// depend on the code.
func (s *Senders) isCode(c Claim, code string) bool {
	return hmac.Equal(c.CodeHash, s.hashCode(c, code))
}

// checkCode returns an error if the code does not verify the claim now. wrong is true if the
// code counts as a wrong one.
func (s *Senders) checkCode(c Claim, code string, now time.Time) (wrong bool, err error) {
	switch {
	case c.Status() == Locked:
		return false, core.Invalid("code", "cannot be entered: the address is locked after 5 wrong codes, and 0 attempts are left. Call `POST /v1/verified-senders` with the address to get a new code")
	case !now.Before(c.CodeExpiresAt):
		return false, core.Invalid("code", "has expired; "+attemptsLeft(c.WrongCodes)+" for it. Call `POST /v1/verified-senders` with the address to get a new code")
	case s.isCode(c, code):
		return false, nil
	case c.WrongCodes+1 >= MaxWrongCodes:
		return true, core.Invalid("code", "is wrong, and 0 attempts are left. Call `POST /v1/verified-senders` with the address to get a new code")
	}
	return true, core.Invalid("code", "is wrong; "+attemptsLeft(c.WrongCodes+1))
}

// attemptsLeft says how many attempts are left after a number of wrong codes.
func attemptsLeft(wrong int) string {
	if left := MaxWrongCodes - wrong; left != 1 {
		return fmt.Sprintf("%d attempts are left", left)
	}
	return "1 attempt is left"
}
