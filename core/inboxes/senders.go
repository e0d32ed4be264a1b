package inboxes

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/inbound"
)

// allowedSenders returns the entries of allowed_senders in their stored form: in lower case,
// each once. It fails with core.CodeValidationFailed, which names each entry that is neither a
// proven address of the caller nor a verified domain of the organization. In platform mode it
// checks only the form of the entries.
func (x *Inboxes) allowedSenders(ctx context.Context, p core.Principal, entries []string) ([]string, error) {
	var faults []core.FieldError
	allowed := make([]string, 0, len(entries))
	for i, entry := range entries {
		stored, fault, err := x.checkSender(ctx, p, entry)
		if err != nil {
			return nil, err
		}
		if fault != "" {
			faults = append(faults, core.FieldError{Field: fmt.Sprintf("allowed_senders.%d", i), Reason: fault})
			continue
		}
		if !slices.Contains(allowed, stored) {
			allowed = append(allowed, stored)
		}
	}
	if len(faults) > 0 {
		return nil, core.InvalidFields(faults...)
	}
	return allowed, nil
}

// checkSender returns an entry in its stored form, or what is wrong with it.
func (x *Inboxes) checkSender(ctx context.Context, p core.Principal, entry string) (stored, fault string, err error) {
	quoted := core.Quote(core.Quotable(entry, 100))
	domain, isDomain := strings.CutPrefix(entry, "@")
	const local = "x"
	address := entry
	if isDomain {
		address = local + "@" + domain
	}
	canonical, valid := core.CanonicalEmail(address)
	if !valid {
		return "", "is " + quoted + ", which is neither an address nor a domain written as @example.com", nil
	}
	if stored = strings.ToLower(canonical); isDomain {
		stored = stored[len(local):]
	}
	if p.Org.PlatformMode {
		return stored, "", nil
	}
	if isDomain {
		proven, err := x.Domains.HasDomain(ctx, p.Org.ID, stored[1:])
		if err == nil && !proven {
			fault = "is " + quoted + ", which is no verified domain of this organization: verify the domain in the sending account first"
		}
		return stored, fault, err
	}
	var proven bool
	if x.Claims != nil {
		proven, err = x.Claims.HasVerified(ctx, p.Org.ID, p.Owner(), stored)
	}
	if err == nil && !proven {
		fault = "is " + quoted + ", which you have not verified: call `POST /v1/verified-senders` with the address first"
	}
	return stored, fault, err
}

// allows reports whether an inbox takes a message. If the inbox is restricted, the address of
// From or the envelope sender must be an allowed address or at an allowed domain. An entry for a
// domain does not include its subdomains.
func (i Inbox) allows(m inbound.Message) bool {
	if len(i.AllowedSenders) == 0 {
		return true
	}
	if m.From != nil && i.lists(m.From.Address) {
		return true
	}
	return i.lists(m.Sender)
}

// lists reports whether an entry of allowed_senders names the address or its domain. A local
// part beyond ASCII is compared with no entry, because its lower case may be in ASCII.
func (i Inbox) lists(address string) bool {
	key := core.EmailKey(address)
	at := strings.LastIndexByte(key, '@')
	if at < 1 {
		return false
	}
	_, valid := core.CanonicalEmail(address)
	return valid && slices.Contains(i.AllowedSenders, key) || slices.Contains(i.AllowedSenders, key[at:])
}
