package pull

import (
	"net/url"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/inboxes"
)

// maxMatch is the maximum length of the text of a match in characters.
const maxMatch = 254

// queryOf returns what the query of a request asks for. It ignores other parameters, because
// browser libraries add some. It fails with core.CodeValidationFailed, which names all faults.
func queryOf(values url.Values) (inboxes.Query, error) {
	var q inboxes.Query
	var faults []core.FieldError
	number := func(name string, most int) int {
		text := values.Get(name)
		n, err := strconv.Atoi(text)
		if values.Has(name) && (err != nil || n < 0 || n > most) {
			faults = append(faults, core.FieldError{Field: name, Reason: "must be an integer from 0 to " + strconv.Itoa(most)})
		}
		return n
	}
	const maxCursor = 1<<53 - 1 // the greatest integer that every JSON reader reads exactly
	q.After = number("after", maxCursor)
	q.Wait = time.Duration(number("wait", int(inboxes.MaxWait/time.Second))) * time.Second
	for name, into := range map[string]*string{"match_sender": &q.Match.Sender, "match_subject": &q.Match.Subject, "match_contains": &q.Match.Contains} {
		*into = values.Get(name)
		if utf8.RuneCountInString(*into) > maxMatch {
			faults = append(faults, core.FieldError{Field: name, Reason: "must have at most " + strconv.Itoa(maxMatch) + " characters"})
		}
	}
	if len(faults) > 0 {
		return q, core.InvalidFields(faults...)
	}
	return q, nil
}

// errCredential is the error for a request with a credential.
func errCredential() error {
	return &core.Error{
		Code:    core.CodeWrongHost,
		Message: "The fetch host accepts no credentials.",
		Next:    "Leave the Authorization header out. Replace the credential if others may have seen it. Send API keys to the public API, and access tokens to the host that they were issued for.",
	}
}

// errNoLink is the error for every link that does not work. It is the same for unknown and
// revoked ones.
func errNoLink() error {
	return &core.Error{
		Code: core.CodeNotFound, Resource: "inbox link",
		Message: "This link is not known, or its inbox no longer exists.",
		Next:    "Request a new link from where you got this one.",
	}
}

// errTooMany is the error for a client that makes too many requests.
func errTooMany(wait time.Duration) error {
	return &core.Error{
		Code: core.CodeRateLimited, RetryAfter: wait, Message: "Too many requests come from this address, or for this link.",
		Next: "Repeat after `Retry-After`. Use `wait=25` to wait for mail with one request.",
	}
}
