package receiving

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/base32"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/mailhelm/mailhelm/core"
)

// Address is a minted address of a receiving domain. Deliveries of mail to it have its metadata.
type Address struct {
	ID        string         `json:"id" jsonschema:"format=uuid"`
	LocalPart string         `json:"local_part" voice:"untrusted"`
	Address   string         `json:"address" voice:"untrusted"`
	Metadata  map[string]any `json:"metadata" voice:"untrusted" jsonschema_description:"Your own data, in the member entities of each delivery."`
	CreatedAt time.Time      `json:"created_at"`

	// Listed is true if the domain's allow_patterns got an entry for the address.
	Listed bool `json:"-"`
}

const (
	maxMetadata  = 4 << 10
	maxAddresses = 10_000

	// mintedPrefix begins generated local parts. No chosen one begins with it.
	mintedPrefix = "a-"
	mintedBytes  = 15 // 24 characters in base32
)

// crockford is base32 with the alphabet of Douglas Crockford, in lower case: without i, l, o
// and u, so that people can copy it.
var crockford = base32.NewEncoding("0123456789abcdefghjkmnpqrstvwxyz").WithPadding(base32.NoPadding)

// newLocalPart returns a new random local part.
func newLocalPart() string {
	raw := make([]byte, mintedBytes)
	rand.Read(raw) // never returns an error
	return mintedPrefix + crockford.EncodeToString(raw)
}

// checkLocalPart returns a chosen local part in its stored form, in lower case. It fails with
// core.CodeValidationFailed on the field "local_part".
func checkLocalPart(text string) (string, error) {
	local := strings.ToLower(text)
	switch {
	case !core.IsEmail(local + "@example.com"):
		return "", core.Invalid("local_part", "must be 1 to 64 letters, digits and characters such as . - _ + (a dot-atom of RFC 5321), without @ and the domain")
	case strings.ContainsAny(local, "*?"):
		return "", core.Invalid("local_part", "must not contain * or ?, which are wildcards in allow_patterns")
	case strings.HasPrefix(local, mintedPrefix):
		return "", core.Invalid("local_part", `must not begin with "`+mintedPrefix+`", as generated addresses do; leave it out to get a generated one`)
	}
	return local, nil
}

func (r *Receiving) addressesList() core.Operation {
	return core.Declare(core.Op[DomainIn, core.Collection[Address]]{
		Name:    "inbound_addresses_list",
		Title:   "List the addresses of a receiving domain",
		Purpose: "Lists the live addresses that were minted at a receiving domain, oldest first. Mail to other local parts is delivered too, unless the webhook restricts it.",
		Example: `{"domain": "in.example.com"}`,
		Effect:  core.Reads,
		Cost:    core.Light,
		Scopes:  []core.Scope{core.InboundView},
		Fails:   []core.Code{core.CodeNotFound},
		Do: func(ctx context.Context, c *core.Call, in DomainIn) (core.Collection[Address], error) {
			d, err := r.domainOf(ctx, c, in.Domain)
			if err != nil {
				return core.Collection[Address]{}, err
			}
			all, err := r.Store.Addresses(ctx, c.Principal.Org.ID, d.ID)
			listed := core.Collection[Address]{Data: make([]Address, 0, len(all))}
			for _, a := range all {
				listed.Data = append(listed.Data, a.at(d))
			}
			return listed, err
		},
	})
}

// at returns the address with its text form, at its domain.
func (a Address) at(d Domain) Address {
	a.Address = a.LocalPart + "@" + d.Domain
	return a
}

// CreateAddressIn has a new address.
type CreateAddressIn struct {
	DomainIn
	LocalPart string         `json:"local_part,omitempty" jsonschema:"nullable,maxLength=64" jsonschema_description:"What comes before the @, in lower case; not beginning with a-. Default: generated, a- and 24 characters."`
	Metadata  map[string]any `json:"metadata,omitempty" jsonschema:"nullable" jsonschema_description:"JSON object of at most 4 KB. Each delivery to the address has it in entities."`
}

func (r *Receiving) addressesCreate() core.Operation {
	return core.Declare(core.Op[CreateAddressIn, Address]{
		Name:    "inbound_addresses_create",
		Title:   "Mint an address at a receiving domain",
		Purpose: "Mints an address at a receiving domain. Each delivery of mail to it has its metadata. Use it to connect mail with a ticket, an order or an agent. If the webhook has allow_patterns and none matches, the address gets an entry there. It refuses with `conflict` a local part that is live. It changes no address that exists.",
		Example: `{"domain": "in.example.com", "local_part": "order-1043", "metadata": {"order": 1043}}`,
		Effect:  core.Writes,
		Scopes:  []core.Scope{core.InboundManage},
		Fails:   []core.Code{core.CodeNotFound},
		Do:      r.createAddress,
	})
}

func (r *Receiving) createAddress(ctx context.Context, c *core.Call, in CreateAddressIn) (Address, error) {
	a := Address{ID: core.NewID(), LocalPart: newLocalPart(), Metadata: in.Metadata, CreatedAt: c.Now}
	var err error
	if in.LocalPart != "" {
		if a.LocalPart, err = checkLocalPart(in.LocalPart); err != nil {
			return Address{}, err
		}
	}
	if a.Metadata == nil {
		a.Metadata = map[string]any{}
	}
	if n, err := sizeOf(a.Metadata); err != nil || n > maxMetadata {
		return Address{}, core.Invalid("metadata", fmt.Sprintf("must be a JSON object of at most %d bytes", maxMetadata))
	}
	org := c.Principal.Org.ID
	d, err := r.domainOf(ctx, c, in.Domain)
	if err != nil {
		return Address{}, err
	}
	n, err := r.Store.CountAddresses(ctx, org, d.ID)
	if err != nil {
		return Address{}, err
	}
	if n >= maxAddresses {
		return Address{}, core.Invalid("domain", fmt.Sprintf("has %d live addresses, the most that are allowed; delete one first", n))
	}
	if d, a.Listed = d.allow(a.LocalPart); a.Listed && len(d.Webhook.AllowPatterns) > maxPatterns {
		return Address{}, core.Invalid("local_part", fmt.Sprintf("cannot be added to allow_patterns, which has %d entries, the most that are allowed; replace some of them by a pattern such as a-*", maxPatterns))
	}
	if err := r.Store.InsertAddress(ctx, org, d.ID, a); err != nil {
		return Address{}, err
	}
	c.SetSubject(a.ID)
	r.publishSoon(c)
	return a.at(d), r.Store.UpdateDomain(ctx, org, d.changed(c.Now))
}

// sizeOf returns the number of bytes of a value as JSON text without white space. Characters
// that are special in HTML count as themselves.
func sizeOf(value any) (int, error) {
	var text bytes.Buffer
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false)
	err := e.Encode(value)
	return text.Len() - len("\n"), err
}

// allow returns the domain with an entry for a local part in its list of patterns, and whether
// it added the entry. A list that is empty, or has a pattern that matches, needs none.
func (d Domain) allow(local string) (Domain, bool) {
	if d.Webhook == nil || len(d.Webhook.AllowPatterns) == 0 || matchAny(d.Webhook.AllowPatterns, local) {
		return d, false
	}
	hook := *d.Webhook
	hook.AllowPatterns = append(slices.Clone(hook.AllowPatterns), local)
	d.Webhook = &hook
	return d, true
}

// DeleteAddressIn names an address of a receiving domain.
type DeleteAddressIn struct {
	DomainIn
	LocalPart string `json:"local_part" jsonschema:"minLength=1,maxLength=64" jsonschema_description:"What comes before the @."`
}

func (r *Receiving) addressesDelete() core.Operation {
	return core.Declare(core.Op[DeleteAddressIn, core.Deleted]{
		Name:    "inbound_addresses_delete",
		Title:   "Delete an address of a receiving domain",
		Purpose: "Ends a minted address: deliveries no longer have its metadata, and its entry in allow_patterns is removed. It succeeds too if there is no such address. It does not refuse mail: without allow_patterns, mail to the local part is still delivered.",
		Example: `{"domain": "in.example.com", "local_part": "order-1002"}`,
		Effect:  core.Destroys,
		Scopes:  []core.Scope{core.InboundManage},
		Fails:   []core.Code{core.CodeNotFound},
		Do: func(ctx context.Context, c *core.Call, in DeleteAddressIn) (core.Deleted, error) {
			org := c.Principal.Org.ID
			d, err := r.domainOf(ctx, c, in.Domain)
			if err != nil {
				return core.Deleted{}, err
			}
			c.SetSubject(d.ID)
			listed, err := r.Store.DeleteAddress(ctx, org, d.ID, strings.ToLower(in.LocalPart), c.Now)
			if err != nil {
				return core.Deleted{}, err
			}
			r.publishSoon(c)
			return core.Deleted{Deleted: true}, r.Store.UpdateDomain(ctx, org, d.disallow(strings.ToLower(in.LocalPart), listed).changed(c.Now))
		},
	})
}

// disallow returns the domain without the entry that a minted address added to the patterns.
// It keeps the last entry: without any, all mail would be delivered.
func (d Domain) disallow(local string, listed bool) Domain {
	if !listed || d.Webhook == nil || len(d.Webhook.AllowPatterns) < 2 {
		return d
	}
	hook := *d.Webhook
	hook.AllowPatterns = slices.DeleteFunc(slices.Clone(hook.AllowPatterns), func(p string) bool { return p == local })
	d.Webhook = &hook
	return d
}
