package orgmove

import (
	"encoding/json"
	"net/mail"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/mailhelm/mailhelm/core"
)

// maxPeople is the maximum number of members in an archive.
const maxPeople = 10_000

// erasedKeyBytes is the length of the key of hashes of erased addresses.
const erasedKeyBytes = 32

// maxName is the maximum length of names, in bytes.
const maxName = 1000

var (
	// slugForm is the form of slugs.
	slugForm = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$`)
	tiers    = []string{"free", "team", "business", "admin", "sponsored", "demo"}
	roles    = []string{"owner", "member"}
)

// CheckSlug fails with core.CodeValidationFailed unless an organization can have the slug.
func CheckSlug(slug string) error {
	if !slugForm.MatchString(slug) || core.IsID(slug) {
		return core.Invalid("slug", "must have 1 to 63 lower-case letters, digits and dashes, with no dash at the ends")
	}
	return nil
}

// check fails for a header that no export writes.
func (h Header) check() error {
	o := h.Org
	switch {
	case !core.IsID(o.ID):
		return damaged("the organization has no valid id")
	case CheckSlug(o.Slug) != nil || !isName(o.Name) || !slices.Contains(tiers, o.Tier):
		return damaged("the organization has no valid slug, name or plan")
	case o.RetentionDays < 1 || o.RetentionDays > core.StoredDays || o.RateLimit != nil && *o.RateLimit < 1:
		return damaged("the organization has no valid limits")
	case len(h.ErasedKey) != 0 && len(h.ErasedKey) != erasedKeyBytes:
		return damaged("the key of erased addresses has a wrong length")
	case len(h.People) > maxPeople:
		return damaged("it has too many members")
	}
	ids, addresses := map[string]bool{}, map[string]bool{}
	for _, p := range h.People {
		key := core.EmailKey(p.Email)
		parsed, err := mail.ParseAddress(p.Email)
		if !core.IsID(p.ID) || err != nil || parsed.Address != p.Email || !isName(p.Name) || ids[p.ID] || addresses[key] {
			return damaged("a member has no valid id, address or name, or is in it twice")
		}
		ids[p.ID], addresses[key] = true, true
		var permissions []string
		if !slices.Contains(roles, p.Role) || json.Unmarshal([]byte(p.Permissions), &permissions) != nil {
			return damaged("a member has no valid role or permissions")
		}
	}
	return nil
}

// isName reports whether a text can be a name.
func isName(s string) bool {
	return len(s) <= maxName && utf8.ValidString(s) && !strings.ContainsAny(s, "\x00\r\n")
}
