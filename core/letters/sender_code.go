package letters

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/mailhelm/mailhelm/core"
)

// The maximum lengths, in characters, of a name in a letter and of an address.
const (
	maxName    = 60
	maxAddress = 254
)

// SenderCode returns the letter with the code that verifies the address as a sender. org is
// the name of the organization, and person the address of the person who asked, "" for an API
// key. The letter has no link, and none of the two names becomes one.
func SenderCode(address, code, org, person string) Letter {
	asked := "An API key"
	if person != "" {
		asked = core.Quotable(person, maxAddress)
	}
	return content{
		subject: "Your verification code for Mailhelm",
		before: []string{
			fmt.Sprintf("%s of the organization %s wants to verify this address as a sender in Mailhelm.", asked, core.Quote(withoutLinks(core.Quotable(org, maxName)))),
			"If you want this too, enter this code where the address was entered. It works for 15 minutes:",
		},
		code:  code,
		after: []string{"If you do not expect this mail, ignore it: without the code the address is not verified. Do not give the code to anyone."},
		end:   fmt.Sprintf("This mail was sent to %s because this address was entered in Mailhelm.", address),
	}.to(address)
}

// withoutLinks returns a name in which mail programs recognize no address of a website or a
// mailbox: they make links of texts such as example.com. Anyone may name an organization, and
// a letter may go to any mailbox.
func withoutLinks(name string) string {
	runes := []rune(name)
	var b strings.Builder
	for i, r := range runes {
		inside := i+1 < len(runes) && !unicode.IsSpace(runes[i+1])
		if strings.ContainsRune("/\\@", r) || strings.ContainsRune(".:。．｡", r) && inside {
			r = ' '
		}
		b.WriteRune(r)
	}
	return b.String()
}
