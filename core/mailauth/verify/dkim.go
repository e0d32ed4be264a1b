package verify

import (
	"context"
	"encoding/base64"
	"errors"
	"io"
	"slices"
	"strings"
	"sync"
	"unicode"

	"github.com/emersion/go-msgauth/dkim"
	"github.com/mailhelm/mailhelm/core/mailauth"
	"github.com/mailhelm/mailhelm/core/mailauth/dmarc"
)

const (
	// maxSignatures is the number of signatures that are checked, from the top of the header.
	maxSignatures = 5
	// maxKey is the length of the longest key, in octets of its encoding. RFC 8301 section
	// 3.2 asks for RSA keys up to 4096 bits; 64 octets are for the structure around it.
	maxKey = 4096/8 + 64
)

// The reasons of signatures without a valid result.
const (
	reasonSignature  = "the signature does not verify"
	reasonBody       = "the body was changed"
	reasonLength     = "the signature covers only the beginning of the body"
	reasonNoKey      = "the signing domain has no such key"
	reasonLargeKey   = "the key is longer than 4096 bits"
	reasonTestKey    = "the signing domain is testing the key"
	reasonIdentity   = "the key is not for subdomains"
	reasonExpired    = "the signature has expired"
	reasonMalformed  = "the signature or its key is malformed, or not supported"
	reasonUnreadable = "the message cannot be read"
)

// checkDKIM verifies the signatures of a message.
func (a *Authenticator) checkDKIM(ctx context.Context, in mailauth.Input, head header, headErr error) mailauth.DKIM {
	if headErr != nil {
		return mailauth.DKIM{Outcome: mailauth.OutcomePermError, Reason: headErr.Error()}
	}
	if len(head.signatures) == 0 {
		return mailauth.DKIM{Outcome: mailauth.OutcomeNone}
	}
	checked := head.signatures[:min(len(head.signatures), maxSignatures)]
	result := mailauth.DKIM{Unchecked: len(head.signatures) - len(checked)}
	if slices.ContainsFunc(checked, func(s string) bool { return strings.Count(s, ":") > maxSignedNames }) {
		result.Outcome, result.Reason = mailauth.OutcomePermError, "a signature lists too many fields"
		return result
	}
	message := &steadyReader{ctx: ctx, from: io.NewSectionReader(in.Message, 0, in.Size)}
	var source io.Reader = message
	if !head.complete {
		// A message may end after its header (RFC 5322 section 3.5); the library needs the
		// empty line.
		source = io.MultiReader(message, strings.NewReader("\r\n\r\n"))
	}
	keys := &keyLookup{dns: newLookups(a, maxDKIMQueries)}
	verifications, err := dkim.VerifyWithOptions(source, &dkim.VerifyOptions{
		LookupTXT:        func(name string) ([]string, error) { return keys.LookupTXT(ctx, name) },
		MaxVerifications: maxSignatures,
	})
	switch {
	case errors.Is(message.err, errEmptyLines):
		result.Outcome, result.Reason = mailauth.OutcomePermError, errEmptyLines.Error()
		return result
	case message.err != nil:
		result.Outcome, result.Reason = mailauth.OutcomeTempError, reasonUnreadable
		return result
	case len(verifications) != len(checked):
		_ = err // The count says it all: the library read other signatures, or none.
		result.Outcome, result.Reason = mailauth.OutcomePermError, reasonUnreadable
		return result
	}
	for i, v := range verifications {
		result.Signatures = append(result.Signatures, a.judgeSignature(checked[i], v, keys))
	}
	result.Outcome = mostTelling(result.Signatures)
	return result
}

// mostTelling returns the outcome for several signatures. One valid signature is enough. One
// that could not be checked might have been valid, so it counts before a failed one.
func mostTelling(signatures []mailauth.Signature) mailauth.Outcome {
	for _, outcome := range []mailauth.Outcome{
		mailauth.OutcomePass, mailauth.OutcomeTempError, mailauth.OutcomeFail, mailauth.OutcomePermError, mailauth.OutcomeNeutral,
	} {
		if slices.ContainsFunc(signatures, func(s mailauth.Signature) bool { return s.Outcome == outcome }) {
			return outcome
		}
	}
	return mailauth.OutcomeNone
}

// judgeSignature returns the result for one signature from the library's verification. It
// adds what the library does not enforce: the time of the clock, and the flags of the key
// (RFC 6376 section 3.6.1).
func (a *Authenticator) judgeSignature(field string, v *dkim.Verification, keys *keyLookup) mailauth.Signature {
	selector, domain := signatureTag(field, "s"), signatureTag(field, "d")
	name, valid := dmarc.Name(domain)
	signature := mailauth.Signature{Outcome: mailauth.OutcomePermError, Reason: reasonMalformed}
	if keyName, ok := dmarc.Name(selector + "." + domain); valid && ok {
		signature.Domain, signature.Selector = name, strings.TrimSuffix(keyName, "."+name)
	}
	key := keys.found(selector, domain)
	switch {
	case v.Err == nil && !valid:
		return signature
	case v.Err == nil:
		signature.Outcome, signature.Reason = mailauth.OutcomePass, ""
	case dkim.IsTempFail(v.Err):
		signature.Outcome, signature.Reason = mailauth.OutcomeTempError, reasonDNS
	case key.missing:
		signature.Outcome, signature.Reason = mailauth.OutcomeFail, reasonNoKey
	case key.large:
		signature.Reason = reasonLargeKey
	case !dkim.IsPermFail(v.Err):
		signature.Outcome, signature.Reason = mailauth.OutcomeFail, failureReason(v.Err)
	}
	switch expired := !v.Expiration.IsZero() && a.now().After(v.Expiration); {
	case expired:
		signature.Outcome, signature.Reason = mailauth.OutcomeFail, reasonExpired
	case key.has("y") && signature.Outcome != mailauth.OutcomeTempError:
		// The message is to be treated as if it were not signed.
		signature.Outcome, signature.Reason = mailauth.OutcomeNeutral, reasonTestKey
	case key.has("s") && signature.Outcome == mailauth.OutcomePass && !signsItself(v):
		signature.Outcome, signature.Reason = mailauth.OutcomeFail, reasonIdentity
	}
	return signature
}

// failureReason returns the reason for an error of the library that is not temporary and not
// about the form of the signature. The text of the library decides only about the words.
func failureReason(err error) string {
	switch {
	case strings.Contains(err.Error(), "body hash did not verify"):
		return reasonBody
	case strings.Contains(err.Error(), "body length"):
		return reasonLength
	default:
		return reasonSignature
	}
}

// signsItself reports whether the identity of a signature (tag i) is in the signing domain
// itself, not in a subdomain.
func signsItself(v *dkim.Verification) bool {
	_, domain := splitAddress(v.Identifier)
	return strings.EqualFold(domain, v.Domain)
}

// signatureTag returns the value of a tag of a DKIM-Signature field, without spaces. It is
// empty if the field does not have the tag.
func signatureTag(field, name string) string {
	for part := range strings.SplitSeq(field, ";") {
		key, value, _ := strings.Cut(part, "=")
		if strings.TrimSpace(key) == name {
			return strings.Map(func(r rune) rune {
				if unicode.IsSpace(r) {
					return -1
				}
				return r
			}, value)
		}
	}
	return ""
}

// keyLookup gets the keys of signatures for the DKIM library, and notes what it must know
// about each: the library asks for several keys at the same time.
type keyLookup struct {
	dns *lookups

	mu   sync.Mutex
	keys map[string]keyState
}

// keyState is what a query for a key returned.
type keyState struct {
	// missing is true without a record, and for a revoked key. large is true for a key longer
	// than maxKey. flags has the flags of the key (tag t).
	missing, large bool
	flags          []string
}

func (k keyState) has(flag string) bool { return slices.Contains(k.flags, flag) }

// LookupTXT returns the key record of a signature: its TXT records as they are, except that
// a key that is too long becomes an error, before the library uses it.
func (k *keyLookup) LookupTXT(ctx context.Context, name string) ([]string, error) {
	target, ok := dmarc.Name(name)
	if !ok {
		return nil, nil
	}
	texts, err := k.dns.LookupTXT(ctx, target)
	state := keyState{missing: isNotFound(err) || err == nil && len(texts) == 0}
	if len(texts) == 1 {
		key := signatureTag(texts[0], "p")
		state.missing = key == ""
		state.large = base64.StdEncoding.DecodedLen(len(key)) > maxKey
		state.flags = strings.Split(signatureTag(texts[0], "t"), ":")
	}
	k.mu.Lock()
	if k.keys == nil {
		k.keys = map[string]keyState{}
	}
	k.keys[target] = state
	k.mu.Unlock()
	if state.large {
		return nil, nil
	}
	return texts, err
}

// found returns what the query for a key returned; the zero keyState if there was none.
func (k *keyLookup) found(selector, domain string) keyState {
	name, _ := dmarc.Name(selector + "._domainkey." + domain)
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.keys[name]
}

// maxEmptyLines is the greatest number of octets of line ends in a row. The time of the DKIM
// library grows with the square of that number.
const maxEmptyLines = 8 << 10

var errEmptyLines = errors.New("the message has too many empty lines in a row")

// steadyReader ends a stream where reading fails, the context ends or there are too many
// empty lines, and notes the error. After an error of a reader, the DKIM library would not
// end its goroutines.
type steadyReader struct {
	ctx  context.Context
	from io.Reader
	// ends is the number of line ends, in octets, just before the place of reading.
	ends int
	err  error
}

func (r *steadyReader) Read(p []byte) (int, error) {
	if r.err == nil {
		r.err = r.ctx.Err()
	}
	if r.err != nil {
		return 0, io.EOF
	}
	n, err := r.from.Read(p)
	for i, octet := range p[:n] {
		if octet != '\r' && octet != '\n' {
			r.ends = 0
		} else if r.ends++; r.ends > maxEmptyLines {
			r.err = errEmptyLines
			return i, io.EOF
		}
	}
	if err != nil && err != io.EOF {
		r.err, err = err, io.EOF
	}
	return n, err
}
