package inboxes

import (
	"context"
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/inbound"
)

// everything has verified every address and every domain.
type everything struct{}

func (everything) HasVerified(context.Context, string, string, string) (bool, error) {
	return true, nil
}
func (everything) HasDomain(context.Context, string, string) (bool, error) { return true, nil }

// nothing has verified no address and no domain.
type nothing struct{}

func (nothing) HasVerified(context.Context, string, string, string) (bool, error) { return false, nil }
func (nothing) HasDomain(context.Context, string, string) (bool, error)           { return false, nil }

// FuzzAllowedSenders checks entries of allowed_senders and senders of any form. An entry is
// stored in one form, whatever the mode; that form allows the sender that it names, and no other
// address unless the entry is a domain. Without proof, only platform mode takes an entry.
func FuzzAllowedSenders(f *testing.F) {
	for _, seed := range [][2]string{
		{"Ada@Example.com", "ada@example.com"},
		{"@example.com", "ada@example.com"},
		{"@example.com", "ada@sub.example.com"},
		{"@example.com", "ada@example.com.evil.test"},
		{"@bücher.example", "ada@xn--bcher-kva.example"},
		{"mark@example.com", "mar\u212a@example.com"},
		{"@example.com", `"a@example.com"@evil.test`},
		{"a@b@example.com", "a@b@example.com"},
		{"@", "@"},
		{"@@example.com", "x@@example.com"},
		{"@*", "a@b"},
		{"x@example.com\x00", "x@example.com"},
		{" @example.com", ""},
		{"@ex\u200bample.com", "a@example.com"},
		{"@EXAMPLE.com.", "a@example.com"},
	} {
		f.Add(seed[0], seed[1])
	}
	proven, unproven := New(Config{Claims: everything{}, Domains: everything{}}), New(Config{Claims: nothing{}, Domains: nothing{}})
	member, platform := core.Principal{}, core.Principal{Org: core.Org{PlatformMode: true}}
	f.Fuzz(func(t *testing.T, entry, sender string) {
		stored, fault, err := proven.checkSender(t.Context(), member, entry)
		if err != nil {
			t.Fatal(err)
		}
		if other, otherFault, _ := proven.checkSender(t.Context(), platform, entry); other != stored || (otherFault == "") != (fault == "") {
			t.Errorf("%q is stored as %q, and in platform mode as %q", entry, stored, other)
		}
		if _, refused, _ := unproven.checkSender(t.Context(), member, entry); refused == "" || !utf8.ValidString(refused) {
			t.Errorf("%q is accepted without proof: %q", entry, refused)
		}
		if fault != "" {
			if stored != "" {
				t.Errorf("%q is refused and stored as %q", entry, stored)
			}
			return
		}
		if again, fault, _ := proven.checkSender(t.Context(), member, stored); again != stored || fault != "" {
			t.Errorf("%q is stored as %q, which is stored as %q: %s", entry, stored, again, fault)
		}
		i := Inbox{AllowedSenders: []string{stored}}
		named := stored
		if stored[0] == '@' {
			named = "x" + stored
		}
		if !i.allows(inbound.Message{Sender: named}) || !i.allows(inbound.Message{Sender: "", From: &inbound.Address{Address: strings.ToUpper(named)}}) {
			t.Errorf("%q does not allow %q", stored, named)
		}
		checkAllowed(t, i, stored, sender)
	})
}

// checkAllowed checks whether an inbox with one entry may allow the sender, with rules that are
// written in another way than those of the product.
func checkAllowed(t *testing.T, i Inbox, stored, sender string) {
	t.Helper()
	allowed := i.allows(inbound.Message{Sender: sender})
	canonical, valid := core.CanonicalEmail(sender)
	switch {
	case valid && stored[0] != '@' && allowed != strings.EqualFold(canonical, stored):
		t.Errorf("%q allows %q: %v", stored, sender, allowed)
	case valid && stored[0] == '@' && allowed != strings.EqualFold(canonical[strings.LastIndexByte(canonical, '@'):], stored):
		t.Errorf("%q allows %q: %v", stored, sender, allowed)
	case !valid && allowed && (stored[0] != '@' || !strings.HasSuffix(core.EmailKey(sender), stored)):
		t.Errorf("%q allows %q, which is no address", stored, sender)
	}
}

// FuzzMatch checks that the arguments that narrow a poll only narrow it: a message is selected
// by all of them if and only if it is by each.
func FuzzMatch(f *testing.F) {
	f.Add("@example.com", "code", "123", "ada@example.com", "Your code", "It is 123.")
	f.Add("ADA@example.com", "ÜBER", "ß", "ada@example.com", "über", "SS")
	f.Add("@", "\x00", "\xff", "@", "\x00", "\xff")
	f.Add("", "İ", "i̇", "", "İ", "")
	f.Fuzz(func(t *testing.T, sender, subject, part, from, title, text string) {
		m := inbound.Message{From: &inbound.Address{Address: from}, Sender: "bounce@esp.example", Subject: title, Text: text}
		all := Match{Sender: sender, Subject: subject, Contains: part}
		each := Match{Sender: sender}.selects(m) && Match{Subject: subject}.selects(m) && Match{Contains: part}.selects(m)
		if all.selects(m) != each {
			t.Errorf("%+v selects %+v: %v, and each argument: %v", all, m, !each, each)
		}
		if !(Match{}).selects(m) || !(Match{Subject: title}).selects(m) || !(Match{Contains: text}).selects(m) || !(Match{Contains: title}).selects(m) {
			t.Errorf("a message is not selected by its own text: %+v", m)
		}
		if at := strings.LastIndexByte(from, '@'); at > 0 && core.IsEmail(from) && (!(Match{Sender: from}).selects(m) || !(Match{Sender: from[at:]}).selects(m)) {
			t.Errorf("%q is not selected by its sender", from)
		}
	})
}

// oneToken has a pull link with the hash of a secret.
type oneToken struct {
	TokenStore
	hash string
}

func (o oneToken) InboxByToken(_ context.Context, hash []byte) (Inbox, error) {
	if string(hash) != o.hash {
		return Inbox{}, core.NotFound("inbox link")
	}
	return Inbox{}, errors.New("a guessed secret works")
}

// FuzzPullSecret checks that no secret but the minted one works.
func FuzzPullSecret(f *testing.F) {
	token, secret := newToken("i", "l", core.SystemClock())
	for _, seed := range []string{secret[1:], secret + "A", strings.ToLower(secret), string(token.Hash), "", "%00"} {
		f.Add(seed)
	}
	x := New(Config{Tokens: oneToken{hash: string(token.Hash)}, Clock: core.SystemClock})
	f.Fuzz(func(t *testing.T, guess string) {
		if _, err := x.PullSummary(t.Context(), guess); guess != secret && !core.IsNotFound(err) {
			t.Errorf("%q: %v", guess, err)
		}
	})
}
