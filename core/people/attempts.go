package people

import (
	"context"
	"log/slog"
	"strings"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/jobs"
	"github.com/mailhelm/mailhelm/core/throttle"
)

// The limits on guessing at passwords. Every one refuses a network or a device, and
// none an address: attempts from elsewhere must not lock its owner out.
const (
	// From one network, whatever addresses it tries.
	attemptsPerNetwork = 30
	networkRefill      = 10 * time.Second
	// For one address from one network.
	attemptsPerPair = 10
	pairRefill      = 30 * time.Second
	// For one address from everywhere. Beyond that it counts as under attack, and each
	// network has the smaller allowance below.
	attemptsPerAddress = 100
	addressRefill      = time.Minute
	attemptsUnderFire  = 3
	underFireRefill    = 5 * time.Minute
	// From a device that the person signed in on before, whatever else is tried.
	attemptsPerDevice = 10
	deviceRefill      = 30 * time.Second
	// Wrong passwords for one address until a job warns its owner.
	wrongUntilWarning = 10
	wrongRefill       = 30 * time.Minute
)

// AttemptsConfig is what the limits are made of. All members are required.
type AttemptsConfig struct {
	Store Store
	// Queue takes the job that warns an owner.
	Queue jobs.Queue
	Clock core.Clock
	Log   *slog.Logger
}

// Attempts is the limits on guessing of one process: [access.Attempts]. It is safe
// for use by several goroutines.
type Attempts struct {
	AttemptsConfig
	byNetwork, byPair, underFire *throttle.Throttle
	byAddress                    *throttle.Throttle
	byDevice                     *throttle.Throttle
	wrong, warned                *throttle.Throttle
	links                        linkLimits
}

var _ access.Attempts = (*Attempts)(nil)

// NewAttempts makes the limits of a process.
func NewAttempts(cfg AttemptsConfig) *Attempts {
	return &Attempts{
		AttemptsConfig: cfg,
		byNetwork:      throttle.New(attemptsPerNetwork, networkRefill),
		byPair:         throttle.New(attemptsPerPair, pairRefill),
		byAddress:      throttle.New(attemptsPerAddress, addressRefill),
		underFire:      throttle.New(attemptsUnderFire, underFireRefill),
		byDevice:       throttle.New(attemptsPerDevice, deviceRefill),
		// The attempt that finds no more room is the one that warns.
		wrong:  throttle.New(wrongUntilWarning-1, wrongRefill),
		warned: throttle.New(1, warnEvery),
		links:  newLinkLimits(),
	}
}

// Admit counts an attempt. A device that the person signed in on before has an
// allowance of its own. Anybody else is counted first for the network, so that a
// network over its limit cannot use up the attempts for other people's addresses.
func (a *Attempts) Admit(ctx context.Context, in access.SignInRequest) error {
	now := a.Clock()
	if device := a.knownDevice(ctx, in.Device, in.Email, now); device != "" {
		return refuseAttempt(a.byDevice.Take(device, now))
	}
	if wait := a.byNetwork.Take(in.Client, now); wait > 0 {
		return refuseAttempt(wait)
	}
	pairs := a.byPair
	if a.byAddress.Take(core.EmailKey(in.Email), now) > 0 {
		pairs = a.underFire
	}
	return refuseAttempt(pairs.Take(pairOf(in.Email, in.Client), now))
}

// AdmitFrom counts an attempt of a network that names no address.
func (a *Attempts) AdmitFrom(client string) error {
	return refuseAttempt(a.byNetwork.Take(client, a.Clock()))
}

// Passed clears the counts of the network for the address. What other networks tried
// stays counted.
func (a *Attempts) Passed(in access.SignInRequest) {
	a.byPair.Forget(pairOf(in.Email, in.Client))
	a.underFire.Forget(pairOf(in.Email, in.Client))
}

// Failed counts a wrong password. The tenth for an address leaves a job that warns
// the owner, if there is one, once a day. A job that cannot be left is logged: the
// answer to a wrong password does not depend on it.
func (a *Attempts) Failed(ctx context.Context, in access.SignInRequest) {
	now, address := a.Clock(), core.EmailKey(in.Email)
	if !core.IsEmail(in.Email) || a.wrong.Take(address, now) == 0 || a.warned.Take(address, now) > 0 {
		return
	}
	if err := a.Queue.Enqueue(ctx, WarnArgs{Email: address}); err != nil {
		a.Log.WarnContext(ctx, "warning about wrong passwords not left", "cause", err.Error())
	}
}

// knownDevice is the key of the device that a secret belongs to, "" when it is none
// of the person with this address. A store that cannot be asked knows no devices.
func (a *Attempts) knownDevice(ctx context.Context, secret, email string, now time.Time) string {
	if !access.IsLink(secret) {
		return ""
	}
	d, owner, err := a.Store.Device(ctx, access.HashSecret(secret), now)
	if err != nil {
		if core.AsError(err).Code != core.CodeNotFound {
			a.Log.WarnContext(ctx, "device not looked up", "cause", err.Error())
		}
		return ""
	}
	if core.EmailKey(owner) != core.EmailKey(email) {
		return ""
	}
	return string(d.Hash)
}

func pairOf(email, client string) string { return core.EmailKey(email) + "\x00" + client }

// refuseAttempt refuses unless there is nothing to wait for.
func refuseAttempt(wait time.Duration) error {
	if wait <= 0 {
		return nil
	}
	return &core.Error{
		Code: core.CodeRateLimited, RetryAfter: wholeSeconds(wait),
		Message: "There were too many attempts to sign in.", Next: "Wait " + inWords(wait) + ", then try again.",
	}
}

// wholeSeconds rounds up.
func wholeSeconds(wait time.Duration) time.Duration {
	return (wait + time.Second - 1).Truncate(time.Second)
}

// inWords rounds up to what a person waits for.
func inWords(wait time.Duration) string {
	if wait <= time.Minute {
		return "a minute"
	}
	return strings.TrimSuffix((wait+time.Minute-1).Truncate(time.Minute).String(), "m0s") + " minutes"
}
