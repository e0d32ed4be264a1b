package channels

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/jobs"
	"github.com/mailhelm/mailhelm/core/sending"
)

// SyncEvery is the interval at which channels are copied from the sending accounts.
const SyncEvery = 15 * time.Minute

// SyncArgs has the arguments of the job that copies channels from the sending accounts.
type SyncArgs struct {
	// OrgID is the organization to sync, such as one that has just connected its account.
	// Empty means all organizations.
	OrgID string `json:"org_id,omitempty"`
}

// Kind returns the name of the job that copies channels from the sending accounts.
func (SyncArgs) Kind() string { return "channel_sync" }

// Org returns the id of the organization, or "" for all; see [jobs.OrgArgs].
func (a SyncArgs) Org() string { return a.OrgID }

// SyncWorker returns the job that copies the configuration sets and identities of every
// organization's account into the database.
func (c *Channels) SyncWorker() jobs.Worker[SyncArgs] {
	return jobs.Worker[SyncArgs]{
		Work: func(ctx context.Context, args SyncArgs) error {
			return jobs.ForEachOrg(ctx, args.OrgID, c.Orgs, "channel sync", sending.RecordSync(c.Results, c.Clock, sending.ChannelSync, c.Sync))
		},
		Every: SyncEvery, Timeout: SyncEvery,
	}
}

// readings is the maximum number of times that a sync reads the account. It reads again if
// another sync of the organization has stored a result while the account was read.
const readings = 3

// Sync updates one organization's channels, identities and tracking domains in the database
// from its account. Channels that are new at the account become discovered. Channels that
// are no longer there become detached. Sync makes no channel active. Without an account, or
// after a failure, it changes nothing.
// If another sync of the organization ends while the account is read, Sync reads the account
// again: what it has read may be older than what is stored. It fails with core.CodeConflict
// if that happens three times in a row.
func (c *Channels) Sync(ctx context.Context, orgID string) error {
	var err error
	for range readings {
		if err = c.readAndMirror(ctx, orgID); !core.IsConflict(err) {
			return err
		}
	}
	return err
}

// readAndMirror reads the account and stores what it has read. It fails with
// core.CodeConflict, and changes nothing, if another sync of the organization has stored a
// result while the account was read.
func (c *Channels) readAndMirror(ctx context.Context, orgID string) error {
	last, err := c.Store.LastSync(ctx, orgID)
	if err != nil && !core.IsNotFound(err) {
		return err
	}
	seen, err := c.readAccount(ctx, orgID)
	if sending.IsAbsent(err) {
		return nil
	}
	if err != nil {
		return err
	}
	seen.Previous = last.At
	if err := c.Store.Mirror(ctx, orgID, seen); err != nil {
		return err
	}
	c.Log.InfoContext(ctx, "channels synced", "org_id", orgID, "channels", len(seen.Sets), "identities", len(seen.Identities))
	if c.OnSync != nil {
		c.OnSync(orgID)
	}
	return nil
}

// readAccount returns what the account has, without names that cannot be stored.
func (c *Channels) readAccount(ctx context.Context, orgID string) (Seen, error) {
	overview, err := c.Account.Overview(ctx, orgID)
	if err != nil {
		return Seen{}, err
	}
	seen := Seen{Sync: Sync{Account: accountKey(orgID, overview), Region: overview.Region, At: c.Clock()}}
	sets, err := c.Account.ConfigurationSets(ctx, orgID)
	if err != nil && !sending.IsUnsupported(err) {
		return Seen{}, err
	}
	identities, err := c.Account.Identities(ctx, orgID)
	if err != nil && !sending.IsUnsupported(err) {
		return Seen{}, err
	}
	seen.Sets = slices.DeleteFunc(slices.Clone(sets), func(s sending.ConfigurationSet) bool { return !storable(s.Name) })
	for i, s := range seen.Sets {
		if !storable(s.TrackingDomain) {
			seen.Sets[i].TrackingDomain = ""
		}
	}
	seen.Identities = slices.DeleteFunc(slices.Clone(identities), func(i sending.Identity) bool { return !storable(i.Identity) })
	return seen, nil
}

// accountKey returns the provider's account id and region. If the account has no id,
// accountKey returns a key of the organization instead. Organizations with the same key
// share an account.
func accountKey(orgID string, o sending.Overview) string {
	if o.AccountID == "" {
		return "org/" + orgID
	}
	return o.AccountID + "/" + o.Region
}

const longestName = 320

// storable reports whether the name is valid UTF-8 of 1 to 320 bytes without NUL. Every
// name that a real provider allows is storable, but a simulated provider may have other
// names.
func storable(name string) bool {
	return name != "" && len(name) <= longestName && utf8.ValidString(name) && !strings.ContainsRune(name, 0)
}

// Slugs returns a new slug for each name that has no slug yet. The parameter known maps
// names to their existing slugs. A new slug is made from the name, safe in URLs, and
// different from all existing slugs.
func Slugs(known map[string]string, names []string) map[string]string {
	taken := map[string]bool{}
	for _, slug := range known {
		taken[slug] = true
	}
	fresh := map[string]string{}
	for _, name := range slices.Sorted(slices.Values(names)) {
		if known[name] != "" || fresh[name] != "" {
			continue
		}
		base := slugOf(name)
		slug := base
		for n := 2; taken[slug]; n++ {
			slug = fmt.Sprintf("%s-%d", base, n)
		}
		taken[slug], fresh[name] = true, slug
	}
	return fresh
}

const longestSlug = 64

// slugOf returns the name in lower case, with a hyphen for each run of characters other
// than ASCII letters, digits and underscores.
func slugOf(name string) string {
	var slug strings.Builder
	for _, r := range strings.ToLower(name) {
		switch {
		case r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '_':
			slug.WriteRune(r)
		case slug.Len() > 0 && !strings.HasSuffix(slug.String(), "-"):
			slug.WriteByte('-')
		}
		if slug.Len() >= longestSlug {
			break
		}
	}
	if s := strings.Trim(slug.String(), "-"); s != "" {
		return s
	}
	return "channel"
}
