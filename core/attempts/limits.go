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

// The limits on attempts at passwords. Each allows a number of attempts at once, and one
// more after each period in its Refill constant. Each limit refuses a network or a device,
// never an address as a whole: attempts of others must not lock the owner of the address
// out.
const (
	// The limit on attempts from one network, for all addresses together.
	attemptsPerNetwork = 30
	networkRefill      = 10 * time.Second
	// The limit on attempts for one address from one network.
	attemptsPerPair = 10
	pairRefill      = 30 * time.Second
	// Attempts at passwords of one address from all networks. After this number, each
	// network has only attemptsUnderFire attempts for the address.
	attemptsPerAddress = 100
	addressRefill      = time.Minute
	attemptsUnderFire  = 3
	underFireRefill    = 5 * time.Minute
	// The limit on attempts from one known device. Attempts from any other device do not
	// count for this limit.
	attemptsPerDevice = 10
	deviceRefill      = 30 * time.Second
	// The number of wrong passwords for one address after which a job warns the owner of the
	// address.
	wrongUntilWarning = 10
	wrongRefill       = 30 * time.Minute
)

// Config has the dependencies of [Limits]. All fields are required.
type Config struct {
	Devices DeviceStore
	// Queue accepts the job that warns the owner of an address.
	Queue jobs.Queue
	Clock core.Clock
	Log   *slog.Logger
}

// Limits counts the attempts that one process sees, and implements [people.Attempts]. It is
// safe for use by several goroutines.
type Limits struct {
	Config
	byNetwork, byPair, underFire *throttle.Throttle
	byAddress                    *throttle.Throttle
	byDevice                     *throttle.Throttle
	wrong, warned                *throttle.Throttle
	links                        linkLimits
}

var _ people.Attempts = (*Limits)(nil)

// New returns limits that have counted no attempts yet.
func New(cfg Config) *Limits {
	return &Limits{
		Config:    cfg,
		byNetwork: throttle.New(attemptsPerNetwork, networkRefill),
		byPair:    throttle.New(attemptsPerPair, pairRefill),
		byAddress: throttle.New(attemptsPerAddress, addressRefill),
		underFire: throttle.New(attemptsUnderFire, underFireRefill),
		byDevice:  throttle.New(attemptsPerDevice, deviceRefill),
		// one less than wrongUntilWarning: the first attempt over this limit triggers the
		// warning
		wrong:  throttle.New(wrongUntilWarning-1, wrongRefill),
		warned: throttle.New(1, people.WarnEvery),
		links:  newLinkLimits(),
	}
}

// Admit counts an attempt to sign in with a password. A known device has a limit of its
// own. Any other attempt is counted for the network first, so that a network over its limit
// cannot use up the attempts for other people's addresses. It fails with rate_limited over
// the limit.
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

// AdmitFrom counts an attempt of the client's network to sign in with a passkey, which
// names no address. It fails with rate_limited if the network has made too many attempts.
func (l *Limits) AdmitFrom(client string) error {
	return refuseAttempt(l.byNetwork.Take(client, l.Clock()))
}

// ClearFailures clears one network's counts of attempts for one address. It changes no
// other counts.
func (l *Limits) ClearFailures(in people.SignInRequest) {
	l.byPair.Forget(pairOf(in.Email, in.Client))
	l.underFire.Forget(pairOf(in.Email, in.Client))
}

// CountFailure counts a wrong password for an address. The tenth one enqueues a job that
// warns the owner of the address, at most once a day. A failure to enqueue the job is only
// logged.
func (l *Limits) CountFailure(ctx context.Context, in people.SignInRequest) {
	now, address := l.Clock(), core.EmailKey(in.Email)
	if !core.IsEmail(in.Email) || l.wrong.Take(address, now) == 0 || l.warned.Take(address, now) > 0 {
		return
	}
	if err := l.Queue.Enqueue(ctx, people.WarnArgs{Email: address}); err != nil {
		l.Log.WarnContext(ctx, "warning about wrong passwords not enqueued", "cause", err.Error())
	}
}

// knownDevice returns the hash of the known device with this secret. It returns "" for an
// unknown secret or another person's device, and if the store fails.
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

// refuseAttempt returns rate_limited if the caller must wait, nil for a wait of 0.
func refuseAttempt(wait time.Duration) error {
	if wait <= 0 {
		return nil
	}
	return &core.Error{
		Code: core.CodeRateLimited, RetryAfter: ceilSeconds(wait),
		Message: "Too many attempts to sign in.", Next: "Wait " + waitText(wait) + ", then try again.",
	}
}

// ceilSeconds rounds a duration up to whole seconds.
func ceilSeconds(wait time.Duration) time.Duration {
	return (wait + time.Second - 1).Truncate(time.Second)
}

// waitText returns a wait in whole minutes, rounded up: "a minute", "5 minutes".
func waitText(wait time.Duration) string {
	if wait <= time.Minute {
		return "a minute"
	}
	return strings.TrimSuffix((wait+time.Minute-1).Truncate(time.Minute).String(), "m0s") + " minutes"
}
