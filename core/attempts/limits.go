package attempts

import (
	"context"
	"log/slog"
	"strings"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/jobs"
	"github.com/mailhelm/mailhelm/core/people"
	"github.com/mailhelm/mailhelm/core/throttle"
)

// The limits on guessing at passwords. Each refuses a network or a device, and none an
// address: attempts from elsewhere must not lock the owner of an address out.
const (
	// From one network, for all addresses together.
	attemptsPerNetwork = 30
	networkRefill      = 10 * time.Second
	// For one address from one network.
	attemptsPerPair = 10
	pairRefill      = 30 * time.Second
	// For one address from everywhere. Beyond that the address counts as under attack,
	// and each network has the smaller allowance below.
	attemptsPerAddress = 100
	addressRefill      = time.Minute
	attemptsUnderFire  = 3
	underFireRefill    = 5 * time.Minute
	// From a known device, independent of all other attempts.
	attemptsPerDevice = 10
	deviceRefill      = 30 * time.Second
	// Wrong passwords for one address until a job warns its owner.
	wrongUntilWarning = 10
	wrongRefill       = 30 * time.Minute
)

// Config is what limits are made of. All fields are required.
type Config struct {
	Devices DeviceStore
	// Queue takes the job that warns an owner.
	Queue jobs.Queue
	Clock core.Clock
	Log   *slog.Logger
}

// Limits are the limits on guessing of one process: [people.Attempts]. It is safe for
// use by several goroutines.
type Limits struct {
	Config
	byNetwork, byPair, underFire *throttle.Throttle
	byAddress                    *throttle.Throttle
	byDevice                     *throttle.Throttle
	wrong, warned                *throttle.Throttle
	links                        linkLimits
}

var _ people.Attempts = (*Limits)(nil)

// New makes the limits of a process.
func New(cfg Config) *Limits {
	return &Limits{
		Config:    cfg,
		byNetwork: throttle.New(attemptsPerNetwork, networkRefill),
		byPair:    throttle.New(attemptsPerPair, pairRefill),
		byAddress: throttle.New(attemptsPerAddress, addressRefill),
		underFire: throttle.New(attemptsUnderFire, underFireRefill),
		byDevice:  throttle.New(attemptsPerDevice, deviceRefill),
		// The attempt that finds no more room is the one that warns.
		wrong:  throttle.New(wrongUntilWarning-1, wrongRefill),
		warned: throttle.New(1, people.WarnEvery),
		links:  newLinkLimits(),
	}
}

// Admit counts an attempt at a password. A known device has an allowance of its own.
// Other attempts are counted for the network first, so that a network over its limit
// cannot use up the attempts for other people's addresses. It fails with rate_limited.
func (l *Limits) Admit(ctx context.Context, in people.SignInRequest) error {
	now := l.Clock()
	if device := l.knownDevice(ctx, in.Device, in.Email, now); device != "" {
		return refuseAttempt(l.byDevice.Take(device, now))
	}
	if wait := l.byNetwork.Take(in.Client, now); wait > 0 {
		return refuseAttempt(wait)
	}
	pairs := l.byPair
	if l.byAddress.Take(core.EmailKey(in.Email), now) > 0 {
		pairs = l.underFire
	}
	return refuseAttempt(pairs.Take(pairOf(in.Email, in.Client), now))
}

// AdmitFrom counts an attempt of a network that names no address. It fails with
// rate_limited.
func (l *Limits) AdmitFrom(client string) error {
	return refuseAttempt(l.byNetwork.Take(client, l.Clock()))
}

// ClearFailures clears the counts of the network for the address. The counts of other networks
// stay.
func (l *Limits) ClearFailures(in people.SignInRequest) {
	l.byPair.Forget(pairOf(in.Email, in.Client))
	l.underFire.Forget(pairOf(in.Email, in.Client))
}

// CountFailure counts a wrong password. The tenth for an address enqueues a job that warns
// the owner, once a day. A failure to enqueue is logged only: the answer to a wrong
// password does not depend on it.
func (l *Limits) CountFailure(ctx context.Context, in people.SignInRequest) {
	now, address := l.Clock(), core.EmailKey(in.Email)
	if !core.IsEmail(in.Email) || l.wrong.Take(address, now) == 0 || l.warned.Take(address, now) > 0 {
		return
	}
	if err := l.Queue.Enqueue(ctx, people.WarnArgs{Email: address}); err != nil {
		l.Log.WarnContext(ctx, "warning about wrong passwords not enqueued", "cause", err.Error())
	}
}

// knownDevice returns the key of the device that a secret belongs to. It returns "" for
// a secret that is not a device of the person with this address, and when the store
// fails.
func (l *Limits) knownDevice(ctx context.Context, secret, email string, now time.Time) string {
	if !access.IsLink(secret) {
		return ""
	}
	d, owner, err := l.Devices.Device(ctx, access.HashSecret(secret), now)
	if err != nil {
		if !core.IsNotFound(err) {
			l.Log.WarnContext(ctx, "device not looked up", "cause", err.Error())
		}
		return ""
	}
	if core.EmailKey(owner) != core.EmailKey(email) {
		return ""
	}
	return string(d.Hash)
}

func pairOf(email, client string) string { return core.EmailKey(email) + "\x00" + client }

// refuseAttempt returns rate_limited for a wait above zero.
func refuseAttempt(wait time.Duration) error {
	if wait <= 0 {
		return nil
	}
	return &core.Error{
		Code: core.CodeRateLimited, RetryAfter: ceilSeconds(wait),
		Message: "There were too many attempts to sign in.", Next: "Wait " + waitText(wait) + ", then try again.",
	}
}

// ceilSeconds rounds a wait up to whole seconds.
func ceilSeconds(wait time.Duration) time.Duration {
	return (wait + time.Second - 1).Truncate(time.Second)
}

// waitText rounds a wait up to whole minutes: "a minute", "5 minutes".
func waitText(wait time.Duration) string {
	if wait <= time.Minute {
		return "a minute"
	}
	return strings.TrimSuffix((wait+time.Minute-1).Truncate(time.Minute).String(), "m0s") + " minutes"
}
