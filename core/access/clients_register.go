package access

import (
	"cmp"
	"context"
	"net/url"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/throttle"
)

// openRefreshDays is the number of days in which the grants of a client that belongs to no
// organization can be refreshed. It is the shortest time that clients may have (see
// refreshDays), because no organization is responsible for such a client.
const openRefreshDays = 30

const (
	// unusedLifetime is how long a self-registered client without a grant is stored.
	unusedLifetime = 24 * time.Hour
	// maxUnused is the maximum number of self-registered clients without a grant.
	maxUnused = 1000
	// registrations is how many clients one network can register at once. After that, it may
	// register one more after each registrationEvery: 20 an hour.
	registrations     = 20
	registrationEvery = 3 * time.Minute
)

// SelfDescribed is the description that a client registers of itself (RFC 7591). None of it
// is verified.
type SelfDescribed struct {
	Name         string // displayed name; if it is "", the host of the first redirect URI is used
	Public       bool   // whether the client has no secret
	RedirectURIs []string
	Scopes       core.Scopes
}

// Registrations registers clients that describe themselves. It limits the registrations
// from each network, of which it counts only those in this process. It also limits the
// number of stored clients without a grant. It is safe for use by several goroutines.
type Registrations struct {
	clients  ClientStore
	open     OpenClientStore
	clock    core.Clock
	networks *throttle.Throttle
}

// NewRegistrations returns a Registrations that has counted no registration yet.
func NewRegistrations(clients ClientStore, open OpenClientStore, clock core.Clock) *Registrations {
	return &Registrations{clients: clients, open: open, clock: clock, networks: throttle.New(registrations, registrationEvery)}
}

// Register stores a client that belongs to no organization. It returns the client with its
// secret, "" for a public one. network identifies the network from which the request came;
// see [throttle.NetworkOf]. Register fails with core.CodeValidationFailed for a refused
// redirect_uris or name, and with core.CodeRateLimited after too many registrations.
func (r *Registrations) Register(ctx context.Context, network string, s SelfDescribed) (Client, string, error) {
	now := r.clock()
	client := Client{
		ID: core.NewID(), ClientID: MintClientID(core.Live), Name: describedName(s), Environment: core.Live, Kind: DynamicClient,
		RedirectURIs: s.RedirectURIs, RefreshDays: openRefreshDays, Scopes: s.Scopes, CreatedAt: now,
	}
	if len(s.RedirectURIs) == 0 {
		return Client{}, "", core.Invalid("redirect_uris", "must have at least one item")
	}
	minted := Minted{}
	if !s.Public {
		minted = MintClientSecret()
		client.SecretHash = minted.Hash
	}
	if err := client.check(); err != nil {
		return Client{}, "", err
	}
	if wait := r.networks.Take(network, now); wait > 0 {
		return Client{}, "", tooManyRegistrations(wait)
	}
	unused, err := r.open.UnusedDynamicClients(ctx)
	if err != nil {
		return Client{}, "", err
	}
	if unused >= maxUnused {
		return Client{}, "", tooManyRegistrations(time.Hour)
	}
	if err := r.clients.InsertClient(ctx, client); err != nil {
		return Client{}, "", err
	}
	return client, minted.Secret, nil
}

// describedName returns the name that the client gives itself, in a form that pages may
// show. If this name is empty, describedName returns the host of the first redirect URI, or
// "unnamed" if that has no host. Without a redirect URI it returns "".
func describedName(s SelfDescribed) string {
	if name := core.Quotable(s.Name, maxName); name != "" || len(s.RedirectURIs) == 0 {
		return name
	}
	host := ""
	if u, err := url.Parse(s.RedirectURIs[0]); err == nil {
		host = u.Hostname()
	}
	return cmp.Or(core.Quotable(host, maxName), "unnamed") // a redirect URI without a host is refused later
}

func tooManyRegistrations(wait time.Duration) *core.Error {
	return &core.Error{
		Code: core.CodeRateLimited, Message: "Too many clients have registered themselves.", Next: "Try again later.", RetryAfter: wait,
	}
}
